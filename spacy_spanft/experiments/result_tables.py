"""The tables of a comparison, the sentences around them, and both as Markdown."""

import re
from collections.abc import Iterable, Sequence
from statistics import mean, stdev
from typing import NamedTuple

import numpy as np
from spacy.scorer import PRFScore

from ..errors import counted, visible
from .comparison import ENSEMBLE, Arm, Comparison, of_known
from .measuring import Measured
from .metrics import NOTHING
from .significance import Difference, holm_adjusted

Row = dict[str, str]  # the cells by column, "" for unknown values
SCORES = ("Runs", "Score", "Difference", "p", "These checkpoints")
COSTS = ("Weights", "Words/s", "Memory", "Training time")
MEANINGS = {
    "Difference": "from the first arm; of several runs, with a 95% interval over seeds "
    "and texts, not corrected; runs with the same seed are paired.",
    "p": "corrected for the number of comparisons (Holm); significant below 0.05.",
    "These checkpoints": "the interval for these very models (bootstrap over texts).",
}
_ALPHA = 0.05
_LARGEST_MATRIX = 20
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# Signs that mean something within a line, and underscores that are not inside a word.
_SIGNS = re.compile(r"[\\`*|~#\[\]$&<>]|(?<![^\W_])_|_(?![^\W_])")


def remarks(comparison: Comparison) -> list[str]:
    """Return what a single run cannot tell, which runs are missing, and the notes."""
    arms = comparison.arms
    texts = []
    others = [arm for arm in arms[1:] if not arm.name.endswith(ENSEMBLE)]
    if any(arm.method is None for arm in others):
        single = "One run per arm cannot tell whether the method is better."
        texts.append(f"{single} Train at least three seeds.")
    texts += [f"Missing {run}: {why}." for run, why in comparison.missing.items()]
    for note in dict.fromkeys(comparison.notes.values()):
        names = [arm.name for arm in arms if comparison.notes.get(arm.name) == note]
        texts += [f"Note on {', '.join(names)}: {note}"] if note and names else []
    return texts


def rows_of(comparison: Comparison) -> list[Row]:
    """Return a row of scores and costs for each arm."""
    raw = {arm.name: arm.method.p for arm in comparison.arms if arm.method}
    ps = dict(zip(raw, holm_adjusted(list(raw.values())), strict=True))
    rows = [_row(comparison, arm, ps.get(arm.name)) for arm in comparison.arms]
    if all(row["Runs"] == "1" for row in rows):
        rows = [row | {"Runs": ""} for row in rows]
    return rows


def _row(comparison: Comparison, arm: Arm, p: float | None) -> Row:
    costs, models = arm.to_json(), arm.models
    difference = points(models.mean) if models else ""
    if p is not None:
        doubt = " · not significant" if p >= _ALPHA else ""
        difference += f"{doubt} ({interval(arm.method)})"
    seconds = comparison.seconds.get(arm.name, ())
    minutes = of_known(mean, (x / 60 for x in seconds))
    return {
        "Arm": arm.name,
        "Runs": str(len(arm.runs)),
        "Score": percent(arm.scores),
        "Difference": difference,
        "p": "" if p is None else probability(p),
        "These checkpoints": interval(models),
        "Weights": amount(costs["n_parameters"], 2, 1e-6, "M"),
        "Words/s": amount(costs["words_per_second"]),
        "Memory": amount(costs["peak_memory"], unit=" MB"),
        "Training time": amount(minutes, 1, unit=" min"),
    }


def known_columns(rows: Sequence[Row], columns: Iterable[str]) -> list[str]:
    """Return the columns in which a row has a value."""
    return [name for name in columns if any(row[name] for row in rows)]


def metric_name(comparison: Comparison) -> str:
    """Return the metric, and what it means if that differs between pipelines."""
    meaning = comparison.meaning
    return f"{comparison.metric} ({meaning})" if meaning else comparison.metric


def percent(scores: Sequence[float]) -> str:
    """Return the mean and, of several scores, the deviation, such as "84.2 ± 0.3"."""
    text = f"{100 * mean(scores):.1f}"
    return f"{text} ± {100 * stdev(scores):.1f}" if len(scores) > 1 else text


def points(value: float) -> str:
    """Return a difference in points of a hundred with its sign, zero without one."""
    text = f"{100 * value:+.1f}"
    return text.lstrip("+-") if float(text) == 0 else text.replace("-", "−")


def interval(difference: Difference | None) -> str:
    """Return an interval, such as "+0.2 to +2.4"; "" if there is none."""
    if difference is None:
        return ""
    return f"{points(difference.low)} to {points(difference.high)}"


def probability(p: float) -> str:
    """Return a p-value, such as "0.021" or "< 0.001"."""
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


def amount(
    value: float | None, digits: int = 0, factor: float = 1, unit: str = ""
) -> str:
    """Return a number such as "12,345", or "" if it is unknown."""
    return "" if value is None else f"{factor * value:,.{digits}f}{unit}"


def escape_markdown(text: str) -> str:
    """Escape a text so that Markdown shows it as it is, inside a line or a cell."""
    return _SIGNS.sub(lambda x: _ENTITIES.get(x[0], f"\\{x[0]}"), visible(text))


def to_markdown(comparison: Comparison) -> str:
    """Return a comparison as a table, with remarks below."""
    rows = rows_of(comparison)
    columns = known_columns(rows, [*SCORES, *COSTS])
    table = [["Arm", *columns], ["---"] * (1 + len(columns))]
    for row in rows:
        table.append([escape_markdown(row["Arm"]), *(row[name] for name in columns)])
    below = (
        f"{metric_name(comparison)} on {counted(comparison.n_docs, 'text')} of "
        f"{comparison.data}, in percent: mean and standard deviation over the runs."
    )
    meanings = (f"{x}: {words}" for x, words in MEANINGS.items() if x in columns)
    lines = [
        *("| " + " | ".join(cells) + " |" for cells in table),
        "",
        *map(escape_markdown, (below, *meanings)),
        *(f"\n{escape_markdown(text)}" for text in remarks(comparison)),
        "",
    ]
    return "\n".join(lines)


def label_rows(comparison: Comparison) -> list[list[str]]:
    """Return each label of texts, their number, and its F-score by each arm."""
    first = comparison.arms[0].runs[0]
    rows = []
    labels = (x for arm in comparison.arms for run in arm.runs for x in run.labels)
    for label in dict.fromkeys(labels):
        scores = [[_f_score(run, label) for run in arm.runs] for arm in comparison.arms]
        n_texts = len(_texts_with(label, first, first.gold))
        rows.append([label, f"{n_texts:,}", *map(percent, scores)])
    return rows


def _f_score(run: Measured, label: str) -> float:
    score = PRFScore()
    score.score_set(*(_texts_with(label, run, x) for x in (run.answers, run.gold)))
    return float(score.fscore)


def _texts_with(label: str, run: Measured, answers: Sequence[str]) -> set[int]:
    """Return the texts with a label; a classifier may give a text several."""
    # A label may have a comma itself.
    return {
        i
        for i, x in enumerate(answers)
        if x == label or (x not in run.labels and f", {label}, " in f", {x}, ")
    }


class Confusions(NamedTuple):
    """A matrix of right labels (rows) and predicted ones: the mean of an arm's runs."""

    arm: str
    labels: list[str]
    counts: list[list[str]]  # of texts
    shares: list[list[float]]  # among the texts that have the right label


def confusions(comparison: Comparison) -> list[Confusions]:
    """Return a matrix for each arm; none for too many labels, or several of a text."""
    runs = [run for arm in comparison.arms for run in arm.runs]
    names = list(dict.fromkeys(label for run in runs for label in run.labels))
    answers = {x for run in runs for x in (*run.answers, *run.gold)}
    is_small = 0 < len(names) <= _LARGEST_MATRIX
    if not is_small or not answers <= {*names, NOTHING}:
        return []
    predicted = {answer for run in runs for answer in run.answers}
    names += [NOTHING] * (NOTHING in predicted)
    return [_confusions(arm, names) for arm in comparison.arms]


def _confusions(arm: Arm, names: list[str]) -> Confusions:
    number = {name: i for i, name in enumerate(names)}
    counts = np.zeros((len(names), len(names)))
    for run in arm.runs:
        for gold, answer in zip(run.gold, run.answers, strict=True):
            if gold != NOTHING:
                counts[number[gold], number[answer]] += 1 / len(arm.runs)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    words = [[f"{x:.1f}".removesuffix(".0") for x in row] for row in counts.tolist()]
    return Confusions(arm.name, names, words, shares.tolist())
