"""The tables of a comparison and the sentences around them, and both as Markdown."""

import re
from collections.abc import Mapping, Sequence
from statistics import mean, median, stdev

from ...errors import visible
from ..comparison.comparing import Arm, Comparison
from ..comparison.runs import Training
from ..statistics.methods import MethodDifference
from ..statistics.significance import Difference, holm_adjusted

Row = dict[str, str]  # the cells by column, "" for unknown values
LEVEL = 0.05
_COLUMNS = (
    *("Arm", "Runs", "Score", "Difference", "p", "These models", "Weights", "Words/s"),
    *("Memory", "Spans/text"),
)
_ONE_RUN = (
    "One run per arm cannot tell whether the method is better. Train at least three "
    "seeds."
)
MEANINGS = (
    "Differences are from the first arm, with 95% intervals.",
    "Is the method better? The difference and p take other seeds and other texts into "
    "account. Runs with the same seed are paired; p is corrected for the number of "
    "comparisons (Holm).",
    "Do these models differ? “These models” is the interval for these very models on "
    "other texts (paired bootstrap).",
    "An ensemble is all runs of an arm as one pipeline: scores of labels are averaged, "
    "spans are put to the vote. It is compared with the ensemble of the first arm, or "
    "with its only run.",
)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# Signs that mean something within a line, and underscores that are not inside a word.
_SIGNS = re.compile(r"[\\`*|~#\[\]$&<>]|(?<![^\W_])_|_(?![^\W_])")


def corrected(comparison: Comparison) -> dict[str, float]:
    """Return the methods' p-values, corrected for the number of compared arms."""
    ps = {arm.name: arm.method.p for arm in comparison.arms if arm.method}
    return dict(zip(ps, holm_adjusted(list(ps.values())), strict=True))


def headline(comparison: Comparison) -> str:
    """Return which runs are missing, and how the best arm differs from the first."""
    base, *others = comparison.arms
    sentences = comparison.missing.told()
    if not others:
        return " ".join(
            [*sentences, f"The arm {base.name} scores {percent(base.scores)}."]
        )
    best = max(others, key=lambda arm: arm.mean)
    sentences.append(
        f"The arm {best.name} scores {percent(best.scores)}, {base.name} "
        f"{percent(base.scores)}: a difference of {points(best.mean - base.mean)}."
    )
    if best.method is None:
        return " ".join([*sentences, _ONE_RUN])
    p = corrected(comparison)[best.name]
    verdict = "significant" if p < LEVEL else "not significant"
    chance = f"p {probability(p)}".replace("<", "below")
    ends = interval(best.method)
    sentences.append(f"It is {verdict} (95% interval {ends}, {chance}).")
    return " ".join(sentences)


def remarks(comparison: Comparison, notes: Mapping[str, str]) -> list[str]:
    """Return why runs are missing, what is unknown of some, and the notes on arms."""
    sentences = [f"Missing {reason}" for reason in comparison.missing.reasons()]
    numbers = {arm.name: len(arm.runs) for arm in comparison.arms}
    if len(set(numbers.values())) > 1:
        runs = ", ".join(f"{name} {number}" for name, number in numbers.items())
        sentences.append(f"The arms have different numbers of runs: {runs}.")
    files = [a.name for a in comparison.arms if a.runs[0].n_parameters is None]
    if files:
        sentences.append(
            "Predictions in files have no size, speed or seeds, and their runs are not "
            f"paired: {', '.join(files)}."
        )
    noted = [name for name in numbers if notes.get(name)]
    return [*sentences, *(f"Note on {name}: {notes[name]}" for name in noted)]


def score_rows(comparison: Comparison) -> list[Row]:
    """Return a row of scores and differences for each arm, then for each ensemble."""
    ps = corrected(comparison)
    rows = []
    for name, arm in _named(comparison):
        needed = epsilon = ""
        difference = points(arm.models.mean) if arm.models else ""
        if arm.method:
            difference += f" ({interval(arm.method)})"
            needed = amount(arm.method.runs_needed) or "–"
            epsilon = amount(arm.method.epsilon, 2)
        row = {
            "Arm": name,
            "Runs": str(len(arm.runs)),
            "Score": percent(arm.scores),
            "Difference": difference,
            "p": probability(ps[name]) if name in ps else "",
            "These models": interval(arm.models),
            "Runs needed": needed,
            "ε": epsilon,
            "Spans/text": amount(_mean([run.spans_per_doc for run in arm.runs]), 1),
        }
        rows.append(row)
    return rows


def cost_rows(comparison: Comparison, trainings: Sequence[Training] = ()) -> list[Row]:
    """Return a row of size, speed and memory for each arm, then for each ensemble."""
    base = comparison.arms[0].runs[0].n_parameters
    rows = []
    for name, arm in _named(comparison):
        values = arm.to_json(base)
        added = values["parameters_added"]
        runs = [run for run in trainings if run.arm == name]
        row = {
            "Arm": name,
            "Weights": amount(values["n_parameters"], 2, 1e-6, "M")
            + (f" ({points(added)}%)" if added else ""),
            "n-grams": amount(values["n_ngrams"]),
            "Words/s": amount(median(arm.speeds) if arm.speeds else None),
            "Memory": amount(values["peak_memory"], unit=" MB"),
            "Training words/s": amount(_mean([r.words_per_second for r in runs])),
            "Training memory": amount(_mean([r.peak_memory for r in runs]), unit=" MB"),
            "Training time": amount(
                _mean([r.seconds for r in runs]), 1, 1 / 60, " min"
            ),
        }
        rows.append(row)
    return rows


def columns(rows: Sequence[Row]) -> list[str]:
    """Return the columns that have a value."""
    return [name for name in rows[0] if any(row[name] for row in rows)]


def _named(comparison: Comparison) -> list[tuple[str, Arm]]:
    arms = [(arm.name, arm) for arm in comparison.arms]
    return [*arms, *((f"{arm.name} (ensemble)", arm) for arm in comparison.ensembles)]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known and len(known) == len(values) else None


def metric(comparison: Comparison) -> str:
    """Return the metric, and what it means if that differs between pipelines."""
    meaning = comparison.meaning
    return f"{comparison.metric} ({meaning})" if meaning else comparison.metric


def percent(scores: Sequence[float]) -> str:
    """Return the mean and, of several scores, the deviation, such as "84.2 ± 0.3"."""
    text = f"{100 * mean(scores):.1f}"
    return f"{text} ± {100 * stdev(scores):.1f}" if len(scores) > 1 else text


def points(value: float) -> str:
    """Return a difference in points of a hundred with its sign, zero without one."""
    return signed(100 * value, 1)


def signed(value: float, digits: int) -> str:
    """Return a number with its sign, zero without one."""
    text = f"{value:+.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else text.replace("-", "−")


def interval(difference: Difference | MethodDifference | None) -> str:
    """Return an interval, such as "+0.2 to +2.4"."""
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
    return _SIGNS.sub(
        lambda sign: _ENTITIES.get(sign[0], f"\\{sign[0]}"), visible(text)
    )


def to_markdown(comparison: Comparison, notes: Mapping[str, str] | None = None) -> str:
    """Write a comparison as a table, with the headline above and remarks below.

    notes (Optional[Mapping[str, str]]): The notes on arms.
    RETURNS (str): Markdown.
    """
    both = zip(score_rows(comparison), cost_rows(comparison), strict=True)
    cells = [[{**scores, **costs}[c] for c in _COLUMNS] for scores, costs in both]
    table = [_COLUMNS, ["---"] * len(_COLUMNS)]
    table += [[escape_markdown(name), *numbers] for name, *numbers in cells]
    size = f"{comparison.n_docs:,} texts of {comparison.data}"
    scale = "in percent: mean and standard deviation over the runs."
    meanings = MEANINGS[: 4 if comparison.ensembles else 3]
    below = [f"{metric(comparison)} on {size}, {scale}", *meanings]
    lines = [
        escape_markdown(headline(comparison)),
        "",
        *("| " + " | ".join(row) + " |" for row in table),
        "",
        *map(escape_markdown, below),
        *(f"\n{escape_markdown(text)}" for text in remarks(comparison, notes or {})),
        "",
    ]
    return "\n".join(lines)
