"""What comparisons say of chance: against formulas, and where nothing is there."""

import numpy as np
import pytest
from scipy import stats

from benchmarks.null_simulation import Setting, simulate
from spacy_spanft.experiments.metrics import accuracy, count_score
from spacy_spanft.experiments.significance import (
    Scores,
    holm_adjusted,
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


def score_all(weights, gold, right, metric):
    if metric == "accuracy":
        return weights @ right.T / weights.sum(axis=1, keepdims=True)
    tp, fn = weights @ (right * gold).T, weights @ (~right * gold).T
    tn, fp = weights @ (right * (1 - gold)).T, weights @ (~right * (1 - gold)).T
    norm = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return (tp * tn - fp * fn) / np.maximum(norm, 1e-9)


def trial(
    chance, n_runs, spread, metric, n_docs=500, shift=0, other=0, n_draws=200, others=1
):
    """Score a baseline and other arms on texts of their own difficulty.

    spread: The deviation of the seeds, on the logits: .085 is a point of accuracy,
        .35 are four.
    shift: How much better the other methods are, on the logits.
    other: How unlike the baseline they are, text by text.
    """
    gold = (chance.random(n_docs) < 0.7).astype(np.int64)
    base = chance.normal(1.6, 2.0, n_docs)
    arms = [base]
    for _ in range(others):
        logits = 1.6 + (1 - other) * (base - 1.6)
        logits += np.sqrt(1 - (1 - other) ** 2) * chance.normal(0, 2.0, n_docs) + shift
        arms.append(logits)
    weights = chance.multinomial(n_docs, np.full(n_docs, 1 / n_docs), n_draws)
    weights = weights.astype(np.float32)
    made = []
    for logits in arms:
        seeds = chance.normal(0, spread, (n_runs, 1))
        right = chance.random((n_runs, n_docs)) < 1 / (1 + np.exp(-logits - seeds))
        observed = score_all(np.ones((1, n_docs)), gold, right, metric)[0]
        drawn = score_all(weights, gold, right, metric)
        made.append(Scores(observed, drawn, n_docs, [*range(n_runs)]))
    return made


def test_the_simulation_scores_as_the_metrics_do():
    chance = np.random.default_rng(0)
    gold = (chance.random(60) < 0.7).astype(np.int64)
    right = chance.random((2, 60)) < 0.8
    for metric, score in (("accuracy", accuracy), ("matthews", matthews)):
        scores = score_all(np.ones((1, 60)), gold, right, metric)[0]
        expected = [score(rows_of(gold, run)) for run in right]
        assert scores == pytest.approx(expected)


def false_alarms(n_trials, *cell, **more):
    """Count how often each question is answered wrongly where nothing is there."""
    chance = np.random.default_rng(11)
    alarms = {"method": 0, "models": 0}
    for _ in range(n_trials):
        base, other = trial(chance, *cell, **more)
        method = method_difference(base, other)
        alarms["method"] += method.p < 0.05
        alarms["models"] += models_difference(base, other).p < 0.05
        # Interval and p are one statement.
        assert (method.p < 0.05) == (method.low > 0 or method.high < 0)
    return {name: n / n_trials for name, n in alarms.items()}


@pytest.mark.parametrize("metric", ["accuracy", "matthews"])
def test_other_seeds_are_no_better_method(metric):
    """Where drawing texts alone is wrong half of the time, the method's p is not."""
    alarms = false_alarms(150, 3, 0.35, metric)
    assert alarms["models"] > 0.4
    assert alarms["method"] <= 0.09


@pytest.mark.slow
@pytest.mark.parametrize("other", [0.0, 0.2])
@pytest.mark.parametrize("metric", ["accuracy", "matthews"])
@pytest.mark.parametrize("n_runs", [3, 5, 10])
@pytest.mark.parametrize("spread", [0.0, 0.085, 0.35])
def test_false_alarms_and_coverage(spread, n_runs, metric, other):
    alarms = false_alarms(2000, n_runs, spread, metric, other=other)
    print(f"\n{metric}, {n_runs} runs, spread {spread}, unlike {other}: {alarms}")
    # Two standard errors of 2,000 trials are one point.
    assert 0.02 - 0.01 <= alarms["method"] <= 0.06 + 0.01


SLOW = [(1000, n, spread, 0.06 + 0.014) for n in (3, 5, 10) for spread in (0.0, 0.35)]


@pytest.mark.parametrize(
    ("n_trials", "n_runs", "spread", "most"),  # which is two standard errors above 0.06
    [(150, 3, 0.35, 0.09), *(pytest.param(*x, marks=pytest.mark.slow) for x in SLOW)],
)
def test_several_arms_with_holms_correction(n_trials, n_runs, spread, most):
    chance = np.random.default_rng(13)
    alarms = []
    for _ in range(n_trials):
        base, *others = trial(chance, n_runs, spread, "accuracy", others=4)
        ps = [method_difference(base, other).p for other in others]
        alarms.append((min(ps) < 0.05, min(holm_adjusted(ps)) < 0.05))
    before, after = np.mean(alarms, axis=0)
    print(f"\n{n_runs} runs, spread {spread}: {before:.3f}, corrected {after:.3f}")
    assert before > after or n_trials > 150
    assert after <= most


def test_three_unpaired_runs_show_what_they_can():
    """Behrens and Fisher's integral rejects 1.5% of equal methods, and finds 50%."""
    equal, better = (
        simulate(Setting(False, 3, (1.5, 1.5), points), 200, seed=1)
        for points in (0.0, 8.0)
    )
    assert 0.025 <= equal["significant"] <= 0.06
    assert 0.93 <= equal["coverage"] <= 0.975
    assert better["significant"] >= 0.7


def power(seed, n_trials, *cell, **more):
    """Return the differences of pairs, and the share of them that is significant."""
    chance = np.random.default_rng(seed)
    pairs = [trial(chance, *cell, **more) for _ in range(n_trials)]
    differences = [method_difference(*pair) for pair in pairs]
    share = np.mean([each.p < 0.05 for each in differences])
    return np.mean([each.mean for each in differences]), share


def test_power():
    cell = (5, 0.085, "accuracy", 5000)
    mean, share = power(8, 30, *cell, shift=0.265, n_draws=50)
    assert mean == pytest.approx(0.03, abs=0.005)
    assert share >= 0.8


@pytest.mark.slow
@pytest.mark.parametrize("n_docs", [500, 2000, 10_000])
@pytest.mark.parametrize("n_runs", [3, 5, 10])
@pytest.mark.parametrize(("points", "shift"), [(1, 0.085), (3, 0.265)])
def test_the_power_of_more_runs_and_texts(points, shift, n_runs, n_docs):
    """What the table of power in the documentation is made of."""
    mean, share = power(12, 300, n_runs, 0.085, "accuracy", n_docs, shift=shift)
    print(f"\n{points} points, {n_runs} runs, {n_docs} texts: shown in {share:.0%}")
    assert mean == pytest.approx(points / 100, abs=0.003)


@pytest.mark.parametrize(("n_texts", "least"), [(2, 0.5), (3, 0.25), (6, 0.03125)])
def test_a_few_texts_that_agree_prove_little(n_texts, least):
    right, wrong = np.ones(n_texts), np.zeros(n_texts)
    scores = resample({"base": [wrong] * 2, "other": [right] * 2}, np.mean)
    both = [arm._replace(seeds=(0, 1)) for arm in scores.values()]
    assert models_difference(*both).p == method_difference(*both).p == least
