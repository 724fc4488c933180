"""Texts on which the first and the last arm disagree."""

from collections import Counter
from collections.abc import Sequence
from itertools import cycle
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..explanation.display import Pieces, pieces_of
from .comparison import Arm, Comparison
from .metrics import OF_NUMBERS

_N_CHARACTERS, _N_SHOWN = 600, 6


class Answer(NamedTuple):
    """The answer of most runs, or the mean of their scores, and how right it is."""

    arm: str
    words: str
    is_right: bool | None  # None if half of the runs are right, and for scores
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
    arms = comparison.arms
    errors = np.stack([_errors(arm) for arm in arms])
    sides, is_score = [], comparison.metric in OF_NUMBERS
    for better, worse in [(-1, 0), (0, -1)] if len(arms) > 1 else []:
        good, bad = errors[better], errors[worse]
        is_better = good < bad if is_score else (good < 0.5) & (bad > 0.5)
        order = np.argsort(good - bad, kind="stable")
        texts = order[is_better[order]].tolist()
        shown = [_example(arms, errors[:, i], i) for i in texts[:_N_SHOWN]]
        sides.append(Side(arms[better].name, arms[worse].name, len(texts), shown))
    return sides


def _errors(arm: Arm) -> NDArray[np.float64]:
    """Return the share of runs that are wrong on each text, or the mean distance."""
    if arm.runs[0].metric in OF_NUMBERS:
        gaps = [np.abs(run.rows[:, 0] - run.rows[:, 1]) for run in arm.runs]
        return np.mean(gaps, axis=0)
    wrong = [np.array(run.answers) != np.array(run.gold) for run in arm.runs]
    return np.mean(wrong, axis=0, dtype=np.float64)


def _example(arms: Sequence[Arm], errors: NDArray[np.float64], i: int) -> Example:
    run, pairs = arms[-1].runs[0], zip(arms, errors.tolist(), strict=True)
    answers = [_answer(arm, error, i) for arm, error in pairs]
    text = run.texts[i]
    if len(text) > _N_CHARACTERS:  # its spans end with it
        text = f"{text[:_N_CHARACTERS]}…"
    spans = [span for span in run.spans[i] if span[1] <= len(text)]
    kinds = cycle(("odd", "even"))
    marks = [{"start": a, "end": b, "kind": next(kinds)} for a, b in spans]
    return Example(run.places[i], pieces_of(text, marks), run.gold[i], answers)


def _answer(arm: Arm, error: float, index: int) -> Answer:
    n_runs = len(arm.runs)
    if arm.runs[0].metric in OF_NUMBERS:
        score = np.mean([run.rows[index, 1] for run in arm.runs])
        return Answer(arm.name, f"{score:.2f}", None, f"off by {error:.2f}")
    words = Counter(run.answers[index] for run in arm.runs).most_common(1)[0][0]
    remark = f"right in {n_runs - round(error * n_runs)} of {n_runs} runs"
    return Answer(arm.name, words, None if error == 0.5 else error < 0.5, remark)
