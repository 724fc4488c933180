"""Scorers of examples, and the regressor that learns scores."""

import numpy as np
import pytest
import spacy
from spacy.training import Example

from spacy_spanft.errors import SpanftError
from spacy_spanft.pipeline import scorers

from ..ml.test_textcat import CLS, TOKENS


def scored(nlp, golds, guesses):
    examples = []
    for gold, guess in zip(golds, guesses, strict=True):
        example = Example(nlp.make_doc("a"), nlp.make_doc("a"))
        example.reference.cats, example.predicted.cats = gold, guess
        examples.append(example)
    return examples


def test_the_classification_scorer_adds_to_spacys_own(nlp):
    examples = scored(
        nlp,
        [{"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 1.0}, {}],
        [{"a": 0.9, "b": 0.1}, {"a": 0.8, "b": 0.2}, {"a": 0.5, "b": 0.5}],
    )
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


def test_the_regression_scorer(nlp):
    gold, guess = np.random.default_rng(0).random((2, 20))
    examples = scored(nlp, [{"score": g} for g in gold], [{"score": g} for g in guess])
    scorer = scorers.make_regression_scorer()
    expected = scorers.regression_scores(list(gold), list(guess))
    assert scorer(examples) == pytest.approx(expected)
    assert scorer(examples[:1]) == {"cats_pearson": None, "cats_spearman": None}


def regressor(**config):
    nlp = spacy.blank("en")
    nlp.add_pipe("text_regressor", config=config)
    return nlp


def examples_of(nlp, **cats):
    make = Example.from_dict
    return [make(nlp.make_doc(text), {"cats": cats[text]}) for text in cats]


def test_gradient_of_the_regressor_is_taken_in_the_unit_range():
    nlp = regressor(low=1, high=5)
    examples = examples_of(nlp, a={"score": 1.0}, b={"score": 4.0}, c={})
    nlp.initialize(lambda: examples)
    guess = np.array([[0.25], [0.5], [0.5]], "f")
    _, gradient = nlp.get_pipe("text_regressor").get_loss(examples, guess)
    np.testing.assert_allclose(gradient, [[0.25], [-0.25], [0.0]])


def test_scores_that_cannot_be_learned():
    nlp = regressor(low=0, high=5)
    examples = examples_of(nlp, a={"score": 3.0}, b={"score": 5.5})
    with pytest.raises(SpanftError, match=r"between low = 0.* found 5.5 at 'b'"):
        nlp.initialize(lambda: examples)
    examples = examples_of(nlp, a={"points": 1.0})
    with pytest.raises(SpanftError, match="there are: points"):
        nlp.initialize(lambda: examples)
    with pytest.raises(SpanftError, match="above low"):
        regressor(low=1, high=1)
    with pytest.raises(SpanftError, match="'other', but must be 'score'"):
        nlp.get_pipe("text_regressor").add_label("other")
    with pytest.raises(SpanftError, match="exclusive_classes = false"):
        regressor(model={**CLS, "tok2vec": TOKENS})
