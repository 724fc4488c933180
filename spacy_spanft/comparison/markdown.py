"""A comparison as a table in Markdown."""

from typing import Any

from .compare import Arm, Comparison

_HEADER = ("Arm", "Runs", "Score", "Difference", "p", "Weights", "Words/s", "Memory")


def to_markdown(comparison: Comparison) -> str:
    """Write a comparison as a table.

    comparison (Comparison): The comparison.
    RETURNS (str): Markdown.
    """
    one = comparison
    rows = [
        _HEADER,
        tuple("---" for _ in _HEADER),
        *map(_row, one.arms, one.to_json()["arms"]),
    ]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    first = one.arms[0].name
    tests = sorted({a.against_first.test for a in one.arms if a.against_first})
    notes = [
        f"{one.metric} on {one.n_docs:,} texts of {one.data}, in percent: mean and "
        "standard deviation over the runs.",
    ]
    if tests:
        notes.append(
            f"Differences are from {first}, with a 95% interval of the paired "
            f"bootstrap; p is that of: {', '.join(tests)}."
        )
    return "\n".join([*lines, "", *notes, ""])


def _row(arm: Arm, json: dict[str, Any]) -> tuple[str, ...]:
    score = f"{100 * arm.mean:.1f}"
    if arm.std is not None:
        score += f" ± {100 * arm.std:.1f}"
    difference, p = "", ""
    if (found := arm.against_first) is not None:
        low, high = 100 * found.low, 100 * found.high
        difference = f"{100 * found.mean:+.1f} ({low:+.1f} to {high:+.1f})"
        p = f"{found.p:.3f}" if found.p >= 0.001 else "< 0.001"
    weights = f"{json['n_parameters'] / 1e6:.2f}M"
    if json["parameters_added"]:
        weights += f" ({json['parameters_added']:+.1%})"
    memory = json["peak_memory"]
    return (
        arm.name,
        str(len(arm.runs)),
        score,
        difference,
        p,
        weights,
        f"{json['words_per_second']:,.0f}",
        "" if memory is None else f"{memory:,.0f} MB",
    )
