"""The rows of a comparison, the sentences around them, and both as Markdown."""

import re
from collections.abc import Mapping, Sequence
from statistics import mean, stdev

from ..errors import visible
from .comparison import Arm, Comparison, mean_known
from .significance import Difference, MethodDifference, holm_adjusted

Row = dict[str, str]  # the cells by column, "" for unknown values
LEVEL = 0.05
_METHOD = ("Runs", "Score", "Difference", "p", "These models")
SCORES = (*_METHOD, "Runs needed", "ε", "Spans/text")
COSTS = ("Weights", "n-grams", "Words/s", "Memory", "Training time")
_IN_MARKDOWN = (*_METHOD, "Weights", "Words/s", "Memory", "Spans/text")
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
    """Return how the best arm differs from the first."""
    base, *others = comparison.arms
    if not others:
        return f"The arm {base.name} scores {percent(base.scores)}."
    best = max(others, key=lambda arm: arm.mean)
    scores = (
        f"The arm {best.name} scores {percent(best.scores)}, {base.name} "
        f"{percent(base.scores)}: a difference of {points(best.mean - base.mean)}."
    )
    if best.method is None:
        return (
            f"{scores} One run per arm cannot tell whether the method is better. Train "
            f"at least three seeds."
        )
    p = corrected(comparison)[best.name]
    verdict = "significant" if p < LEVEL else "not significant"
    ends = interval(best.method)
    return f"{scores} It is {verdict} (95% interval {ends}, p {probability(p)})."


def remarks(comparison: Comparison) -> list[str]:
    """Return which runs are missing, and the notes on arms."""
    missing = [f"Missing {run}: {why}." for run, why in comparison.missing.items()]
    names = [arm.name for arm in comparison.arms]
    notes = {name: comparison.notes.get(name) for name in names}
    return [
        *missing,
        *(f"Note on {name}: {note}" for name, note in notes.items() if note),
    ]


def rows_of(comparison: Comparison) -> list[Row]:
    """Return a row of scores and costs for each arm, then for each ensemble."""
    ps = corrected(comparison)
    base = comparison.arms[0].runs[0].n_parameters
    ensembles = [(f"{arm.name} (ensemble)", arm) for arm in comparison.ensembles]
    arms = [(arm.name, arm) for arm in comparison.arms]
    rows = []
    for name, arm in (*arms, *ensembles):
        p = ps.get(name)
        scores = {"Arm": name, "Runs": str(len(arm.runs)), **_score_cells(arm, p)}
        rows.append({**scores, **_cost_cells(comparison, name, arm.to_json(base))})
    return rows


def _score_cells(arm: Arm, p: float | None) -> Row:
    method, models = arm.method, arm.models
    spans = mean_known([run.spans_per_doc for run in arm.runs])
    return {
        "Score": percent(arm.scores),
        "Difference": (points(models.mean) if models else "")
        + (f" ({interval(method)})" if method else ""),
        "p": "" if p is None else probability(p),
        "These models": interval(models),
        "Runs needed": (amount(method.runs_needed) or "–") if method else "",
        "ε": amount(method.epsilon, 2) if method else "",
        "Spans/text": amount(spans, 1),
    }


def _cost_cells(comparison: Comparison, name: str, values: Mapping[str, float]) -> Row:
    runs = [run for run in comparison.trainings if run.arm == name]
    added = values["parameters_added"]
    minutes = mean_known([run.seconds / 60 for run in runs])
    return {
        "Weights": amount(values["n_parameters"], 2, 1e-6, "M")
        + (f" ({points(added)}%)" if added else ""),
        "n-grams": amount(values["n_ngrams"]),
        "Words/s": amount(values["words_per_second"]),
        "Memory": amount(values["peak_memory"], unit=" MB"),
        "Training time": amount(minutes, 1, unit=" min"),
    }


def known_columns(rows: Sequence[Row]) -> list[str]:
    """Return the columns in which a row has a value."""
    return [name for name in rows[0] if any(row[name] for row in rows)]


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
    return signed(100 * value, 1)


def signed(value: float, digits: int) -> str:
    """Return a number with its sign, zero without one."""
    text = f"{value:+.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else text.replace("-", "−")


def interval(difference: Difference | MethodDifference | None) -> str:
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
    return _SIGNS.sub(
        lambda sign: _ENTITIES.get(sign[0], f"\\{sign[0]}"), visible(text)
    )


def to_markdown(comparison: Comparison) -> str:
    """Return a comparison as a table, with the headline above and remarks below."""
    columns = ("Arm", *_IN_MARKDOWN)
    table = [columns, ["---"] * len(columns)]
    for row in rows_of(comparison):
        name, *cells = [row[column] for column in columns]
        table.append([escape_markdown(name), *cells])
    below = [
        f"{metric_name(comparison)} on {comparison.n_docs:,} texts of "
        f"{comparison.data}, in percent: mean and standard deviation over the runs.",
        *MEANINGS[: 4 if comparison.ensembles else 3],
    ]
    lines = [
        escape_markdown(headline(comparison)),
        "",
        *("| " + " | ".join(cells) + " |" for cells in table),
        "",
        *map(escape_markdown, below),
        *(f"\n{escape_markdown(text)}" for text in remarks(comparison)),
        "",
    ]
    return "\n".join(lines)
