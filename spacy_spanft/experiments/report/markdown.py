"""A comparison as a table in Markdown."""

from collections.abc import Mapping
from typing import Any

from ..comparison.comparing import Arm, Comparison
from . import wording
from .escaping import markdown
from .headline import corrected, gaps, meanings

_HEADER = (
    *("Arm", "Runs", "Score", "Difference", "p", "These models", "Weights", "Words/s"),
    *("Memory", "Spans/text"),
)


def to_markdown(comparison: Comparison, notes: Mapping[str, str] | None = None) -> str:
    """Write a comparison as a table.

    notes (Optional[Mapping[str, str]]): What must be said of arms.
    RETURNS (str): Markdown.
    """
    one, values = comparison, comparison.to_json()
    ps = corrected(comparison)
    rows = [
        _HEADER,
        tuple("---" for _ in _HEADER),
        *(
            _row(arm, json, ps.get(arm.name))
            for arm, json in zip(one.arms, values["arms"], strict=True)
        ),
        *map(_ensemble, one.ensembles, values.get("ensembles", [])),
    ]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    above = [markdown(sentence) for sentence in one.missing.told()]
    said = [*([" ".join(above), ""] if above else []), *lines, ""]
    return "\n".join([*said, *_below(one), *_notes(one, notes or {}), ""])


def _below(one: Comparison) -> list[str]:
    """Say what the numbers of the table are."""
    metric = f"{one.metric} ({one.meaning})" if one.meaning else one.metric
    said = [
        f"{markdown(metric)} on {one.n_docs:,} texts of {markdown(one.data)}, in "
        "percent: mean and standard deviation over the runs.",
    ]
    if len(one.arms) > 1:
        said += [f"Differences are from {markdown(one.arms[0].name)}.", *meanings(one)]
    if one.ensembles:
        said.append(markdown(wording.ensembles(one)))
    return said


def _notes(one: Comparison, notes: Mapping[str, str]) -> list[str]:
    """Say what must be said of arms, each in a paragraph."""
    said = [markdown(sentence) for sentence in gaps(one)]
    there = [arm.name for arm in one.arms if notes.get(arm.name)]
    said += [f"Note on {markdown(name)}: {markdown(notes[name])}" for name in there]
    return [f"\n{sentence}" for sentence in said]


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
        f"## {markdown(name)}\n\n{to_markdown(one, (notes or {}).get(name))}"
        for name, one in comparisons.items()
    )


def _ensemble(arm: Arm, json: dict[str, Any]) -> tuple[str, ...]:
    name, *cells = _row(arm, json)
    return (f"{name} (ensemble)", *cells)


def _row(arm: Arm, json: dict[str, Any], p: float | None = None) -> tuple[str, ...]:
    difference = wording.points(arm.models.mean) if arm.models else ""
    if arm.method:
        difference += f" ({wording.interval(arm.method)})"
    weights = wording.weights(json["n_parameters"])
    if added := wording.share(json["parameters_added"]):
        weights += f" ({added})"
    return (
        markdown(arm.name),
        str(len(arm.runs)),
        wording.percent(arm.scores),
        difference,
        wording.probability(p) if p is not None else "",
        wording.interval(arm.models),
        weights,
        wording.amount(json["words_per_second"]),
        wording.memory(json["peak_memory"]),
        wording.amount(json["spans_per_doc"], 1),
    )
