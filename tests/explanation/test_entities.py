"""Why tokens have their tags: against torch's gradients, and the model itself."""

import json

import numpy as np
import pytest
import spacy
import torch
from spacy.tokens import Span
from spacy.training import Example

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import SpanftError
from spacy_spanft.explanation import (
    EntityExplanation,
    Explanation,
    SpanExplanation,
    explain,
    explain_pipe,
    phrases,
)
from spacy_spanft.explanation.entities import explain_entities
from spacy_spanft.ml.alignment import get_spans, lengths_of_pieces
from spacy_spanft.ml.bilou import tag_names

from ..commands import run
from ..ml.test_textcat import CNN, TOKENS, span_model
from ..tiny import LISTENER, save_bert, transformer_config
from .test_explanation import gradients, numbers, shake

NGRAMS = {"new york": 3, "united states of america": 2, "good film in": 1}
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
    return {"@architectures": name, "tok2vec": tok2vec, "token_pooling": first} | (
        settings
    )


MODELS = {
    "baseline": LISTENER,
    "baseline-tokens": TOKENS,
    "spans": over_spans(),
    "spans-alone": over_spans(keep_tokens=False),
    "text": over_spans(segmentation="none", kernel_size=4),
    "text-alone": over_spans(segmentation="none", keep_tokens=False),
    "spans-tokens": over_spans(TOKENS, kernel_size=2),
    "beside": over_spans(version="v2"),
    "beside-alone": over_spans(version="v2", keep_tokens=False, kernel_size=4),
    "beside-tokens": over_spans(TOKENS, version="v2"),
    "beside-text": over_spans(version="v2", segmentation="none"),
}


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save_bert(tmp_path_factory.mktemp("bert"))


def make(bert, tok2vec, steps, **settings):
    """Make a pipeline whose windows are small, so that they overlap."""
    spacy.util.fix_random_seed(0)
    model = {"@architectures": "spacy-spanft.BilouTagger.v1", "tok2vec": tok2vec}
    config = {
        "nlp": {"lang": "en", "pipeline": ["transformer", "span_segmenter", "ner"]},
        "components": {
            "transformer": transformer_config(bert, 6, 4),
            "span_segmenter": {"factory": "span_segmenter"},
            "ner": {"factory": "bilou_ner", "model": model, **settings},
        },
    }
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    nlp.get_pipe("span_segmenter").initialize(dictionary=NgramDictionary(NGRAMS))
    examples = [
        Example.from_dict(nlp.make_doc(text), {"entities": entities})
        for text, entities in TRAIN
    ]
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.005
    for _ in range(steps):
        nlp.update(examples, sgd=optimizer, annotates=["span_segmenter"])
    if not steps:
        shake(nlp.get_pipe("ner").model)
    return nlp


@pytest.fixture(scope="module", params=MODELS)
def name(request):
    return request.param


@pytest.fixture(scope="module", params=[0, 60], ids=["random", "trained"])
def nlp(bert, name, request):
    return make(bert, MODELS[name], request.param)


@pytest.fixture(scope="module")
def trained(bert):
    return make(bert, MODELS["spans"], 60)


def seen_by(layer, predict):
    """Get what goes into a layer."""
    seen = []
    forward = layer._func
    layer._func = lambda layer, X, is_train: (
        seen.append(X),
        forward(layer, X, is_train),
    )[1]
    try:
        predict()
    finally:
        layer._func = forward
    (X,) = seen
    return X


def node_of(nlp, name):
    nodes = nlp.get_pipe("ner").model.walk()
    return next((node for node in nodes if node.name == name), None)


def pieces_of(nlp, doc):
    """Say from where to where the window of each token may go."""
    layer = node_of(nlp, "span_tokens")
    if layer.attrs["spans_key"] is None:
        return [(0, len(doc))] * len(doc)
    bounds = [(i, i + 1) for i in range(len(doc))]
    for span in doc.spans["ngrams"]:
        bounds[span.start : span.end] = [(span.start, span.end)] * len(span)
    return bounds


def reference(nlp, doc):
    """Multiply the gradient of each tag of each token with each token.

    RETURNS: The logits (n, n_tags), and the shares (n, n_tags, n), the last of which
        are the tokens that add something.
    """
    model = nlp.get_pipe("ner").model
    output = model.get_ref("output_layer")
    window = node_of(nlp, "span_window")
    V, c = (torch.tensor(output.get_param(name)) for name in ("W", "b"))
    if window is None:
        seen = seen_by(output, lambda: model.predict([doc]))
        tokens = torch.tensor(seen)

        def logits(tokens):
            return tokens @ V.T + c
    else:
        seen = seen_by(window, lambda: model.predict([doc]))
        tokens = torch.tensor(seen.dataXd)
        W, b = (torch.tensor(window.get_param(name)) for name in ("W", "b"))
        bounds = pieces_of(nlp, doc)
        keep, pooled = (
            node_of(nlp, "span_tokens").attrs[name]
            for name in ("keep_tokens", "pooled_key")
        )

        def logits(tokens):
            rows = []
            for i, (begin, end) in enumerate(bounds):
                total = b
                for place in range(len(W)):
                    j = i + place - len(W) // 2
                    if begin <= j < end:
                        total = total + W[place] @ tokens[j]
                rows.append(torch.relu(total))
            views = [tokens, torch.stack(rows)] if keep else [torch.stack(rows)]
            if pooled:
                spans = lengths_of_pieces(get_spans(doc, pooled), len(doc)).tolist()
                maxima = [p.max(dim=0).values for p in torch.split(views[-1], spans)]
                views.append(
                    torch.repeat_interleave(
                        torch.stack(maxima), torch.tensor(spans), dim=0
                    )
                )
            return torch.cat(views, dim=1) @ V.T + c

    slopes = torch.autograd.functional.jacobian(logits, tokens)
    shares = (slopes * tokens).sum(dim=-1)
    return logits(tokens).numpy(), shares.numpy()


def dense(found):
    """Put what is added into a table: to which token's tags, which tag, by which."""
    n_tokens, n_tags = found.bias.shape
    table = np.zeros((n_tokens, n_tags, n_tokens))
    for source, target, added in zip(
        found.sources, found.targets, found.added, strict=True
    ):
        table[target, :, source] += added
    return table


def test_they_add_up_to_the_models_own_scores(nlp):
    found = list(explain_pipe(nlp, TEXTS, batch_size=3))
    docs = list(nlp.pipe(TEXTS))
    model = nlp.get_pipe("ner").model
    output = model.get_ref("output_layer")
    seen = seen_by(output, lambda: model.predict(docs))
    expected = seen @ output.get_param("W").T + output.get_param("b")
    logits = np.concatenate([one.found.logits for one in found])
    np.testing.assert_allclose(logits, expected, atol=1e-4)
    for one, doc, shares in zip(found, docs, model.predict(docs), strict=True):
        assert one.doc.text == doc.text
        assert [str(e) for e in one.spans] == [str(e) for e in doc.ents]
        assert one.found.bias.shape == shares.shape == one.found.logits.shape
        odds = np.exp(one.found.logits)
        np.testing.assert_allclose(odds / odds.sum(1, keepdims=True), shares, atol=1e-4)


def test_shares_are_gradients_times_tokens(nlp):
    n_neighbors = 0
    for one in explain_pipe(nlp, TEXTS, batch_size=3):
        if not len(one.doc):
            assert not len(one.found.added)
            assert one.tags == []
            continue
        logits, shares = reference(nlp, one.doc)
        table = dense(one.found)
        np.testing.assert_allclose(table, shares, atol=1e-4)
        bias = logits - shares.sum(axis=-1)
        np.testing.assert_allclose(one.found.bias, bias, atol=1e-4)
        n_neighbors += (np.abs(shares).sum(axis=1) > 1e-3).sum() - len(one.doc)
    has_windows = node_of(nlp, "span_window") is not None
    assert (n_neighbors > 0) == has_windows


def test_an_entity_is_the_sum_of_its_tokens(trained):
    n_long = 0
    for one in explain_pipe(trained, TEXTS):
        names = tag_names(one.labels)
        assert names == ["O", *(f"{k}-{x}" for x in ("ART", "GPE") for k in "BILU")]
        table = dense(one.found)
        for ent, gold in zip(one.spans, one.doc.ents, strict=True):
            assert ent.label_ == gold.label_
            reasons = one.of(ent)
            tags = one.tags[ent.start : ent.end]
            other = "GPE" if ent.label_ == "ART" else "ART"
            rival = [tag.replace(ent.label_, other) for tag in tags]
            for found, against in ((reasons, "O"), (one.of(ent, against=other), rival)):
                total = np.zeros(len(one.doc))
                own = np.zeros(len(one.doc))
                for i, tag in enumerate(tags, ent.start):
                    less = "O" if against == "O" else against[i - ent.start]
                    row = table[i, names.index(tag)] - table[i, names.index(less)]
                    total += row
                    own[i] += row[i]
                added = np.zeros(len(one.doc))
                for (part, x), mine in zip(found.parts, found.own, strict=True):
                    added[part.start] = x
                    assert part.text == one.doc[part.start].text
                    assert mine == pytest.approx(own[part.start], abs=1e-5)
                np.testing.assert_allclose(added, total, atol=1e-5)
                assert found.total == pytest.approx(added.sum() + found.bias, abs=1e-5)
            assert (reasons.label, reasons.against) == (ent.label_, "O")
            assert reasons.span.text == ent.text
            assert reasons.total > 0
            n_long += len(ent) > 2
    assert n_long


def test_a_token_and_the_best_other_tag(trained):
    one = explain(trained, TEXTS[2])
    names = tag_names(one.labels)
    assert one.tags == trained_tags(trained, TEXTS[2])
    for i, tag in enumerate(one.tags):
        reasons = one.of_token(i)
        row = dict(zip(names, one.found.logits[i].tolist(), strict=True))
        assert reasons.label == tag
        rival = max((name for name in names if name != tag), key=row.get)
        assert reasons.against == rival
        assert reasons.total == pytest.approx(row[tag] - row[rival], abs=1e-5)
        alone = one.of_token(i, "B-GPE")
        assert (alone.against, alone.label) == (None, "B-GPE")
        assert alone.total == pytest.approx(row["B-GPE"], abs=1e-5)
        added = sum(x for _, x in alone.parts) + alone.bias
        assert added == pytest.approx(alone.total, abs=1e-5)
        assert one.of_token(i, "O", "L-ART").total == pytest.approx(
            row["O"] - row["L-ART"], abs=1e-5
        )


def trained_tags(nlp, text):
    """Read the tags off the entities, by hand."""
    doc = nlp(text)
    tags = ["O"] * len(doc)
    for ent in doc.ents:
        inside = [f"I-{ent.label_}"] * len(ent)
        inside[0], inside[-1] = f"B-{ent.label_}", f"L-{ent.label_}"
        tags[ent.start : ent.end] = [f"U-{ent.label_}"] if len(ent) == 1 else inside
    assert set(tags) > {"O"}
    return tags


def test_any_span_as_any_label(trained):
    one = explain(trained, TEXTS[3])
    span = one.doc[0:2]
    reasons = one.of(span)
    scores = {x: one.of(span, x, "O").total for x in one.labels}
    assert reasons.label == max(scores, key=scores.get)
    assert one.of(span, "GPE", "ART").total == pytest.approx(
        scores["GPE"] - scores["ART"], abs=1e-5
    )
    assert one.of(span, "O", "ART").total == pytest.approx(-scores["ART"], abs=1e-5)


def test_windows_stay_in_their_span(trained):
    """Pieces and neighbors are those of the segmenter."""
    one = explain(trained, TEXTS[3])
    lengths = lengths_of_pieces(get_spans(one.doc, "ngrams"), len(one.doc))
    piece = np.repeat(np.arange(len(lengths)), lengths)
    assert max(lengths) == 4
    assert (piece[one.found.sources] == piece[one.found.targets]).all()
    assert (np.abs(one.found.sources - one.found.targets) <= 1).all()


def test_probabilities_and_thresholds_stay_what_they_are(bert):
    nlp = make(bert, MODELS["spans"], 20, scores_key="p", threshold=0.3)
    docs = list(nlp.pipe(TEXTS))
    for one, doc in zip(explain_pipe(nlp, TEXTS), docs, strict=True):
        assert [(e.start, e.end, e.label_) for e in one.doc.ents] == [
            (e.start, e.end, e.label_) for e in doc.ents
        ]
        found, scores = (each.spans["p"].attrs["scores"] for each in (one.doc, doc))
        assert found == pytest.approx(scores, abs=1e-4)


def test_entities_that_were_there_are_not_its_own(trained):
    """Another component may have set them: nobody asks why this one did."""
    doc = trained.get_pipe("transformer")(trained.make_doc(TEXTS[2]))
    doc = trained.get_pipe("span_segmenter")(doc)
    doc.ents = [Span(doc, 0, 1, "GPE")]
    one = next(iter(explain_entities(trained.get_pipe("ner"), [doc])))
    assert [ent.text for ent in doc.ents] == ["it", "good film", "new york"]
    assert [ent.text for ent in one.spans] == ["good film", "new york"]
    assert one.tags[0] == "O"


def test_it_changes_nothing(trained):
    model = trained.get_pipe("ner").model
    before = model.to_bytes(), gradients(model)
    list(explain_pipe(trained, TEXTS))
    assert (model.to_bytes(), gradients(model)) == before
    assert list(explain_pipe(trained, ["", ""]))[1].spans == []
    doc = trained.make_doc(TEXTS[2])
    assert explain(trained, doc).spans
    assert not doc.ents


def test_a_doc_that_was_tagged_before(trained):
    """What the component itself found is found again."""
    doc = trained(TEXTS[2])
    before = [(ent.text, ent.label_) for ent in doc.ents]
    assert before
    one = explain(trained, doc)
    assert [(ent.text, ent.label_) for ent in one.spans] == before
    assert one.doc is not doc


def test_the_logits_of_a_label_alone(trained):
    one = explain(trained, TEXTS[2])
    span = one.spans[0]
    both = [one.of(span, label, None) for label in (span.label_, "O")]
    less = one.of(span)
    assert both[0].against is None
    assert both[0].total - both[1].total == pytest.approx(less.total, abs=1e-4)
    tags = [one.of_token(i, one.tags[i]).total for i in range(span.start, span.end)]
    assert both[0].total == pytest.approx(sum(tags), abs=1e-4)


def test_the_component_is_chosen():
    """A classifier before what finds spans, unless another one is named."""
    nlp = spacy.blank("en")
    nlp.add_pipe("span_segmenter").initialize(dictionary=NgramDictionary(NGRAMS))
    nlp.add_pipe("bilou_ner", config={"model": {"tok2vec": TOKENS}}).add_label("X")
    nlp.add_pipe("spancat").add_label("X")
    textcat = nlp.add_pipe("textcat", config={"model": span_model(CNN, CNN, **OWN)})
    for label in "AB":
        textcat.add_label(label)
    nlp.initialize()
    kinds = {"bilou_ner": EntityExplanation, "spancat": SpanExplanation}
    kinds |= {None: Explanation, "textcat": Explanation}
    for name, kind in kinds.items():
        assert type(explain(nlp, "new york", component=name)) is kind
    nlp.remove_pipe("textcat")
    assert type(explain(nlp, "new york")) is EntityExplanation


class TestWrongInput:
    def test_labels_tags_and_spans(self, trained):
        one = explain(trained, TEXTS[0])
        with pytest.raises(SpanftError, match="label is 'X', but must be one of 'ART'"):
            one.of(one.spans[0], "X")
        with pytest.raises(SpanftError, match="against is 'GPE', but must be one of"):
            one.of(one.spans[0], "GPE", "GPE")
        with pytest.raises(SpanftError, match="label is 'GPE', but must be one of 'O'"):
            one.of_token(0, "GPE")
        with pytest.raises(SpanftError, match="i is 4, but must be from 0 to less"):
            one.of_token(4)
        assert one.of_token(np.int64(1)) == one.of_token(1)  # such as argmax gives
        for i in ("a", None, 1.0, True):
            with pytest.raises(SpanftError, match=f"i is {i!r}, but must be from 0"):
                one.of_token(i)
        with pytest.raises(SpanftError, match=r"span is .* of one token or more"):
            one.of(one.doc[1:1])
        with pytest.raises(SpanftError, match="explanation's own doc"):
            one.of(trained(TEXTS[0])[0:2])

        with pytest.raises(SpanftError, match="against is 'O', but must be another"):
            one.of(one.spans[0], "O")

    def test_components(self, trained):
        nlp = spacy.blank("en")
        nlp.add_pipe("ner")
        with pytest.raises(SpanftError, match="No component of this pipeline can be"):
            explain(nlp, "a")
        with pytest.raises(SpanftError, match="'ner' is not a component that can be"):
            explain(nlp, "a", component="ner")
        with pytest.raises(SpanftError, match="This pipeline has: 'ner'"):
            explain(trained, "a", component="transformer")

    def test_another_model(self, trained):
        nlp = spacy.blank("en")
        ner = nlp.add_pipe("bilou_ner", config={"model": {"tok2vec": TOKENS}})
        ner.add_label("X")
        nlp.initialize()
        layers = ner.model.layers[1].layers[0].layers
        other = layers[0].copy()
        other.name = "something"
        layers[0] = other
        with pytest.raises(
            SpanftError, match="to tokens through the layer 'something'"
        ):
            explain(nlp, "a")

    def test_phrases(self, trained):
        with pytest.raises(SpanftError, match="this component labels spans"):
            phrases(explain_pipe(trained, TEXTS))


@pytest.fixture(scope="module")
def saved(trained, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "model"
    trained.to_disk(folder)
    return folder


class TestCommand:
    def test_lists(self, saved, trained):
        done = run("spanft", "explain", saved, TEXTS[2], "was bad")
        text, *blocks, nothing = done.stdout.strip().split("\n\n")
        assert text == repr(TEXTS[2])
        assert nothing == "No entities found in 'was bad'"
        one = explain(trained, TEXTS[2])
        assert len(blocks) == len(one.spans) == 2
        for block, ent in zip(blocks, one.spans, strict=True):
            title, added = numbers(block)
            reasons = one.of(ent)
            assert title == (
                f"{ent.text}: {ent.label_}, not O (difference of logits): "
                f"{reasons.total:+.2f}"
            )
            assert sum(added.values()) == pytest.approx(reasons.total, abs=0.05)
            assert [text.split("  (own")[0] for text in added][-1] == "(bias)"
        assert "film  (own " in blocks[0]
        assert ", as a neighbor " in blocks[0]

    def test_labels(self, saved, trained):
        options = ("--label", "ART", "--against", "GPE")
        done = run("spanft", "explain", saved, TEXTS[0], *options)
        assert done.stdout.startswith("new york: ART, not GPE (difference of logits)")
        done = run("spanft", "explain", saved, TEXTS[2], "--against", "GPE")
        assert "good film: ART, not GPE" in done.stdout
        assert "new york: GPE, not O" in done.stdout
        done = run("spanft", "explain", saved, "was bad", "--label", "X", ok=False)
        assert "label is 'X', but must be one of 'ART', 'GPE'." in done.stderr

        done = run("spanft", "explain", saved, "was bad", "--label", "O", ok=False)
        assert "label is 'O', but must be one of 'ART', 'GPE'" in done.stderr
        done = run("spanft", "explain", saved, TEXTS[0], "-l", "O", "-a", "GPE")
        assert done.stdout.startswith("new york: O, not GPE")
        done = run("spanft", "explain", saved, TEXTS[0], "", TEXTS[2])
        assert done.stdout.startswith(f"'{TEXTS[0]}'\n\nnew york: GPE, not O")
        assert "No text in ''" in done.stdout

    def test_json_and_a_page(self, saved, tmp_path):
        texts = [TEXTS[2], "was bad", "<b>film</b>"]
        options = ("--jsonl", "--html", tmp_path / "page.html")
        done = run("spanft", "explain", saved, *texts, *options)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert [row["text"] for row in rows] == texts
        page = (tmp_path / "page.html").read_text("utf8")
        assert "<b>film" not in page
        assert [len(row["spans"]) for row in rows][:2] == [2, 0]
        for row in rows[0]["spans"]:
            total = sum(part["added"] for part in row["parts"]) + row["bias"]
            assert total == pytest.approx(row["logit"], abs=1e-4)
            assert rows[0]["text"][row["start"] : row["end"]] == row["text"]
            assert f"{row['text']}: {row['label']}, not O" in page
            for part in row["parts"]:
                if abs(part["added"]) >= 0.01:
                    assert f"{part['added']:+.2f}" in page
        assert "No entities found" in page

    def test_phrases(self, saved):
        done = run("spanft", "phrases", saved, TEXTS[0], ok=False)
        assert "this component labels spans" in done.stderr
