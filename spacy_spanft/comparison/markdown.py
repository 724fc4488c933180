"""A comparison as a table in Markdown."""

from collections.abc import Mapping
from typing import Any

from . import wording
from .compare import Arm, Comparison

_HEADER = (
    *("Arm", "Runs", "Score", "Difference", "p", "Weights", "Words/s", "Memory"),
    "Spans/text",
)


def to_markdown(comparison: Comparison, notes: Mapping[str, str] | None = None) -> str:
    """Write a comparison as a table.

    comparison (Comparison): The comparison.
    notes (Optional[Mapping[str, str]]): What must be said of arms.
    RETURNS (str): Markdown.
    """
    one, values = comparison, comparison.to_json()
    rows = [
        _HEADER,
        tuple("---" for _ in _HEADER),
        *map(_row, one.arms, values["arms"]),
        *map(_ensemble, one.ensembles, values.get("ensembles", [])),
    ]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    first = one.arms[0].name
    tests = wording.tests_of(one.arms)
    below = [
        f"{one.metric} on {one.n_docs:,} texts of {one.data}, in percent: mean and "
        "standard deviation over the runs.",
    ]
    if tests:
        below.append(
            f"Differences are from {first}, with a 95% interval of the paired "
            f"bootstrap; p is that of: {tests}."
        )
    if one.ensembles:
        below.append(wording.ENSEMBLES)
    there = [arm.name for arm in one.arms if (notes or {}).get(arm.name)]
    below += [f"\n{name}: {(notes or {})[name]}" for name in there]
    return "\n".join([*lines, "", *below, ""])


def to_markdown_of_tasks(
    comparisons: Mapping[str, Comparison],
    notes: Mapping[str, Mapping[str, str]] | None = None,
) -> str:
    """Write several comparisons, each under its name.

    comparisons (Mapping[str, Comparison]): The comparison of each task.
    notes (Optional[Mapping[str, Mapping[str, str]]]): What must be said of the arms of
        each.
    RETURNS (str): Markdown.
    """
    return "\n".join(
        f"## {name}\n\n{to_markdown(one, (notes or {}).get(name))}"
        for name, one in comparisons.items()
    )


def _ensemble(arm: Arm, json: dict[str, Any]) -> tuple[str, ...]:
    name, *cells = _row(arm, json)
    return (f"{name} (ensemble)", *cells)


def _row(arm: Arm, json: dict[str, Any]) -> tuple[str, ...]:
    difference, p = "", ""
    if (found := arm.against_first) is not None:
        difference = f"{wording.points(found.mean)} ({wording.interval(found)})"
        p = wording.probability(found.p)
    weights = wording.weights(json["n_parameters"])
    if added := wording.share(json["parameters_added"]):
        weights += f" ({added})"
    return (
        arm.name,
        str(len(arm.runs)),
        wording.percent(arm.scores),
        difference,
        p,
        weights,
        wording.amount(json["words_per_second"]),
        wording.memory(json["peak_memory"]),
        wording.amount(json["spans_per_doc"], 1),
    )
