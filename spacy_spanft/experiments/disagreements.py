"""Texts on which the first and the last arm disagree."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..explanation.display import Pieces, pieces_of
from .comparison import Arm, Comparison
from .row_scores import OF_NUMBERS

_N_CHARACTERS, _N_SHOWN = 600, 6


class Answer(NamedTuple):
    """The answer of most runs, or the mean of their scores, and how right it is.

    is_right (Optional[bool]): None if half of the runs are right, and for scores.
    """

    arm: str
    words: str
    is_right: bool | None
    remark: str


class Example(NamedTuple):
    """A text with its spans marked, where it stands, and the answers to it."""

    place: str
    pieces: Pieces
    gold: str
    answers: list[Answer]


class Side(NamedTuple):
    """The texts on which one arm is better than another, and some of them."""

    better: str
    worse: str
    n_texts: int
    examples: list[Example]


def disagreements(comparison: Comparison) -> list[Side]:
    """Return where the last arm is better than the first, then the other way round.

    Better means right in most runs where the other is wrong in most; for scores, nearer
    to the right one. The texts on which the arms are furthest apart come first.
    """
    first, last = comparison.arms[0], comparison.arms[-1]
    sides = []
    for better, worse in [(last, first), (first, last)] if first is not last else []:
        good, bad = _errors(better), _errors(worse)
        is_score = comparison.metric in OF_NUMBERS
        is_better = good < bad if is_score else (good < 0.5) & (bad > 0.5)
        order = np.argsort(good - bad, kind="stable")
        texts = [int(i) for i in order if is_better[i]]
        examples = [_example(comparison, index) for index in texts[:_N_SHOWN]]
        sides.append(Side(better.name, worse.name, len(texts), examples))
    return sides


def _errors(arm: Arm) -> NDArray[np.float64]:
    """Return the share of runs that are wrong on each text, or the mean distance."""
    if arm.runs[0].metric in OF_NUMBERS:
        gaps = [np.abs(run.rows[:, 0] - run.rows[:, 1]) for run in arm.runs]
        return np.mean(gaps, axis=0)
    pairs = [zip(run.answers, run.gold, strict=True) for run in arm.runs]
    wrong = [[answer != gold for answer, gold in of_run] for of_run in pairs]
    return np.mean(wrong, axis=0, dtype=np.float64)


def _example(comparison: Comparison, index: int) -> Example:
    run = comparison.arms[-1].runs[0]
    pieces = _pieces(run.texts[index], run.spans[index])
    answers = [_answer(arm, index) for arm in comparison.arms]
    return Example(run.places[index], pieces, run.gold[index], answers)


def _answer(arm: Arm, index: int) -> Answer:
    error, n_runs = float(_errors(arm)[index]), len(arm.runs)
    if arm.runs[0].metric in OF_NUMBERS:
        score = np.mean([run.rows[index, 1] for run in arm.runs])
        return Answer(arm.name, f"{score:.2f}", None, f"off by {error:.2f}")
    words = Counter(run.answers[index] for run in arm.runs).most_common(1)[0][0]
    remark = f"right in {n_runs - round(error * n_runs)} of {n_runs} runs"
    return Answer(arm.name, words, None if error == 0.5 else error < 0.5, remark)


def _pieces(text: str, spans: Sequence[tuple[int, int]]) -> Pieces:
    """Mark the spans of a text; a long one ends early."""
    if len(text) > _N_CHARACTERS:
        text = f"{text[:_N_CHARACTERS]}…"
    ends = [span for span in spans if span[1] <= len(text)]
    kinds = ("odd", "even")
    marks = [
        {"start": a, "end": b, "kind": kinds[i % 2]} for i, (a, b) in enumerate(ends)
    ]
    return pieces_of(text, marks)
