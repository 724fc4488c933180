"""Simulate experiments whose answer is known, and count the answers of `compare`.

Each trial draws texts of their own difficulty and classifiers with seeds of their own,
and compares two arms of runs: false alarms where the methods are equal, power where
they differ, and how often the 95% interval covers the true difference. Run it again to
resume: settings that the file of records has are skipped.

    python -m benchmarks.null_simulation --label "name of the method"
"""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray

from spacy_spanft.experiments.significance import Scores, method_difference

from .matrix import Run, run_missing

RECORDS = Path(__file__).parent / "results" / "null_simulation.jsonl"
# A point of accuracy on the logits, where texts have this mean and deviation.
POINT, MEAN, DEVIATION = 0.085, 1.6, 2.0
N_DRAWS = 200
Floats = NDArray[np.float64]


class Setting(NamedTuple):
    """What is simulated; spreads and differences in points of accuracy.

    is_paired (bool): Whether the seeds of both arms are the same numbers.
    spreads (tuple[float, float]): The standard deviation of the seeds in each arm.
    difference (float): How much better the second method is.
    unlike (float): How different the methods are, text by text, from 0 to 1.
    """

    is_paired: bool
    n_runs: int
    spreads: tuple[float, float]
    difference: float
    n_texts: int = 400
    unlike: float = 0.2


def settings() -> Iterator[Setting]:
    """Yield all settings: equal spreads, and one arm that is less stable."""
    spreads = ((0.0, 0.0), (1.5, 1.5), (4.0, 4.0), (1.0, 4.0))
    designs = product((True, False), (3, 5), spreads, (0.0, 1.9))
    for is_paired, n_runs, both, difference in designs:
        yield Setting(is_paired, n_runs, both, difference)


def chances(logits: Floats, spread: float, seeds: Floats) -> Floats:
    """Return how likely each run (n_runs) answers each text (n_texts) rightly."""
    return np.asarray(1 / (1 + np.exp(-logits - POINT * spread * seeds[:, None])))


def arm_logits(chance: np.random.Generator, setting: Setting) -> list[Floats]:
    """Draw the difficulty of the texts for each of the two methods."""
    base, own = chance.normal(0, DEVIATION, (2, setting.n_texts))
    share = 1 - setting.unlike
    other = share * base + np.sqrt(1 - share**2) * own
    return [MEAN + base, MEAN + other + POINT * setting.difference]


def true_difference(setting: Setting) -> float:
    """Compute the difference over all texts and seeds, by quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    means = []
    for spread, shift in zip(setting.spreads, (0.0, setting.difference), strict=True):
        width = np.hypot(DEVIATION, POINT * spread)
        right = 1 / (1 + np.exp(-(MEAN + POINT * shift + width * nodes)))
        means.append(float(weights @ right / weights.sum()))
    return means[1] - means[0]


def draw_weights(chance: np.random.Generator, n_texts: int) -> NDArray[np.float32]:
    """Draw how often each text is in each of the bootstrap's samples."""
    docs = chance.integers(0, n_texts, (N_DRAWS, n_texts))
    docs += n_texts * np.arange(N_DRAWS)[:, None]
    counts = np.bincount(docs.ravel(), minlength=N_DRAWS * n_texts)
    return counts.reshape(N_DRAWS, n_texts).astype(np.float32)


def draw_scores(chance: np.random.Generator, setting: Setting) -> list[Scores]:
    """Draw the runs of both arms, and their scores on resampled texts."""
    n = setting.n_texts
    weights = draw_weights(chance, n)
    scores = []
    for number, logits in enumerate(arm_logits(chance, setting)):
        seeds = chance.normal(0, 1, setting.n_runs)
        odds = chances(logits, setting.spreads[number], seeds)
        right = (chance.random(odds.shape) < odds).astype(np.float32)
        names = list(range(setting.n_runs)) if setting.is_paired else None
        drawn = np.asarray(weights @ right.T / n, np.float64)
        scores.append(Scores(right.mean(axis=1).astype(np.float64), drawn, n, names))
    return scores


def simulate(setting: Setting, n_trials: int, seed: int = 0) -> dict[str, Any]:
    """Count how often the test rejects, and the interval covers the truth.

    RETURNS (dict[str, Any]): The setting with `significant` and `coverage`, as shares,
        and the mean width of the interval in points.
    """
    chance = np.random.default_rng(seed)
    truth = true_difference(setting)
    n_significant, n_covered, width = 0, 0, 0.0
    for _ in range(n_trials):
        result = method_difference(*draw_scores(chance, setting))
        assert result is not None
        n_significant += result.p < 0.05
        n_covered += result.low <= truth <= result.high
        width += result.high - result.low
    return {
        **setting._asdict(),
        "spreads": list(setting.spreads),
        "n_trials": n_trials,
        "true_difference": round(100 * truth, 2),
        "significant": n_significant / n_trials,
        "coverage": n_covered / n_trials,
        "width": round(100 * width / n_trials, 2),
    }


def main(label: str = "now", n_trials: int = 1000, records: Path = RECORDS) -> None:
    """Simulate the settings that are missing from the records."""

    def do(run: Run) -> Run:
        setting = {name: run[name] for name in Setting._fields}
        return simulate(Setting(**setting), n_trials)

    designs = [{**each._asdict(), "spreads": list(each.spreads)} for each in settings()]
    run_missing(records, [{"label": label, **each} for each in designs], do)


if __name__ == "__main__":
    typer.run(main)
