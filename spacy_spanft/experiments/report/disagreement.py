"""Texts that the first and the last arm answer differently, chosen by a fixed rule."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..comparison.comparing import Arm, Comparison
from ..comparison.measure import Measured
from ..metrics.scoring import SCORES

_N_CHARACTERS = 600
Errors = NDArray[np.float64]  # how wrong the answer to each text is


class Answer(NamedTuple):
    """What an arm answered.

    words (str): The answer: what most of its runs gave, or the mean of scores.
    is_right (Optional[bool]): Whether most runs are right; None where half of them
        are, and for scores, which are nearer or less near.
    remark (str): How right it is, in words.
    """

    arm: str
    words: str
    is_right: bool | None
    remark: str


class Piece(NamedTuple):
    """A part of a text.

    text (str): The part.
    span (Optional[int]): The number of the span that it is; None between spans.
    """

    text: str
    span: int | None


class Shown(NamedTuple):
    """A text that is shown.

    number (int): Its place in the test data, beginning with 1.
    pieces (list[Piece]): The text, cut as the last arm cuts it.
    n_left_out (int): How many characters are left out at its end.
    gold (str): The right answer.
    answers (list[Answer]): What the arms answered.
    """

    number: int
    pieces: list[Piece]
    n_left_out: int
    gold: str
    answers: list[Answer]


class Side(NamedTuple):
    """The texts on which one of both arms is the better one.

    better (str): That arm.
    worse (str): The other one.
    n (int): How many such texts there are in all.
    shown (list[Shown]): Some of them: where the arms are furthest apart, the first of
        the test data first.
    """

    better: str
    worse: str
    n: int
    shown: list[Shown]


def disagreements(comparison: Comparison, n_shown: int = 12) -> list[Side]:
    """Find texts on which the last arm is better than the first, and the other way.

    Better means right in most runs where the other is wrong in most; for scores, nearer
    to the right one.

    n_shown (int): How many texts to show, half of each side if there are as many.
    RETURNS (list[Side]): Where the last arm is better, then where the first is; nothing
        if there is one arm only.
    """
    first, last = comparison.arms[0], comparison.arms[-1]
    if first is last:
        return []
    errors = {arm.name: _errors(arm) for arm in comparison.arms}
    before, after = errors[first.name], errors[last.name]
    is_score = comparison.metric in SCORES
    sides = []
    for bad, good in ((before, after), (after, before)):
        is_better = good < bad if is_score else (good < 0.5) & (bad > 0.5)
        # A stable sort keeps the order of the data where the arms are as far apart.
        order = np.argsort(good - bad, kind="stable")
        sides.append([int(i) for i in order if is_better[i]])
    half = n_shown // 2
    n_first = min(len(sides[0]), max(half, n_shown - len(sides[1])))
    counts = (n_first, min(len(sides[1]), n_shown - n_first))
    names = ((last.name, first.name), (first.name, last.name))
    return [
        Side(*both, len(texts), [_shown(comparison, errors, i) for i in texts[:n]])
        for both, texts, n in zip(names, sides, counts, strict=True)
    ]


def _errors(arm: Arm) -> Errors:
    """Say how wrong an arm is on each text: the share of runs, or the mean distance."""
    return np.mean([_error(run) for run in arm.runs], axis=0)


def _error(run: Measured) -> Errors:
    if run.metric in SCORES:
        return np.abs(run.rows[:, 0] - run.rows[:, 1])
    return np.asarray(run.wrong, np.float64)


def _shown(comparison: Comparison, errors: Mapping[str, Errors], index: int) -> Shown:
    run = comparison.arms[-1].runs[0]
    pieces = _pieces(run.texts[index], run.spans[index])
    return Shown(
        index + 1,
        pieces,
        len(run.texts[index]) - sum(len(piece.text) for piece in pieces),
        run.gold[index],
        [
            _answer(arm, float(errors[arm.name][index]), index)
            for arm in comparison.arms
        ],
    )


def _answer(arm: Arm, error: float, index: int) -> Answer:
    if arm.runs[0].metric in SCORES:
        guess = np.mean([run.rows[index, 1] for run in arm.runs])
        return Answer(arm.name, f"{guess:.2f}", None, f"off by {error:.2f}")
    words = Counter(run.answers[index] for run in arm.runs).most_common(1)[0][0]
    is_right = None if error == 0.5 else error < 0.5
    n_runs = len(arm.runs)
    n_right = n_runs - round(error * n_runs)
    remark = f"right in {n_right} of {n_runs} runs"
    if n_runs == 1:
        remark = "right" if is_right else "wrong"
    return Answer(arm.name, words, is_right, remark)


def _pieces(text: str, spans: list[tuple[int, int]]) -> list[Piece]:
    """Cut a text at its spans; a long one ends early."""
    end = len(text)
    if end > 1.1 * _N_CHARACTERS:
        space = text.rfind(" ", _N_CHARACTERS - 60, _N_CHARACTERS)
        end = _N_CHARACTERS if space < 0 else space
    pieces = []
    after = 0
    for number, (start, stop) in enumerate(spans):
        if not after <= start < stop <= end:
            continue
        pieces.append(Piece(text[after:start], None))
        pieces.append(Piece(text[start:stop], number))
        after = stop
    pieces.append(Piece(text[after:end], None))
    return [piece for piece in pieces if piece.text]
