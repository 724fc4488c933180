"""Our scores are those of scikit-learn and SciPy, whatever the labels and numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

from spacy_spanft.pipeline import scorers

LABELS = st.lists(st.tuples(*2 * [st.sampled_from("abcd")]), min_size=1, max_size=60)
NUMBERS = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=40)


@given(LABELS)
def test_labels(pairs):
    gold, guess = map(list, zip(*pairs, strict=True))
    actual = scorers.classification_scores(gold, guess, "a")
    truth, answers = ([one == "a" for one in side] for side in (gold, guess))
    assert actual["cats_accuracy"] == pytest.approx(metrics.accuracy_score(gold, guess))
    expected = metrics.f1_score(truth, answers, zero_division=0)
    assert actual["cats_f1"] == pytest.approx(expected)
    if len({*gold, *guess}) > 1:  # about which scikit-learn warns
        expected = metrics.matthews_corrcoef(gold, guess)
        assert actual["cats_matthews"] == pytest.approx(expected, abs=1e-12)


def test_a_single_label_correlates_with_nothing():
    rows = {((0, 0), (0, 0)): 0, ((0, 1), (1, 1)): 0, ((0, 1), (1, 0)): -1}
    for pairs, expected in {**rows, ((0, 0), (1, 1), (2, 2)): 1}.items():
        assert scorers.matthews(np.array(pairs)) == pytest.approx(expected)


@given(PAIRS)
def test_numbers(pairs):
    gold, guess = map(list, zip(*pairs, strict=True))
    actual = scorers.regression_scores(gold, guess)
    if min(gold) == max(gold) or min(guess) == max(guess):
        assert actual == {"cats_pearson": 0.0, "cats_spearman": 0.0}
        return
    spearman = stats.spearmanr(gold, guess).statistic
    assert actual["cats_spearman"] == pytest.approx(spearman, abs=1e-9)
    if np.std(gold) > 1e-3 * np.ptp(np.abs(gold)) and np.std(guess) > 0:
        pearson = stats.pearsonr(gold, guess).statistic
        assert actual["cats_pearson"] == pytest.approx(pearson, abs=1e-9)


def test_numbers_that_differ_in_the_last_digit():
    guess = [0.5, np.nextafter(0.5, 1), np.nextafter(0.5, 1)]
    actual = scorers.regression_scores([0, 1, 1], guess)
    assert actual["cats_pearson"] == pytest.approx(1)
