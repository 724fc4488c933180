"""Scorers against the formulas, and the regressor that learns scores."""

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.training import Example

from spacy_spanft.errors import SpanftError
from spacy_spanft.pipeline.scorers import (
    classification_scores,
    make_classification_scorer,
    make_regression_scorer,
    regression_scores,
)

LABELS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30)


@given(pairs=LABELS)
def test_classification(pairs):
    gold, guess = ([str(int(x)) for x in side] for side in zip(*pairs, strict=True))
    tp, tn, fp, fn = (
        sum(pair == kind for pair in pairs) for kind in ((1, 1), (0, 0), (0, 1), (1, 0))
    )
    scores = classification_scores(gold, guess, "1")
    assert scores["cats_accuracy"] == pytest.approx((tp + tn) / len(pairs))
    f1 = 2 * tp / (2 * tp + fp + fn) if tp else 0.0
    assert scores["cats_f1"] == pytest.approx(f1)
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    matthews = (tp * tn - fp * fn) / product**0.5 if product else 0.0
    assert scores["cats_matthews"] == pytest.approx(matthews)


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
    scorer = make_classification_scorer("a")
    scores = scorer(iter(examples), labels=("a", "b"), threshold=0.0)
    assert scores["cats_accuracy"] == 0.5
    assert scores["cats_f1"] == pytest.approx(2 / 3)
    assert scores["cats_score_desc"] == "F (a)"
    without = make_classification_scorer()(examples, labels=["a", "b"])
    assert "cats_f1" not in without
    with pytest.raises(SpanftError, match="the labels are: 'b', 'c'"):
        scorer(examples, labels=("b", "c"))
    assert scorer([], labels=("a", "b"))["cats_accuracy"] is None


def test_regression(nlp):
    random = np.random.default_rng(0)
    gold, guess = random.random(20), random.random(20)
    scores = regression_scores(list(gold), list(guess))
    assert scores["cats_pearson"] == pytest.approx(np.corrcoef(gold, guess)[0, 1])
    ranks = [np.argsort(np.argsort(side)) for side in (gold, guess)]
    assert scores["cats_spearman"] == pytest.approx(np.corrcoef(*ranks)[0, 1])
    examples = scored(nlp, [{"score": g} for g in gold], [{"score": g} for g in guess])
    scorer = make_regression_scorer()
    assert scorer(examples) == pytest.approx(scores)
    assert scorer(examples[:1]) == {"cats_pearson": None, "cats_spearman": None}


def test_correlations_of_the_same_all_over():
    scores = regression_scores([0.1, 0.2], [0.5, 0.5])
    assert scores == {"cats_pearson": 0.0, "cats_spearman": 0.0}
    near = regression_scores([1, 2], [1, 1 + 1e-15])
    assert np.isfinite(list(near.values())).all()


class TestRegressor:
    """Scores in their own range."""

    def make(self, **config):
        nlp = spacy.blank("en")
        nlp.add_pipe("text_regressor", config=config)
        return nlp

    def examples(self, nlp, scores):
        return [
            Example.from_dict(nlp.make_doc(text), {"cats": cats})
            for text, cats in scores.items()
        ]

    def test_learns_saves_and_predicts_the_same(self, tmp_path):
        spacy.util.fix_random_seed(0)
        nlp = self.make(low=-10, high=10)
        scores = {"very bad": -10.0, "bad": -5.0, "so so": 0.0, "good": 2.5}
        scores["very good"] = 10.0
        cats = {text: {"score": score} for text, score in scores.items()}
        examples = self.examples(nlp, {**cats, "unknown": {}})
        optimizer = nlp.initialize(lambda: examples)
        for _ in range(400):
            nlp.update(examples, sgd=optimizer)
        assert -10 <= nlp("unknown").cats["score"] <= 10
        for text, score in scores.items():
            assert nlp(text).cats["score"] == pytest.approx(score, abs=1)
        evaluated = nlp.evaluate(examples)
        assert evaluated["cats_pearson"] > 0.99
        assert evaluated["cats_spearman"] == pytest.approx(1.0)
        nlp.to_disk(tmp_path)
        again = spacy.load(tmp_path)
        assert again("good").cats == nlp("good").cats
        assert again.get_pipe("text_regressor").labels == ("score",)

    def test_gradient_is_taken_in_the_unit_range(self):
        nlp = self.make(low=1, high=5)
        component = nlp.get_pipe("text_regressor")
        cats = {"a": {"score": 1.0}, "b": {"score": 4.0}, "c": {}}
        examples = self.examples(nlp, cats)
        nlp.initialize(lambda: examples)
        guess = np.array([[0.25], [0.5], [0.5]], "f")
        _, gradient = component.get_loss(examples, guess)
        np.testing.assert_allclose(gradient, [[0.25], [-0.25], [0.0]])

    def test_out_of_range(self):
        nlp = self.make(low=0, high=5)
        examples = self.examples(nlp, {"a": {"score": 3.0}, "b": {"score": 5.5}})
        with pytest.raises(SpanftError, match=r"between low = 0.* found 5.5 at 'b'"):
            nlp.initialize(lambda: examples)

    def test_no_scores(self):
        nlp = self.make()
        examples = self.examples(nlp, {"a": {"points": 1.0}})
        with pytest.raises(SpanftError, match="there are: points"):
            nlp.initialize(lambda: examples)
        other = self.make(label="points")
        other.initialize(lambda: examples)
        assert set(other("a").cats) == {"points"}

    def test_exclusive_classes(self):
        tok2vec = {
            "@architectures": "spacy.HashEmbedCNN.v2",
            **{"width": 8, "depth": 1, "embed_size": 9, "window_size": 1},
            **{"maxout_pieces": 2, "subword_features": True},
            "pretrained_vectors": None,
        }
        model = {"@architectures": "spacy-spanft.ClsTextCat.v1", "tok2vec": tok2vec}
        with pytest.raises(SpanftError, match="exclusive_classes = false"):
            self.make(model={**model, "exclusive_classes": True})

    @pytest.mark.parametrize(("low", "high"), [(5, 1), (1, 1)])
    def test_bad_range(self, low, high):
        with pytest.raises(SpanftError, match="below the second"):
            self.make(low=low, high=high)
