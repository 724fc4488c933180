"""What a comparison found, in one sentence, and what must be said with it."""

from ..comparison.comparing import Arm, Comparison
from ..statistics.methods import MethodDifference
from ..statistics.significance import holm_adjusted
from . import wording

_LEVEL = 0.05
_MODELS = (
    "Do these models differ? The interval under “These models” (95%) asks whether "
    "these very models would differ on other texts of this kind, too: a paired "
    "bootstrap over the texts."
)
_ONE_RUN = (
    "Is the method better? That cannot be said of arms with one run: another seed "
    "would have given another model. Train each with three seeds or more."
)


def corrected(comparison: Comparison) -> dict[str, float]:
    """Correct the methods' p-values for how many arms are compared with the first.

    RETURNS (dict[str, float]): The corrected p-value of each arm that has one.
    """
    ps = {arm.name: arm.method.p for arm in comparison.arms if arm.method}
    return dict(zip(ps, holm_adjusted(list(ps.values())), strict=True))


def meanings(comparison: Comparison) -> list[str]:
    """Say what the two intervals and the p-value of a table answer.

    RETURNS (list[str]): Sentences.
    """
    methods = [arm.method for arm in comparison.arms if arm.method]
    if not methods:
        return [_ONE_RUN, _MODELS]
    pairs = {method.is_paired for method in methods}
    paired = ", paired by seed" if pairs == {True} else ""
    said = (
        "Is the method better? The 95% interval of the difference, and p, ask whether "
        "other seeds and other texts would show it, too: over the variance of runs and "
        f"texts{paired}, that of runs as uncertain as so few leave it (Behrens–Fisher)"
    )
    n = len(methods)
    said += f"; p after Holm’s correction for {n} comparisons." if n > 1 else "."
    return [said, _MODELS]


def headline(comparison: Comparison) -> str:
    """Say which arm is best, by how much, and whether that could be chance.

    RETURNS (str): A sentence, after those that say which runs are missing.
    """
    return " ".join([*comparison.missing.told(), _finding(comparison)])


def _finding(comparison: Comparison) -> str:
    first = comparison.arms[0]
    best = _best(comparison)
    score = wording.percent(first.scores)
    if best.models is None:
        return f"{first.name} scores {score}; there is no other arm to compare it with."
    by = wording.points(abs(best.models.mean)).lstrip("+")
    by = f"{by if by != '0.0' else 'less than 0.1'} points"
    if best.models.mean > 0:
        said = (
            f"{best.name} scores highest, {wording.percent(best.scores)} against "
            f"{score} of {first.name}: {by} more"
        )
    elif best.models.mean < 0:
        said = (
            f"No arm scores higher than {first.name}, {score}; {best.name} comes "
            f"nearest, {by} lower"
        )
    else:
        return f"No arm scores higher than {first.name}, {score}; {best.name} is equal."
    if best.method is None:
        models = wording.interval(best.models)
        return f"{said} (95% interval of these models {models}). {_ONE_RUN}"
    within = f"(95% interval {wording.interval(best.method)})"
    return f"{said} {within}, {_chance(best.method, corrected(comparison), best.name)}."


def _best(comparison: Comparison) -> Arm:
    """Find the best arm but the first; the first if there is no other."""
    others = comparison.arms[1:]
    return max(others or comparison.arms, key=lambda arm: arm.mean)


def _chance(found: MethodDifference, after: dict[str, float], name: str) -> str:
    said = wording.equation(found.p)
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

    RETURNS (list[str]): Sentences.
    """
    return [*gaps(comparison), *_doubts(comparison)]


def gaps(comparison: Comparison) -> list[str]:
    """Say of which runs the comparison knows nothing.

    RETURNS (list[str]): Sentences.
    """
    said = [f"Missing {reason}" for reason in comparison.missing.reasons()]
    numbers = {arm.name: len(arm.runs) for arm in comparison.arms}
    if len(set(numbers.values())) > 1:
        told = ", ".join(f"{name} {number}" for name, number in numbers.items())
        said.append(f"The arms have different numbers of runs: {told}.")
    files = [a.name for a in comparison.arms if a.runs[0].n_parameters is None]
    if files:
        said.append(
            f"Predictions in files ({', '.join(files)}) say nothing of size, speed and "
            "seeds: their runs are not paired with others."
        )
    return said


def _doubts(comparison: Comparison) -> list[str]:
    best = _best(comparison)
    if best.models is None or best.method is None:
        return []
    said = []
    is_shown = corrected(comparison)[best.name] < _LEVEL
    if best.models.p < _LEVEL and not is_shown:
        said.append(
            "These very models do differ on texts of this kind; that models trained "
            "with other seeds would is not shown."
        )
    if best.method.mean and not is_shown:
        said.append(_needed(comparison, best.method.runs_needed))
    if (epsilon := best.method.epsilon) is not None and best.method.mean > 0:
        said.append(
            f"Almost stochastic order: ε ≤ {epsilon:.2f} (below 0.5 the scores of "
            f"{best.name} are higher at most ranks, below 0.2 clearly so)."
        )
    return said


def _needed(comparison: Comparison, n_runs: int | None) -> str:
    if n_runs is None:
        return (
            f"If the difference is as large as that, {comparison.n_docs:,} texts are "
            "too few to show it, however many runs there are."
        )
    return (
        f"If the difference is as large as that, {n_runs:,} runs of each arm would "
        "show it in four of five experiments."
    )
