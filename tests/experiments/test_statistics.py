"""What comparisons say of chance: against formulas, and where nothing is there."""

import numpy as np
import pytest
from scipy import stats

from benchmarks.null_simulation import Setting, simulate
from spacy_spanft.experiments.metrics import accuracy, count_score
from spacy_spanft.experiments.significance import (
    Scores,
    method_difference,
    models_difference,
    resample,
)
from spacy_spanft.pipeline.scorers import matthews


def rows_of(gold, right):
    return np.stack([gold, np.where(right, gold, 1 - gold)], axis=1)


def test_draws_are_those_of_plain_loops():
    chance = np.random.default_rng(3)
    gold = chance.integers(0, 2, 40)
    arms = {
        name: [rows_of(gold, chance.random(40) < 0.7) for _ in range(n)]
        for name, n in (("base", 2), ("other", 3))
    }
    scores = resample(arms, matthews, n_resamples=7, seed=5)
    again = np.random.default_rng(5)
    for number in range(7):
        docs = again.integers(0, 40, 40)
        for name, runs in arms.items():
            expected = [matthews(rows[docs]) for rows in runs]
            assert scores[name].drawn[number].tolist() == expected
    assert scores["other"].observed.tolist() == [matthews(r) for r in arms["other"]]


def test_the_bootstrap_finds_a_difference_and_its_interval():
    chance = np.random.default_rng(1)
    gold = chance.integers(0, 2, 400)

    def arm(share):
        return [rows_of(gold, chance.random(400) < share) for _ in range(3)]

    arms = {"base": arm(0.7), "other": arm(0.8), "same": arm(0.7)}
    scores = resample(arms, accuracy)
    difference = models_difference(scores["base"], scores["other"])
    means = {name: np.mean([accuracy(r) for r in arms[name]]) for name in arms}
    assert difference.mean == pytest.approx(means["other"] - means["base"])
    assert difference.low < difference.mean < difference.high
    # The interval is that of the normal approximation, nearly.
    right = [
        np.mean([r[:, 0] == r[:, 1] for r in arms[name]], axis=0)
        for name in ("base", "other")
    ]
    error = np.std(right[1] - right[0]) / 20
    half = (difference.high - difference.low) / 2
    assert half == pytest.approx(1.96 * error, rel=0.15)
    assert models_difference(scores["base"], scores["same"]).p > 0.05
    assert models_difference(scores["base"], scores["base"]).p == 1.0


def test_the_bootstraps_p_is_seldom_small_where_there_is_no_difference():
    chance = np.random.default_rng(2)
    alarms = []
    for _ in range(100):
        rows = chance.integers(0, 2, (2, 80, 3))
        both = resample({"a": rows[:1], "b": rows[1:]}, count_score, n_resamples=200)
        alarms.append(models_difference(both["a"], both["b"]).p < 0.05)
    assert np.mean(alarms) <= 0.1


def test_one_text_or_one_run_shows_nothing():
    rows = {"a": [np.array([[0, 1]])] * 3, "b": [np.array([[0, 0]])] * 3}
    both = resample(rows, accuracy, n_resamples=20)
    assert models_difference(both["a"], both["b"]).p == 1.0
    assert method_difference(both["a"], both["b"]) is None
    one = Scores(np.array([0.5]), np.full((10, 1), 0.5), 100)
    two = Scores(np.array([0.6, 0.7]), np.full((10, 2), 0.6), 100)
    assert method_difference(one, two) is method_difference(two, one) is None


def test_equal_differences_of_runs_prove_as_little_if_they_are_rounded():
    """In binary, 0.7 - 0.6 is not 0.8 - 0.7."""
    noise = np.random.default_rng(0).normal(0, 0.4, (500, 1)) * [1, -0.5]
    ps = []
    for first, second in (([0.5, 0.5], [0.6, 0.6]), ([0.6, 0.7], [0.7, 0.8])):
        one = Scores(np.array(first), np.tile(first, (500, 1)), 10, seeds=(0, 1))
        other = Scores(np.array(second), second + noise, 10, seeds=(0, 1))
        ps.append(method_difference(one, other).p)
    assert ps[0] == pytest.approx(ps[1], rel=0.01)


def drawn_of(chance, effects, n_docs, n_draws=4000):
    """Make draws of runs with effects (n_runs, n_docs) of their texts."""
    weights = chance.multinomial(n_docs, np.full(n_docs, 1 / n_docs), n_draws)
    return Scores(effects.mean(axis=1), weights @ effects.T / n_docs, n_docs)


def test_the_variance_is_that_of_an_analysis_of_variance():
    """For means, the variance is that of crossed random effects of runs and texts."""
    chance = np.random.default_rng(4)
    n_runs, n_docs = 4, 300
    effects = [
        chance.normal(0, 0.1, (n_runs, 1))
        + chance.normal(0, 1, (1, n_docs))
        + chance.normal(0, 0.5, (n_runs, n_docs))
        for _ in range(2)
    ]
    base, other = (
        drawn_of(np.random.default_rng(9), values, n_docs)._replace(seeds=range(n_runs))
        for values in effects
    )
    difference = method_difference(base, other)
    assert difference.is_paired
    gap = effects[1] - effects[0]
    runs, texts = gap.mean(axis=1), gap.mean(axis=0)
    rest = gap - runs[:, None] - texts[None, :] + gap.mean()
    of_runs = n_docs * runs.var(ddof=1)
    of_texts = n_runs * texts.var(ddof=1)
    of_rest = (rest**2).sum() / ((n_runs - 1) * (n_docs - 1))
    size = n_runs * n_docs
    # What is uncertain of the variance is drawn here, and integrated there.
    ratios = (n_runs - 1) / chance.chisquare(n_runs - 1, 400_000)
    of_texts, of_runs = (of_texts - of_rest) / size, of_runs / size * ratios
    weights = (of_texts / 4 + of_runs) / of_runs
    drawn = np.sqrt(of_texts + of_runs) * chance.normal(size=400_000)
    p = np.average(abs(drawn) > abs(gap.mean()), weights=weights)
    assert difference.mean == pytest.approx(gap.mean())
    assert difference.p == pytest.approx(p, abs=0.02)
    half = (difference.high - difference.low) / 2
    beyond = np.average(abs(drawn) > half, weights=weights)
    assert beyond == pytest.approx(0.05, abs=0.005)


def test_without_texts_it_is_the_usual_t():
    """Where texts add nothing, it is the t test of pairs, or Welch's."""
    chance = np.random.default_rng(6)
    base, other = chance.normal(0, 1, (2, 6))
    still = [Scores(x, np.tile(x, (50, 1)), 9) for x in (base, other[:4] + 1)]
    difference = method_difference(*still)
    assert not difference.is_paired
    expected = stats.ttest_ind(other[:4] + 1, base, equal_var=False)
    assert difference.p == pytest.approx(expected.pvalue, abs=1e-3)
    interval = expected.confidence_interval()
    ends = pytest.approx((interval.low, interval.high), rel=1e-2)
    assert (difference.low, difference.high) == ends
    # Paired: by the seeds, in whatever order they come.
    order = chance.permutation(6)
    one = Scores(base, np.tile(base, (50, 1)), 9, [*range(6)])
    two = Scores(other[order], np.tile(other[order], (50, 1)), 9, order.tolist())
    expected = stats.ttest_rel(other, base)
    difference = method_difference(one, two)
    assert difference.is_paired
    assert difference.p == pytest.approx(expected.pvalue, abs=1e-4)
    interval = expected.confidence_interval()
    ends = pytest.approx((interval.low, interval.high), rel=1e-3)
    assert (difference.low, difference.high) == ends
    for seeds in ([*range(5), 9], [0, 0, 1, 2, 3, 4], None):
        assert not method_difference(one, two._replace(seeds=seeds)).is_paired


@pytest.mark.parametrize(("n_texts", "least"), [(2, 0.5), (3, 0.25), (6, 0.03125)])
def test_a_few_texts_that_agree_prove_little(n_texts, least):
    right, wrong = np.ones(n_texts), np.zeros(n_texts)
    scores = resample({"base": [wrong] * 2, "other": [right] * 2}, np.mean)
    both = [arm._replace(seeds=(0, 1)) for arm in scores.values()]
    assert models_difference(*both).p == method_difference(*both).p == least


@pytest.mark.parametrize(("is_paired", "power"), [(False, 0.7), (True, 0.55)])
def test_three_runs_show_what_they_can(is_paired, power):
    """Where nothing is there, and where something is."""
    equal, better = (
        simulate(Setting(is_paired, 3, (1.5, 1.5), points), 200, seed=1)
        for points in (0.0, 8.0)
    )
    assert 0.025 <= equal["significant"] <= 0.06
    assert 0.93 <= equal["coverage"] <= 0.975
    assert better["significant"] >= power
