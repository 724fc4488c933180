"""Why spans have their labels: against gradients of plain torch, and the model."""

import numpy as np
import pytest
import torch
from thinc.api import reduce_mean
from thinc.types import Ragged

from spacy_spanft.explanation import explain, explain_pipe
from spacy_spanft.explanation.linear import pull_back

from ..ml.test_textcat import CNN, TOKENS
from ..ml.torch_twins import cnn
from ..tiny import LISTENER
from .test_entities import make_trained, over_spans
from .test_explanation import assert_nothing_changes, inputs_of, total_of

NGRAMS = "new york", "united states of america"
GROUPS = {
    "united airlines holding is in new york": [
        *((0, 15, "ORG"), (0, 23, "ORG"), (30, 38, "LOC"), (30, 33, "ADJ"))
    ],
    "": [],
    "the united states of america": [(4, 28, "LOC"), (21, 28, "LOC")],
    "film": [],
}
TEXTS = [*GROUPS]
MEAN_MAX = {"@layers": "spacy.mean_max_reducer.v1", "hidden_size": 16}
BOUNDARY = {"@layers": "spacy-spanft.BoundaryAttentionReducer.v1", "hidden_size": 12}
OURS = {"@layers": "spacy-spanft.LinearCrossEntropy.v1"}
SPACYS = {"@layers": "spacy.LinearLogistic.v1"}
SOFTMAX = {"@layers": "Softmax.v2"}
MODELS = {
    "windows": (LISTENER, CNN, OURS),
    "mean-max": (TOKENS, MEAN_MAX, SPACYS),
    "boundary": (over_spans(), BOUNDARY, OURS),
    "boundary-softmax": (over_spans(TOKENS), BOUNDARY, SOFTMAX),
}


def make(bert, model, steps):
    tok2vec, reducer, scorer = model
    factory = "spancat_singlelabel" if scorer == SOFTMAX else "spancat"
    ngrams = {"@misc": "spacy.ngram_range_suggester.v1", "min_size": 1, "max_size": 4}
    model = {"tok2vec": tok2vec, "reducer": reducer, "scorer": scorer}
    model["@architectures"] = "spacy-spanft.SpanCategorizer.v1"
    component = {"factory": factory, "model": model, "suggester": ngrams}
    golds = [(text, {"spans": {"sc": group}}) for text, group in GROUPS.items()]
    nlp = make_trained(bert, "spancat", component, NGRAMS, golds, steps)
    if not steps:
        output = output_of(nlp.get_pipe("spancat").model)
        # thinc's Softmax begins with zeros.
        W = np.random.default_rng(1).normal(0, 0.3, output.get_param("W").shape)
        output.set_param("W", W.astype("f"))
    return nlp


def output_of(model):
    return next(node for node in model.get_ref("scorer").walk() if not node.layers)


@pytest.fixture(scope="module")
def trained(bert):
    return make(bert, MODELS["mean-max"], 40)


@pytest.fixture(scope="module", params=[*MODELS, "trained"])
def nlp(bert, request):
    name = request.param
    if name == "trained":
        return request.getfixturevalue("trained")
    return make(bert, MODELS[name], 0)


def params(node):
    return {name: torch.tensor(node.get_param(name)) for name in node.param_names}


def reduced(reducer, tokens):
    """Reduce a span with plain torch; what stays as it is has no gradient."""
    nodes = [node for node in reducer.walk() if node.param_names]
    by_name = {node.name: params(node) for node in nodes}
    if "maxout" in by_name:
        maxout, norm = by_name["maxout"], by_name["layernorm"]
        parts = [tokens[-1], tokens[0], tokens.mean(dim=0), tokens.max(dim=0).values]
        pieces = torch.einsum("opi,i->op", maxout["W"], torch.cat(parts)) + maxout["b"]
        best = pieces.max(dim=1).values
        scale = (best.var(unbiased=False) + 1e-8).rsqrt().detach()
        return (best - best.mean()) * scale * norm["G"] + norm["b"]
    if "span_window" in by_name:
        window = by_name["span_window"]
        return cnn(tokens, [len(tokens)], window["W"], window["b"])[0]
    attention = by_name["attention_sum"]
    first, last = (params(node) for node in nodes if node.name == "feed_forward")

    def feed_forward(vector, of):
        return torch.relu(vector @ of["W"].T + of["b"]) @ of["V"].T + of["c"]

    scores = torch.tanh(tokens @ attention["W"].T + attention["b"]) @ attention["w"]
    weights = torch.softmax(scores, dim=0).detach()
    ends = feed_forward(tokens[0], first), feed_forward(tokens[-1], last)
    return torch.cat([*ends, weights @ tokens])


def scores_of(model, docs, indices):
    linear = output_of(model)
    inputs = inputs_of(linear, lambda: model.predict((docs, indices)))
    return inputs @ linear.get_param("W").T + linear.get_param("b")


def test_all_candidates_add_up_to_the_models_own_scores(nlp):
    pipe = nlp.get_pipe("spancat")
    docs = list(nlp.pipe(TEXTS))
    indices = pipe.suggester(docs, ops=pipe.model.ops)
    logits = iter(scores_of(pipe.model, docs, indices))
    n_spans = 0
    for i, explained in enumerate(explain_pipe(nlp, TEXTS, batch_size=3)):
        assert list(map(str, explained.spans)) == list(map(str, docs[i].spans["sc"]))
        assert explained.doc.to_json()["spans"] == docs[i].to_json()["spans"]
        n_spans += len(explained.spans)
        for start, end in indices[i].dataXd.tolist():
            row = next(logits)
            for label, expected in zip(pipe.labels, row.tolist(), strict=False):
                reasons = explained.of(label, span=explained.doc[start:end])
                assert total_of(reasons) == pytest.approx(expected, abs=1e-4)
                assert reasons.total == pytest.approx(expected, abs=1e-4)
                assert (reasons.label, reasons.against) == (label, None)
    assert next(logits, None) is None
    assert n_spans


def test_shares_are_gradients_times_tokens(nlp):
    pipe = nlp.get_pipe("spancat")
    model, n_labels = pipe.model, len(pipe.labels)
    linear = output_of(model)
    V, c = (torch.tensor(linear.get_param(key)[:n_labels]) for key in ("W", "b"))
    largest = 0.0
    for explained in explain_pipe(nlp, TEXTS, batch_size=3):
        bounds = {(s.start, s.end) for s in explained.spans}
        if len(explained.doc):
            bounds |= {(0, len(explained.doc)), (0, 1)}
            (vectors,) = model.get_ref("tok2vec").predict([explained.doc])
        for start, end in bounds:
            tokens = torch.tensor(np.array(vectors[start:end]))

            def logits(tokens):
                return reduced(model.get_ref("reducer"), tokens) @ V.T + c

            slopes = torch.autograd.functional.jacobian(logits, tokens)
            shares = (slopes * tokens).sum(dim=-1).numpy()
            bias = logits(tokens).numpy() - shares.sum(axis=1)
            largest = max(largest, np.abs(shares).max())
            for i, label in enumerate(pipe.labels):
                reasons = explained.of(label, span=explained.doc[start:end])
                added = [x for _, x in reasons.parts]
                np.testing.assert_allclose(added, shares[i], atol=1e-4)
                assert reasons.bias == pytest.approx(float(bias[i]), abs=1e-4)
                parts = [part.text for part, _ in reasons.parts]
                assert parts == [token.text for token in explained.doc[start:end]]
    assert largest > 1e-2


def test_spans_with_several_labels_have_no_rival(trained):
    explained = explain(trained, TEXTS[0])
    assert {(s.text, s.label_) for s in explained.spans} >= {("new york", "LOC")}
    for reasons, span in zip(explained.reasons(), explained.spans, strict=True):
        assert reasons.label == span.label_
        assert reasons.against is None  # others may be right as well
        assert reasons.total > 0  # more probable than not
    assert {*explained.labels} == {"ADJ", "LOC", "ORG"}
    span = explained.doc[5:7]
    totals = [explained.of(label, span=span).total for label in explained.labels]
    assert explained.of(span=span).total == max(totals)


def test_one_span_of_a_reduction():
    """Broadcast over a single span, an array is contiguous, and cannot be written."""
    layer, tokens = reduce_mean(), np.arange(6, dtype="f").reshape(3, 2)
    X = Ragged(tokens, np.array([3], "i"))
    W = np.broadcast_to(np.array([[[1.0, 2.0]]], "f"), (1, 1, 2))
    added = (pull_back(layer, X, W)[0] * tokens).sum()
    assert added == pytest.approx((layer.predict(X) @ [1.0, 2.0]).item())


def test_it_changes_nothing(trained):
    assert_nothing_changes(trained, "spancat")


def test_one_of_several_labels_is_right(bert):
    """What a softmax makes of all labels alike says nothing of any of them."""
    nlp = make(bert, MODELS["boundary-softmax"], 40)
    output = output_of(nlp.get_pipe("spancat").model)
    assert explain(nlp, TEXTS[0]).spans
    totals = []
    for shift in (0.0, 100.0):
        output.set_param("b", output.get_param("b") + np.float32(shift))
        explained = explain(nlp, TEXTS[0])
        assert explained.is_exclusive
        assert {*explained.labels} == {"ADJ", "LOC", "ORG", "O"}
        assert explained.labels[-1] == "O"
        for span in explained.spans:
            labels = explained.labels
            logits = {label: explained.of(label, span=span).total for label in labels}
            assert explained.rival("O", span) == span.label_
            del logits[span.label_]
            assert explained.rival(span=span) == max(logits, key=logits.get)
        totals.append([reasons.total for reasons in explained.reasons()])
        assert min(totals[-1]) > 0
    np.testing.assert_allclose(*totals, atol=1e-3)
