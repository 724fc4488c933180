"""Our scores are those of scikit-learn and SciPy; and what learns scores of texts."""

import pickle

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics
from spacy.training import Example

from spacy_spanft.errors import SpanftError
from spacy_spanft.pipeline import scorers

from ..ml.test_textcat import CLS, TOKENS

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


def examples_of(nlp, *cats):
    """Make examples of gold labels, and of guesses where there are pairs."""
    examples = []
    for gold, *guess in cats:
        examples.append(Example.from_dict(nlp.make_doc("a"), {"cats": gold}))
        examples[-1].predicted.cats = dict(*guess)
    return examples


def test_the_classification_scorer_adds_to_spacys_own(nlp):
    first = {"a": 1.0, "b": 0.0}, {"a": 0.9, "b": 0.1}
    second = {"a": 0.0, "b": 1.0}, {"a": 0.8, "b": 0.2}
    examples = examples_of(nlp, first, second, ({}, {"a": 0.5, "b": 0.5}))
    scorer = scorers.make_classification_scorer("a")
    scores = scorer(iter(examples), labels=("a", "b"), threshold=0.0)
    assert scores["cats_accuracy"] == 0.5
    assert scores["cats_f1"] == pytest.approx(2 / 3)
    assert scores["cats_score_desc"] == "F (a)"
    without = scorers.make_classification_scorer()(examples, labels=["a", "b"])
    assert "cats_f1" not in without
    with pytest.raises(SpanftError, match="the labels are: 'b', 'c'"):
        scorer(examples, labels=("b", "c"))
    assert scorer([], labels=("a", "b"))["cats_accuracy"] is None
    # Labels of another component, and one of the data that nobody predicts.
    more = {"other": 1.0}
    pairs = [(first[0] | more, first[1] | more), ({"new": 1.0}, second[1] | more)]
    scores = scorer(examples_of(nlp, *pairs), labels=("a", "b"))
    assert scores["cats_accuracy"] == 0.5
    # A text without an answer, and one without a right one.
    nothing = {"a": 0.0, "b": 0.0}
    pairs = [first, (first[0], nothing), (nothing, first[1])]
    scores = scorer(examples_of(nlp, *pairs), labels=("a", "b"))
    assert scores["cats_accuracy"] == 0.5
    pickle.dumps(scorer)


def test_the_regression_scorer(nlp):
    gold, guess = np.random.default_rng(0).random((2, 20))
    pairs = zip(gold, guess, strict=True)
    examples = examples_of(nlp, *(({"score": a}, {"score": b}) for a, b in pairs))
    scorer = scorers.make_regression_scorer()
    expected = scorers.regression_scores(list(gold), list(guess))
    assert scorer(examples) == pytest.approx(expected)
    assert scorer(examples[:1]) == {"cats_pearson": None, "cats_spearman": None}
    for example in examples:
        for doc in (example.reference, example.predicted):
            doc.cats = {"stars": doc.cats["score"]}
    assert scorer(examples, labels=("stars",)) == pytest.approx(expected)


def regressor(**config):
    nlp = spacy.blank("en")
    nlp.add_pipe("text_regressor", config=config)
    return nlp


def test_gradient_of_the_regressor_is_taken_in_the_unit_range():
    nlp = regressor(low=1, high=5)
    examples = examples_of(nlp, [{"score": 1.0}], [{"score": 4.0}], [{}])
    nlp.initialize(lambda: examples)
    guess = np.array([[0.25], [0.5], [0.5]], "f")
    _, gradient = nlp.get_pipe("text_regressor").get_loss(examples, guess)
    np.testing.assert_allclose(gradient, [[0.25], [-0.25], [0.0]])


def test_scores_that_cannot_be_learned():
    nlp = regressor(low=0, high=5)
    for cats, expected in (
        ({"score": 5.5}, r"between low = 0.* found 5.5 at 'a'"),
        ({"points": 1.0}, "there are: points"),
    ):
        examples = examples_of(nlp, [cats])
        with pytest.raises(SpanftError, match=expected):
            nlp.initialize(lambda examples=examples: examples)
    with pytest.raises(SpanftError, match="above low"):
        regressor(low=1, high=1)
    with pytest.raises(SpanftError, match="'other', but must be 'score'"):
        nlp.get_pipe("text_regressor").add_label("other")
    with pytest.raises(SpanftError, match="exclusive_classes = false"):
        regressor(model={**CLS, "tok2vec": TOKENS})
