"""Why tokens have their tags: against the gradients, and the scores, of the model."""

import json
from itertools import product

import numpy as np
import pytest
import spacy
from spacy.tokens import Span
from spacy.training import Example

from spacy_spanft.errors import SpanftError
from spacy_spanft.explanation import explain, explain_pipe
from spacy_spanft.explanation.span_scores import explain_entities
from spacy_spanft.ml.bilou import tag_names

from ..commands import run
from ..ml.test_textcat import CNN, TOKENS, span_model
from ..tiny import LISTENER, make_pipeline, train, transformer_config
from .test_explanation import inputs_of, numbers, shake, total_of

NGRAMS = "new york", "united states of america", "good film in"
TRAIN = [
    ("new york was bad", [(0, 8, "GPE")]),
    ("", []),
    ("it was a  good film in new york !", [(23, 31, "GPE"), (10, 19, "ART")]),
    ("the united states of america was good", [(4, 28, "GPE")]),
    ("film", [(0, 4, "ART")]),
]
TEXTS = [text for text, _ in TRAIN]

OWN = {"tok2vec": TOKENS, "use_cls": False}


def over_spans(tok2vec=LISTENER, version="v1", **settings):
    first = {"@architectures": "spacy-spanft.FirstPooling.v1"}
    name = f"spacy-spanft.SpanTok2Vec.{version}"
    model = {"@architectures": name, "tok2vec": tok2vec, "token_pooling": first}
    return {**model, **settings}


MODELS = {
    "baseline": LISTENER,
    "spans": over_spans(),
    "text-alone": over_spans(segmentation="none", keep_tokens=False, kernel_size=4),
    "spans-tokens": over_spans(TOKENS, kernel_size=2),
    "beside": over_spans(version="v2"),
}


def make_trained(bert, name, component, ngrams, golds, steps):
    """Train a component over an encoder with small windows, so that they overlap."""
    components = {"transformer": transformer_config(bert, 6, 4), "span_segmenter": {}}
    nlp = make_pipeline({**components, name: component}, ngrams)
    examples = [Example.from_dict(nlp.make_doc(text), gold) for text, gold in golds]
    train(nlp, examples, steps, rate=0.005)
    if not steps:
        shake(nlp.get_pipe(name).model)
    return nlp


def make(bert, tok2vec, steps):
    model = {"@architectures": "spacy-spanft.BilouTagger.v1", "tok2vec": tok2vec}
    component = {"factory": "bilou_ner", "model": model}
    golds = [(text, {"entities": entities}) for text, entities in TRAIN]
    return make_trained(bert, "ner", component, NGRAMS, golds, steps)


@pytest.fixture(scope="module")
def trained(bert):
    return make(bert, MODELS["spans"], 40)


@pytest.fixture(scope="module", params=[*MODELS, "trained"])
def nlp(bert, request):
    name = request.param
    if name == "trained":
        return request.getfixturevalue("trained")
    return make(bert, MODELS[name], 0)


def node_of(nlp, name):
    nodes = nlp.get_pipe("ner").model.walk()
    return next((node for node in nodes if node.name == name), None)


def shares_of_tags(nlp, doc):
    """Multiply the gradient of each tag of each token with each token: (n, tags, n)."""
    model = nlp.get_pipe("ner").model
    output, layer = model.get_ref("output_layer"), node_of(nlp, "span_tokens")
    W = output.get_param("W")
    shares = np.zeros((len(doc), len(W), len(doc)))
    if layer is None:
        tokens = inputs_of(output, lambda: model.predict([doc]))
        shares[range(len(doc)), :, range(len(doc))] = tokens @ W.T
        return shares
    X = inputs_of(layer, lambda: model.predict([doc]))
    (Y,), backprop = layer(X, is_train=True)
    owners = np.repeat(np.arange(len(doc)), X.encodings[0].n_rows)
    for i, tag in product(range(len(doc)), range(len(W))):
        dY = np.zeros_like(Y)
        dY[i] = W[tag]
        added = (backprop([dY]) * X.vectors).sum(axis=1)[X.encodings[0].rows]
        shares[i, tag] = np.bincount(owners, added, len(doc))
    return shares


def tags_of(label, n_tokens):
    if label == "O":
        return ["O"] * n_tokens
    kinds = "U" if n_tokens == 1 else "B" + "I" * (n_tokens - 2) + "L"
    return [f"{kind}-{label}" for kind in kinds]


def spans_of(doc):
    n = len(doc)
    return [doc[i:j] for i in range(n) for j in range(i + 1, min(i + 4, n + 1))]


def test_spans_add_up_to_the_models_own_scores_by_gradients_times_tokens(nlp):
    model = nlp.get_pipe("ner").model
    output = model.get_ref("output_layer")
    names = tag_names(nlp.get_pipe("ner").labels)
    docs = list(nlp.pipe(TEXTS))
    n_neighbors = 0
    explanations = explain_pipe(nlp, TEXTS, batch_size=3)
    for explained, doc in zip(explanations, docs, strict=True):
        assert [str(ent) for ent in explained.spans] == [str(ent) for ent in doc.ents]
        assert explained.labels == ("ART", "GPE", "O")
        if not len(doc):
            continue
        X = inputs_of(output, lambda doc=doc: model.predict([doc]))
        own_logits = X @ output.get_param("W").T + output.get_param("b")
        of_tags = shares_of_tags(nlp, explained.doc)
        for span, label in product(spans_of(explained.doc), explained.labels):
            rows = range(span.start, span.end)
            columns = [names.index(tag) for tag in tags_of(label, len(span))]
            total = own_logits[rows, columns].sum()
            shares = of_tags[rows, columns].sum(axis=0)
            reasons = explained.of(label, span=span)
            assert reasons.total == pytest.approx(total, abs=1e-4)
            assert total_of(reasons) == pytest.approx(total, abs=1e-4)
            added = np.zeros(len(explained.doc))
            for part, x in reasons.parts:
                assert part.text == explained.doc[part.start].text
                added[part.start] = x
            np.testing.assert_allclose(added, shares, atol=1e-4)
            n_neighbors += (np.abs(added) > 1e-3).sum() > len(span)
    assert (n_neighbors > 0) == (node_of(nlp, "span_window") is not None)


def test_an_entity_is_explained_against_its_rival(trained):
    n_long = 0
    for explained in explain_pipe(trained, TEXTS):
        expected = []
        for ent in explained.spans:
            assert explained.of(span=ent).label == ent.label_
            labels = explained.labels
            totals = {label: explained.of(label, span=ent).total for label in labels}
            best = totals.pop(ent.label_)
            rival = explained.rival(span=ent)
            assert rival == max(totals, key=totals.get)
            reasons = explained.of(against=rival, span=ent)
            assert reasons.total == pytest.approx(best - totals[rival], abs=1e-4)
            assert reasons.total > 0
            assert reasons.span.text == ent.text
            expected.append(reasons)
            n_long += len(ent) > 2
        assert explained.reasons() == expected
    assert n_long


def test_probabilities_and_thresholds_stay_what_they_are(trained, monkeypatch):
    nlp, ner = trained, trained.get_pipe("ner")
    monkeypatch.setattr(ner, "scores_key", "p")
    monkeypatch.setattr(ner, "threshold", 0.9)
    for explained, doc in zip(explain_pipe(nlp, TEXTS), nlp.pipe(TEXTS), strict=True):
        assert explained.doc.to_json()["ents"] == doc.to_json()["ents"]
        scores = explained.doc.spans["p"].attrs["scores"]
        assert scores == pytest.approx(doc.spans["p"].attrs["scores"], abs=1e-4)


def test_entities_of_other_components_are_not_explained(trained):
    doc = trained.get_pipe("transformer")(trained.make_doc(TEXTS[2]))
    doc = trained.get_pipe("span_segmenter")(doc)
    doc.ents = [Span(doc, 0, 1, "GPE")]
    explained = next(iter(explain_entities(trained.get_pipe("ner"), [doc], None)))
    assert [ent.text for ent in doc.ents] == ["it", "good film", "new york"]
    assert [ent.text for ent in explained.spans] == ["good film", "new york"]


def test_the_component_is_chosen():
    """A classifier before what finds spans, unless another one is named."""
    components = {"bilou_ner": {"model": {"tok2vec": TOKENS}}, "spancat": {}}
    components["textcat"] = {"model": span_model(CNN, CNN, **OWN)}
    nlp = make_pipeline({"span_segmenter": {}, **components}, NGRAMS)
    for name in components:
        for label in "AB" if name == "textcat" else "X":
            nlp.get_pipe(name).add_label(label)
    nlp.initialize()
    labels = {None: ("A", "B"), "bilou_ner": ("X", "O"), "spancat": ("X",)}
    for name, expected in labels.items():
        assert explain(nlp, "new york", component=name).labels == expected


def test_a_component_that_cannot_be_explained_is_an_error(trained):
    nlp = spacy.blank("en")
    nlp.add_pipe("ner")
    with pytest.raises(SpanftError, match=r"This pipeline cannot .* 'ner'; .* none"):
        explain(nlp, "a")
    with pytest.raises(
        SpanftError, match=r"'transformer' cannot be .* explainable: 'ne"
    ):
        explain(trained, "a", component="transformer")
    with pytest.raises(SpanftError, match="Name a span if a component labels"):
        explain(trained, TEXTS[0]).of()


def test_the_command_explains_each_entity(trained, tmp_path):
    trained.to_disk(tmp_path / "model")
    texts = [TEXTS[2], "was bad"]
    command = ("spanft", "explain", tmp_path / "model", *texts)
    text, *blocks, nothing = run(*command).stdout.strip().split("\n\n")
    assert (text, nothing) == (repr(TEXTS[2]), "No entities or spans in 'was bad'")
    done = run(*command, "--jsonl")
    row, other = map(json.loads, done.stdout.splitlines())
    assert other == {"text": "was bad", "spans": []}
    expected = explain(trained, TEXTS[2]).reasons()
    for block, span, reasons in zip(blocks, row["spans"], expected, strict=True):
        title, added = numbers(block)
        names = f"{reasons.span.text}: {reasons.label}, not {reasons.against}"
        assert title == f"{names} (difference of logits): {reasons.total:+.2f}"
        assert sum(added) == pytest.approx(reasons.total, abs=0.05)
        assert texts[0][span["start"] : span["end"]] == reasons.span.text
