"""Class weights and label smoothing, against PyTorch and scikit-learn."""

import numpy as np
import pytest
import spacy
import torch
from sklearn.utils.class_weight import compute_class_weight
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry
from spacy.vocab import Vocab
from thinc.api import Logistic, Softmax, chain

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.cross_entropy import label_targets
from spacy_spanft.training.prepare import balanced, prepare_training

from ..tiny import make_pipeline
from .test_textcat import CLS, TOKENS

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(5, 4)).astype("f")
WEIGHTS = [0.5, 3.0, 1.0, 2.0]
SMOOTHING = 0.1
NAMES = dict.fromkeys("ABCD", 1.0)


def test_exclusive_is_pytorchs_cross_entropy():
    gold = [0, 1, 1, 3, 2]
    softmax = Softmax(4, 4)
    softmax.initialize()
    softmax.set_param("W", RANDOM.normal(size=(4, 4)).astype("f"))
    targets = label_targets(True, NAMES, SMOOTHING)
    targets.attrs["weights"] = WEIGHTS
    scores, backprop = chain(softmax, targets)(X, True)
    x = torch.tensor(X, requires_grad=True)
    logits = x @ torch.tensor(softmax.get_param("W")).T
    weight = torch.tensor(WEIGHTS)
    loss = torch.nn.CrossEntropyLoss(weight, reduction="sum", label_smoothing=SMOOTHING)
    loss(logits, torch.tensor(gold)).backward()
    actual = backprop(scores - np.eye(4, dtype="f")[gold])
    np.testing.assert_allclose(actual, x.grad, atol=1e-5)


def test_several_labels_are_pytorchs_squared_error():
    """spaCy's scores learn by that; what holds counts more, as with pos_weight."""
    targets = label_targets(False, NAMES, SMOOTHING)
    targets.attrs["weights"] = WEIGHTS
    scores, backprop = chain(Logistic(), targets)(X, True)
    truths = RANDOM.integers(0, 2, X.shape).astype("f")
    actual = backprop(scores - truths)
    x = torch.tensor(X, requires_grad=True)
    gold, each = torch.tensor(truths), torch.tensor(WEIGHTS)
    counts = torch.where(gold > 0, each, torch.ones(4))
    wanted = gold * (1 - SMOOTHING) + SMOOTHING / 2
    (counts * (x.sigmoid() - wanted) ** 2 / 2).sum().backward()
    np.testing.assert_allclose(actual, x.grad.numpy(), atol=1e-6)


@pytest.mark.parametrize("exclusive", [True, False])
def test_what_is_not_annotated_teaches_nothing(exclusive):
    targets = label_targets(exclusive, None, SMOOTHING)
    scores, backprop = targets(np.full((2, 4), 0.25, "f"), True)
    dY = scores - np.eye(4, dtype="f")[[1, 2]]
    dY[1] = 0.0
    assert backprop(dY).any(axis=1).tolist() == [True, False]


def test_a_label_added_later_counts_once():
    targets = label_targets(True, {"A": 5.0}, 0.0)
    targets.attrs["weights"] = [5.0, 5.0]
    scores, backprop = targets(np.full((1, 3), 1 / 3, "f"), True)
    dY = scores - np.array([[0, 0, 1]], "f")
    np.testing.assert_allclose(backprop(dY), dY, atol=1e-6)


def docs_of(*labels):
    docs = [Doc(Vocab(), words=["word"]) for _ in labels]
    for doc, names in zip(docs, labels, strict=True):
        doc.cats = {name: float(name in names) for name in "ABC"}
    return docs


def test_balanced_is_scikit_learns_or_pos_weight():
    labels = list("AAAAABBBC")
    expected = compute_class_weight("balanced", classes=np.array(list("ABC")), y=labels)
    actual = balanced("ABC", docs_of(*labels), exclusive=True)
    assert list(actual.values()) == pytest.approx(expected)
    # A holds everywhere, D nowhere.
    actual = balanced("ABCD", docs_of("AB", "A", "AC", "A"), exclusive=False)
    assert actual == {"A": 1 / 4, "B": 3.0, "C": 3.0}
    docs = docs_of("B", "A", "A", "A", "A")
    for doc in docs[2:]:  # which say nothing of B
        doc.cats = {"A": 1.0}
    assert balanced("AB", docs, exclusive=False) == {"A": 1 / 4, "B": 1.0}


def make(class_weights=None, label_smoothing=0.0, factory="textcat", label="A"):
    """Make a pipeline over tokens that is prepared as `spacy train` does it."""
    model = {**CLS, "tok2vec": TOKENS, "exclusive_classes": factory == "textcat"}
    model |= {"class_weights": class_weights, "label_smoothing": label_smoothing}
    nlp = make_pipeline({"textcat": {"factory": factory, "model": model}})
    examples = []
    for text, cat in [("good film", "A")] * 6 + [("bad film", "B")] * 2:
        cats = {name: float(name == cat) for name in (label, "B")}
        examples.append(Example.from_dict(nlp.make_doc(text), {"cats": cats}))
    registry.readers("few_of_b", func=lambda: lambda nlp: examples)
    reader = {"@readers": "few_of_b"}
    nlp.config["corpora"] = {"train": reader, "dev": reader}
    nlp.config["training"]["score_weights"] = {"cats_score": 1.0}
    nlp.initialize(lambda: examples)
    prepare_training()(nlp)
    return nlp, examples


def weights_of(nlp):
    layers = nlp.get_pipe("textcat").model.walk()
    return next(x.attrs["weights"] for x in layers if x.name == "label_targets")


def test_the_callback_finds_the_labels(tmp_path):
    nlp, examples = make("balanced", 0.1)
    expected = dict(zip("AB", (8 / 2 / 6, 8 / 2 / 2), strict=True))
    labels = nlp.get_pipe("textcat").labels
    assert weights_of(nlp) == pytest.approx([expected[label] for label in labels])
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert weights_of(again) == weights_of(nlp)
    assert np.isfinite(again.update(examples)["textcat"])
    nlp, _ = make([["B", 4.0]])
    assert weights_of(nlp) == [4.0 if label == "B" else 1.0 for label in labels]


def test_wrong_settings():
    for weights, expected in (
        ({"C": 2.0}, "no label 'C' for its class_weights, but has 'A', 'B'"),
        ({"B": 0.0}, r"class_weights\.B is 0\.0"),
        (["A", 2.0], "has 'A', which must be a pair"),
    ):
        with pytest.raises(SpanftError, match=expected):
            make(weights)
    with pytest.raises(SpanftError, match=r"label_smoothing is 1\.0"):
        make(label_smoothing=1.0)
    with pytest.raises(SpanftError, match="learns a score"):
        make(label_smoothing=0.1, factory="text_regressor", label="score")
