"""Texts on which the first and the last arm disagree, and why the last one does."""

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures.process import BrokenProcessPool
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from spacy import displacy

from ...errors import SpanftError
from ...util.pipelines import load
from ..comparison.comparing import Arm, Comparison
from ..comparison.measure import run_in_subprocess
from ..comparison.written import is_written
from ..hook import explained
from ..metrics.scoring import SCORES
from .figures import clean

if TYPE_CHECKING:
    from ..hook import Explanation

_N_CHARACTERS, _N_SHOWN, _N_PHRASES = 600, 6, 5
_MARK = '<mark class="{label}">{text}</mark>'


class Why(NamedTuple):
    """What made a label: its logit, or the difference from that of another label.

    phrases (list[tuple[str, float]]): The phrases that matter most; `rest` is all else.
    """

    label: str
    against: str | None
    total: float
    phrases: list[tuple[str, float]]
    rest: float


# Explains the predictions of a component, from texts and their right labels.
Explain = Callable[[str, Sequence[tuple[str, str]]], list[Why]]


class Answer(NamedTuple):
    """The answer of most runs, or the mean of their scores, and how right it is.

    is_right (Optional[bool]): None if half of the runs are right, and for scores.
    """

    arm: str
    words: str
    is_right: bool | None
    remark: str


class Example(NamedTuple):
    """A text with its spans marked, its number from 1 on, and the answers to it."""

    number: int
    marked: Markup
    gold: str
    answers: list[Answer]
    why: Why | None


class Side(NamedTuple):
    """The texts on which one arm is better than another, and some of them."""

    better: str
    worse: str
    n_texts: int
    examples: list[Example]


def disagreements(comparison: Comparison, explain: Explain | None = None) -> list[Side]:
    """Return where the last arm is better than the first, then the other way round.

    Better means right in most runs where the other is wrong in most; for scores, nearer
    to the right one. The texts on which the arms are furthest apart come first.
    """
    first, last = comparison.arms[0], comparison.arms[-1]
    if first is last:
        return []
    pairs = [(last, first), (first, last)]
    sides = [_texts_better(*pair) for pair in pairs]
    run, shown = last.runs[0], [texts[:_N_SHOWN] for texts in sides]
    golds = [(run.texts[i], run.gold[i]) for i in chain(*shown)]
    whys = iter(explain(run.component, golds) if explain and golds else ())
    return [
        Side(
            better.name,
            worse.name,
            len(texts),
            [_example(comparison, i, next(whys, None)) for i in texts[:_N_SHOWN]],
        )
        for (better, worse), texts in zip(pairs, sides, strict=True)
    ]


def _texts_better(better: Arm, worse: Arm) -> list[int]:
    """Return the texts on which an arm is better, the furthest apart first."""
    good, bad = _errors(better), _errors(worse)
    is_score = better.runs[0].metric in SCORES
    is_better = good < bad if is_score else (good < 0.5) & (bad > 0.5)
    order = np.argsort(good - bad, kind="stable")
    return [int(i) for i in order if is_better[i]]


def _errors(arm: Arm) -> NDArray[np.float64]:
    """Return the share of runs that are wrong on each text, or the mean distance."""
    if arm.runs[0].metric in SCORES:
        gaps = [np.abs(run.rows[:, 0] - run.rows[:, 1]) for run in arm.runs]
        return np.mean(gaps, axis=0)
    return np.mean([np.asarray(run.wrong, np.float64) for run in arm.runs], axis=0)


def _example(comparison: Comparison, index: int, why: Why | None) -> Example:
    run = comparison.arms[-1].runs[0]
    marked = _marked(run.texts[index], run.spans[index])
    answers = [_answer(arm, index) for arm in comparison.arms]
    return Example(index + 1, marked, run.gold[index], answers, why)


def _answer(arm: Arm, index: int) -> Answer:
    error, n_runs = float(_errors(arm)[index]), len(arm.runs)
    if arm.runs[0].metric in SCORES:
        score = np.mean([run.rows[index, 1] for run in arm.runs])
        return Answer(arm.name, f"{score:.2f}", None, f"off by {error:.2f}")
    words = Counter(run.answers[index] for run in arm.runs).most_common(1)[0][0]
    remark = f"right in {n_runs - round(error * n_runs)} of {n_runs} runs"
    return Answer(arm.name, words, None if error == 0.5 else error < 0.5, remark)


def _marked(text: str, spans: Sequence[tuple[int, int]]) -> Markup:
    """Mark the spans of a text; a long one ends early."""
    if len(text) > _N_CHARACTERS:
        text = f"{text[:_N_CHARACTERS]}…"
    ents: list[dict[str, Any]] = []
    for start, end in spans:
        if (ents[-1]["end"] if ents else 0) <= start < end <= len(text):
            label = "even" if len(ents) % 2 else "odd"
            ents.append({"start": start, "end": end, "label": label})
    # displaCy escapes the text.
    doc = {"text": clean(text), "ents": ents, "settings": {"direction": "inherit"}}
    options = {"template": _MARK}
    html: Any = displacy.render(
        doc, style="ent", manual=True, jupyter=False, options=options
    )
    return Markup(html)


def reasons_in_subprocess(
    path: str, component: str, texts: Sequence[tuple[str, str]]
) -> list[Why]:
    """Explain the labels of texts in a process of its own.

    path (str): A pipeline, by name or path, or a file of predictions.
    component (str): The component that classifies them.
    texts (Sequence[tuple[str, str]]): Texts with their right labels.
    RETURNS (list[Why]): Why each has its label; empty if that cannot be explained.
    """
    if is_written(path):
        return []
    try:
        return run_in_subprocess(reasons, path, component, texts)
    except (BrokenProcessPool, SpanftError) as error:
        # Everything has been measured: a page without reasons is better than none.
        warnings.warn(
            f"The report does not show which phrases decided: {path!r} cannot be "
            f"explained. {error}",
            stacklevel=2,
        )
        return []


def reasons(path: str, component: str, texts: Sequence[tuple[str, str]]) -> list[Why]:
    """Explain texts in this process: see `reasons_in_subprocess`."""
    explanations = explained(load(path, -1), component, (text for text, _ in texts))
    golds = (gold for _, gold in texts)
    # A component without spans explains nothing.
    return [_why(*both) for both in zip(explanations, golds, strict=False)]


def _why(explanation: "Explanation", gold: str) -> Why:
    """Explain why a label was given, and not the right one or else the second one."""
    label, against = explanation.label, explanation.rival()
    if not explanation.is_exclusive:
        label = _mistaken(explanation, gold)
    elif gold in explanation.labels and gold != label:
        against = gold
    parts = explanation.of(label, against)
    largest = sorted(parts.strongest(), key=lambda pair: -abs(pair[1]))[:_N_PHRASES]
    phrases = [(part.text, added) for part, added in largest]
    rest = parts.total - sum(added for _, added in phrases)
    return Why(parts.label, against, parts.total, phrases, rest)


def _mistaken(explanation: "Explanation", gold: str) -> str:
    """Return the label that is most wrongly given or withheld, or else the best one."""
    golds, logits = gold.split(", "), explanation.logits
    wrong = [name for name in logits if (logits[name] > 0) != (name in golds)]
    return max(wrong, key=lambda name: abs(logits[name]), default=explanation.label)
