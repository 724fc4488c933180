"""What a comparison found, in one sentence, and what must be said with it."""

from . import wording
from .compare import Arm, Comparison
from .significance import Difference, holm

_LEVEL = 0.05


def corrected(comparison: Comparison) -> dict[str, float]:
    """Correct the p-values for how many arms are compared with the first.

    comparison (Comparison): The comparison.
    RETURNS (dict[str, float]): The corrected p-value of each arm but the first.
    """
    ps = {a.name: a.against_first.p for a in comparison.arms if a.against_first}
    return dict(zip(ps, holm(list(ps.values())), strict=True))


def headline(comparison: Comparison) -> str:
    """Say which arm is best, by how much, and whether that could be chance.

    comparison (Comparison): The comparison.
    RETURNS (str): A sentence, after those that say which runs are missing.
    """
    return " ".join([*comparison.missing.told(), _finding(comparison)])


def _finding(comparison: Comparison) -> str:
    first = comparison.arms[0]
    best, found = _best(comparison)
    score = wording.percent(first.scores)
    if found is None:
        return f"{first.name} scores {score}; there is no other arm to compare it with."
    by = wording.points(abs(found.mean)).lstrip("+")
    by = f"{by if by != '0.0' else 'less than 0.1'} points"
    within = f"(95% interval {wording.interval(found)})"
    if found.mean > 0:
        said = (
            f"{best.name} scores highest, {wording.percent(best.scores)} against "
            f"{score} of {first.name}: {by} more {within}"
        )
    elif found.mean < 0:
        said = (
            f"No arm scores higher than {first.name}, {score}; {best.name} comes "
            f"nearest, {by} lower {within}"
        )
    else:
        return f"No arm scores higher than {first.name}, {score}; {best.name} is equal."
    return f"{said}, {_chance(found, corrected(comparison), best.name)}."


def _best(comparison: Comparison) -> tuple[Arm, Difference | None]:
    """Find the best arm but the first, and how much better it is than that."""
    others = comparison.arms[1:]
    if not others:
        return comparison.arms[0], None
    best = max(others, key=lambda arm: arm.mean)
    return best, best.against_first


def _chance(found: Difference, after: dict[str, float], name: str) -> str:
    said = f"{found.test}, {wording.equation(found.p)}"
    if found.p >= _LEVEL:
        return f"which may be chance: it is not significant ({said})"
    if len(after) > 1:
        p = wording.equation(after[name])
        said += f"; {p} after Holm’s correction for {len(after)} comparisons"
    if after[name] >= _LEVEL:
        return f"which is not significant once corrected ({said})"
    return f"which is significant ({said})"


def caveats(comparison: Comparison) -> list[str]:
    """Say what the headline leaves out.

    comparison (Comparison): The comparison.
    RETURNS (list[str]): Sentences.
    """
    return [*gaps(comparison), *_doubts(comparison)]


def gaps(comparison: Comparison) -> list[str]:
    """Say of which runs the comparison knows nothing.

    comparison (Comparison): The comparison.
    RETURNS (list[str]): Sentences.
    """
    said = [f"Missing {reason}" for reason in comparison.missing.reasons()]
    numbers = {arm.name: len(arm.runs) for arm in comparison.arms}
    if len(set(numbers.values())) > 1:
        told = ", ".join(f"{name} {number}" for name, number in numbers.items())
        said.append(f"The arms have different numbers of runs: {told}.")
    return said


def _doubts(comparison: Comparison) -> list[str]:
    first = comparison.arms[0]
    best, found = _best(comparison)
    if found is None:
        return []
    said = []
    is_out = found.low > 0 or found.high < 0
    if is_out != (found.p < _LEVEL):
        said.append(
            f"The 95% interval {'leaves out' if is_out else 'holds'} zero, the test "
            f"finds {'no' if is_out else 'a'} significant difference: whatever is so "
            "near to chance should not be relied upon."
        )
    stds = [arm.std for arm in (first, best)]
    if None in stds:
        said.append(
            "An arm that was trained once only may owe its place to its seed: the test "
            "and the interval know of other texts, not of other seeds."
        )
    elif abs(found.mean) < max(std for std in stds if std is not None):
        said.append(
            "The runs of one arm differ by more than that among themselves: another "
            "seed may turn the order round."
        )
    return said
