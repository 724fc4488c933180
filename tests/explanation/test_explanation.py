"""Which phrases decided: against the head written out, and the model's own scores."""

import json
import re

import numpy as np
import pytest
from spacy.tokens import Doc
from spacy.training import Example
from thinc.types import Ragged

from spacy_spanft.errors import SpanftError
from spacy_spanft.explanation import Phrase, explain, explain_pipe, phrases
from spacy_spanft.explanation.display import to_html
from spacy_spanft.explanation.text_scores import POOLS, name_parts, pieces_of
from spacy_spanft.ml.alignment import (
    align_pieces,
    encoding_of_wordpieces,
    rows_of_windows,
)
from spacy_spanft.ml.layers.encoder_rows import DocRows

from ..commands import run
from ..ml.test_textcat import (
    ATTENTION,
    CNN,
    MAX,
    MODELS,
    TOKENS,
    examples_for,
    make,
    span_model,
)
from ..tiny import make_pipeline, train

SUM = {"@layers": "reduce_sum.v1"}
TEXTS = [
    "this film is very good .",
    "new york city is a bad and unbelievable city of the united states",
    "",
    "very good film",
    "good",
]
TRACED = {
    **{x: MODELS[x] for x in ("no-segmentation", "capped", "reductions", "tokens")},
    "attention": MODELS["attention-attention"],
    "beside-mean": {**MODELS["cnn-cnn"], "summary": "mean"},
    "beside-unit": {**MODELS["cnn-cnn"], "summary": "unit_mean"},
    "max": span_model(ATTENTION, MAX),
    "sum": span_model(MAX, SUM, use_cls=False),
}


@pytest.fixture(scope="module", params=TRACED)
def nlp(bert, request):
    nlp = make(bert, TRACED[request.param], window=12)
    train(nlp, examples_for(nlp), steps=2, rate=0.02)
    shake(nlp.get_pipe("textcat").model)
    return nlp


@pytest.fixture(scope="module")
def classifier(bert):
    nlp = make(bert, MODELS["cnn-cnn"], window=12)
    return train(nlp, examples_for(nlp), steps=8, rate=0.01)


def shake(model):
    """Let biases be other than zero, and the scores far apart."""
    chance = np.random.default_rng(0)
    for node in model.walk():
        if node.has_param("b") and node.name != "transformer":
            b = node.get_param("b")
            node.set_param("b", b + chance.normal(0, 0.1, b.shape).astype("f"))


def inputs_of(layer, predict):
    inputs = []
    forward = layer._func
    layer._func = lambda model, X, is_train: (
        inputs.append(X) or forward(model, X, is_train)
    )
    try:
        predict()
    finally:
        layer._func = forward
    (X,) = inputs
    return X


def total_of(reasons):
    parts = sum(added for _, added in reasons.parts)
    return parts + reasons.whole_text + reasons.similarity + reasons.bias


def test_they_add_up_to_the_models_own_scores(nlp):
    explanations = list(explain_pipe(nlp, TEXTS, batch_size=2))
    docs = list(nlp.pipe(TEXTS))
    model = nlp.get_pipe("textcat").model
    output = model.get_ref("output_layer")
    X = inputs_of(output, lambda: model.predict(docs))
    logits = X @ output.get_param("W").T + output.get_param("b")
    for explained, doc, expected in zip(explanations, docs, logits, strict=True):
        assert explained.doc.text == doc.text
        assert explained.doc.cats == pytest.approx(doc.cats, abs=1e-5)
        if not len(doc):
            assert list(explained.logits.values()) == [0.0, 0.0]
            assert explained.contributions().parts == []
            continue
        for label, logit in zip("AB", expected.tolist(), strict=True):
            reasons = explained.of(label)
            assert total_of(reasons) == pytest.approx(logit, abs=1e-4)
            assert reasons.total == pytest.approx(logit, abs=1e-4)
            assert explained.logits[label] == pytest.approx(logit, abs=1e-4)


def test_shares_are_slopes(nlp):
    """Where a piece grows by a little, the score does by as much of its share."""
    model = nlp.get_pipe("textcat").model
    W = model.get_ref("output_layer").get_param("W")
    pool = next(node for node in model.walk() if node.name in POOLS)
    (leaf, *_) = (node for node in pool.layers[1].walk() if not node.layers)
    summaries = [node for node in model.walk() if node.name == "doc_summary"]
    for explained in explain_pipe(nlp, TEXTS, batch_size=3):
        if not len(explained.doc):
            continue
        X = model.get_ref("rows").predict([explained.doc])
        pieces, sequence = pieces_of(pool, X)
        rows = sequence.dataXd
        length = np.array([len(rows)], "i")
        made = explained.contributions()
        shares = made.of_parts
        for summary in summaries:
            (vector,) = summary.predict(X)
            W_of_text = W[:, -len(vector) :]
            whole = W_of_text @ vector
            kind = summary.attrs["summary"]
            if X.cls is None or kind != "cls":
                added = of_mean(W_of_text, X, pieces, is_unit=kind == "unit_mean")
                shares, whole = shares - added, whole - added.sum(axis=0)
            np.testing.assert_allclose(made.whole_text, whole, atol=1e-4)
        assert np.abs(shares).max() > 1e-3
        if leaf.name == "attention_sum":  # whose weights stay
            own_W, b, w = (leaf.get_param(name) for name in "Wbw")
            weights = np.exp(np.tanh(rows @ own_W.T + b) @ w)[:, None]
            expected = weights / weights.sum() * rows @ W[:, : rows.shape[1]].T
            np.testing.assert_allclose(shares, expected, atol=1e-4)
            continue
        for i, share in enumerate(shares):
            sides = []
            for factor in (1.0005, 0.9995):
                grown = rows.copy()
                grown[i] *= factor
                pooled = pool.layers[1].predict(Ragged(grown, length))
                sides.append(pooled[0].astype("d") @ W[:, : pooled.shape[1]].T)
            slope = (sides[0] - sides[1]) / 0.001
            np.testing.assert_allclose(share, slope, atol=2e-3)


def of_mean(W, X, pieces, is_unit):
    """Return what the score loses where the rows of each piece weigh a little less."""
    rows = X.vectors[rows_of_windows(X.encodings[0])].astype("d")
    places = {row: i for i, row in enumerate(rows_of_windows(X.encodings[0]).tolist())}
    lost = []
    for piece in np.split(pieces.rows, np.cumsum(pieces.lengths)[:-1]):
        sides = []
        for weight in (1 + 1e-4, 1 - 1e-4):
            weights = np.ones(len(rows))
            weights[[places[row] for row in piece.tolist()]] = weight
            mean = weights @ rows / weights.sum()
            sides.append(W @ (mean / np.linalg.norm(mean) if is_unit else mean))
        lost.append((sides[0] - sides[1]) / 2e-4)
    return np.array(lost)


def test_the_rest_is_spread_by_what_deleting_each_part_takes(nlp):
    """The logits of each shorter text are those of a new Doc of the other tokens."""
    n_several = 0
    for explained in explain_pipe(nlp, TEXTS):
        if not len(explained.doc):
            continue
        label, rival = explained.label, explained.rival()
        reasons, doc = explained.of(label, rival), explained.doc
        named = [part for part, _ in reasons.parts if part.text]
        lost = []
        for part in named:
            left = [*doc[: part.start], *doc[part.end :]]
            words, spaces = [t.text for t in left], [bool(t.whitespace_) for t in left]
            shorter = nlp(Doc(nlp.vocab, words, spaces)).cats
            odds = np.log(shorter[label] / shorter[rival]) if left else 0.0
            lost.append(reasons.total - odds)
        rest = reasons.whole_text + reasons.others
        weights = np.maximum(np.array(lost) * np.sign(rest), 0)
        weights = weights if weights.any() else np.ones(len(lost))
        pairs = zip(reasons.spread, reasons.parts, strict=True)
        spread = [more for more, (part, _) in pairs if part.text]
        expected = rest * weights / weights.sum()
        np.testing.assert_allclose(spread, expected, atol=1e-3)
        shares = sum(share for _, share in reasons.shares)
        assert shares + reasons.bias == pytest.approx(reasons.total, abs=1e-4)
        assert sum(reasons.spread) == pytest.approx(rest, abs=1e-4)
        n_several += (weights > 0).sum() > 1
    assert n_several


def test_parts_are_whole_spans_and_the_tokens_between_them(bert):
    nlp = make(bert, {**MODELS["cnn-cnn"], "max_rows": 1}, window=12)
    train(nlp, examples_for(nlp))
    explained = explain(nlp, "it was a very good film in new york")
    texts = ["it", "was", "a", "very good film", "in", "new york"]
    parts = explained.contributions().parts
    assert len(parts) == len(texts) + 2  # [CLS] and [SEP]
    parts = [part for part in parts if part.text]
    assert [part.text for part in parts] == texts
    assert [explained.doc[part.start : part.end].text for part in parts] == texts


def test_a_part_has_all_tokens_of_its_wordpieces(classifier):
    """[UNK] may be that of several tokens; a token with rows of its own is apart."""
    doc = Doc(classifier.vocab, ["a", "b", "c", "d", "e"], spaces=[False] * 5)
    doc.spans["ngrams"] = []
    #      [CLS], then a b c share row 1, c has row 2 as well, d and e row 3
    rows, n_rows = np.array([1, 1, 1, 2, 3, 3]), np.array([1, 1, 2, 1, 1])
    encoding = encoding_of_wordpieces(rows, n_rows, [4], 4)
    pieces = align_pieces(encoding, np.zeros((0, 2), np.int64))
    X = DocRows([doc], np.zeros((4, 2), "f"), [0, 4], [encoding], None)
    model = classifier.get_pipe("textcat").model
    pool = next(node for node in model.walk() if node.name in POOLS)
    parts = name_parts(X, pieces, pool)
    assert sorted(part.text for part in parts) == ["", "ab", "c", "de"]


def test_one_label_against_another(classifier):
    explained = explain(classifier, TEXTS[0])
    assert explained.label == max(explained.logits, key=explained.logits.get)
    assert {explained.label, explained.rival()} == {"A", "B"}
    assert (explained.rival("A"), explained.rival("B")) == ("B", "A")
    against, a, b = explained.of("A", "B"), explained.of("A"), explained.of("B")
    assert against.total == pytest.approx(a.total - b.total, abs=1e-5)
    for (_, x), (_, y), (_, z) in zip(against.parts, a.parts, b.parts, strict=True):
        assert x == pytest.approx(y - z, abs=1e-5)
    values = [value for _, value in against.strongest(2)]
    assert values == sorted(values, reverse=True)[:2]
    (reasons,) = explained.reasons()
    assert reasons == explained.of(explained.label, explained.rival())
    assert explained.reasons(against=explained.label) == [reasons]  # never itself
    with pytest.raises(SpanftError, match="label and against are both 'B'"):
        explained.of("B", "B")


def test_labels_that_do_not_exclude_each_other(bert):
    nlp = make(bert, MODELS["cnn-cnn"], component="textcat_multilabel")
    train(nlp, examples_for(nlp))
    explained, doc = explain(nlp, TEXTS[0]), nlp(TEXTS[0])
    for label, score in explained.logits.items():
        assert 1 / (1 + np.exp(-score)) == pytest.approx(doc.cats[label], abs=1e-5)
    assert explained.rival() is None
    assert explained.rival("A") is None


def test_phrases_of_a_corpus(classifier):
    texts = [*TEXTS, "Very  good film", "this film is very bad ."]
    of_labels = phrases(explain_pipe(classifier, texts), min_count=2)
    explanations = list(explain_pipe(classifier, texts))
    n_best = 0
    for label, other in ("AB", "BA"):
        values: dict = {}
        for explained in explanations:
            for part, added in explained.of(label, other).parts:
                if part.text:
                    text = " ".join(part.text.lower().split())
                    values.setdefault(text, []).append(added)
        often = [(t, len(x), np.mean(x)) for t, x in values.items() if len(x) > 1]
        best = sorted((row for row in often if row[2] > 0), key=lambda row: -row[2])
        phrases_of_label = of_labels[label]
        assert [(x.text, x.n) for x in phrases_of_label] == [row[:2] for row in best]
        added = [row[2] for row in best]
        assert [x.added for x in phrases_of_label] == pytest.approx(added, abs=1e-5)
        n_best += len(best)
    assert n_best == len(often)


def test_phrases_of_one_text_in_three_labels(classifier):
    """What a phrase adds to all labels alike speaks for none of them."""
    explained = explain(classifier, "good")
    made = explained.contributions()
    (part, *_) = parts = [part for part in made.parts if part.text][:1]
    made = made._replace(of_parts=np.array([[3.0, 1.0, 1.0]], "f"), parts=parts)
    three = explained._replace(labels=("A", "B", "C"), trace=lambda span: made)
    best = {"A": [Phrase(part.text, 1, 2.0)], "B": [], "C": []}
    assert phrases([three], min_count=1) == best
    several = three._replace(is_exclusive=False)
    assert phrases([several], min_count=1)["B"] == [Phrase(part.text, 1, 1.0)]


def gradients(model):
    return [
        node.get_grad(name).tolist()
        for node in model.walk()
        for name in node.grad_names
        if node.has_grad(name)
    ]


def assert_nothing_changes(nlp, name):
    model = nlp.get_pipe(name).model
    before = model.to_bytes(), gradients(model)
    list(explain_pipe(nlp, [*TEXTS, "", ""]))
    assert (model.to_bytes(), gradients(model)) == before


def test_it_changes_nothing(classifier):
    assert_nothing_changes(classifier, "textcat")


def test_a_page_escapes_and_is_as_dark_for_as_much(classifier):
    blocks = []
    for text, values in (("some text", (0.12, -0.001)), ("<other> text", (9.0, 0.12))):
        explained = explain(classifier, text)
        (reasons,) = explained.reasons()
        first, *_, last = (part for part, _ in reasons.parts if part.text)
        parts = [*zip((first, last), values, strict=True)]
        changed = reasons._replace(parts=parts, spread=[0, 0], against="&<b>")
        blocks.append((explained, [changed]))
    page = to_html(blocks)
    marks = re.findall(r'<mark class="(\w+)" style="--share: (\d+)%">', page)
    assert marks == [("for", "1"), ("for", "100"), ("for", "1")]
    sizes = re.findall(r'style="--size: ([\d.]+)" title="([^ (]+) ', page)
    assert sizes == [("0.1200", "some"), ("9.0000", "&lt;"), ("0.1200", "text")]
    assert "not &amp;&lt;b&gt;" in page
    assert "<other>" not in page


def test_a_score_and_its_logit():
    model = {**MODELS["tokens"], "exclusive_classes": False}
    settings = {"model": model, "low": 1.0, "high": 5.0}
    nlp = make_pipeline({"span_segmenter": {}, "text_regressor": settings}, ["a b"])
    gold = {"cats": {"score": 4.0}}
    nlp.initialize(lambda: [Example.from_dict(nlp.make_doc("a good film"), gold)])
    reasons = explain(nlp, "a good film").of()
    score = nlp("a good film").cats["score"]
    assert reasons.prediction == pytest.approx(score)
    assert total_of(reasons) == pytest.approx(reasons.total, abs=1e-4)
    assert 1 + 4 / (1 + np.exp(-reasons.total)) == pytest.approx(score, abs=1e-5)


@pytest.fixture(scope="module")
def saved(classifier, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "model"
    classifier.to_disk(folder)
    return folder


def numbers(text):
    title, *lines = text.strip().split("\n")
    return title, [float(line[:9]) for line in lines if "Exact: " not in line]


def test_the_command_lists_what_adds_up_or_writes_json_and_a_page(saved, tmp_path):
    texts = ["very good film in new york", "<b>bad</b> & new york", " "]
    options = ("spanft", "explain", saved, *texts, "--label", "B")
    blocks = run(*options).stdout.strip().split("\n\n")
    assert [*blocks[::2]] == [*map(repr, texts[:2]), "No text in ' '"]
    done = run(*options, "--jsonl", "--html", tmp_path / "page.html")
    *rows, nothing = map(json.loads, done.stdout.splitlines())
    assert nothing == {"text": " "}
    page = (tmp_path / "page.html").read_text("utf8")
    assert "<b>bad" not in page
    for text, row, block in zip(texts, rows, blocks[1::2], strict=False):
        title, added = numbers(block)
        assert re.fullmatch(r"B 0\.\d\d, not A \(difference of logits\): .*", title)
        assert sum(added) == pytest.approx(row["logit"], abs=0.05)
        parts = sum(part["added"] for part in row["parts"])
        assert parts + row["bias"] == pytest.approx(row["logit"], abs=1e-4)
        spread = sum(part["spread"] for part in row["parts"])
        rest = row["whole_text"] + row["others"]
        assert spread == pytest.approx(rest, abs=1e-4)
        assert f"{row['whole_text']:+.2f} of the whole text" in block
        for part in row["parts"]:
            assert text[part["start"] : part["end"]] == part["text"]
            assert abs(part["added"]) < 0.01 or f"{part['added']:+.2f}" in page
    done = run("spanft", "explain", saved, "good", "--label", "C", ok=False)
    assert "label is 'C', but must be one of 'A', 'B'" in done.stderr


def test_the_command_lists_phrases_of_a_file(saved, classifier, tmp_path):
    file = tmp_path / "texts.txt"
    file.write_text("\n".join(TEXTS * 2), "utf8")
    texts = [text for text in TEXTS * 2 if text]
    best = phrases(explain_pipe(classifier, texts), min_count=2)
    command = ("spanft", "phrases", saved, "--file", file, "-m", 2)
    rows = map(json.loads, run(*command, "--jsonl").stdout.splitlines())
    pairs = [(label, phrase) for label in "AB" for phrase in best[label]]
    assert [*rows] == [{"label": label, **phrase._asdict()} for label, phrase in pairs]
    _, heading, _, row, *_ = run(*command, "-n", 1, "--label", "B").stdout.split("\n")
    first = best["B"][0]
    assert heading.split() == ["adds", "n", "B"]
    assert row.split(None, 2) == [f"{first.added:+.2f}", str(first.n), first.text]
    long = run("spanft", "phrases", saved, "a" * 1_000_001, ok=False)
    assert "has 1,000,001 characters" in long.stderr


@pytest.mark.parametrize(
    ("component", "model", "name"),
    [
        ("textcat", MODELS["tokens"], "span_window"),
        ("spancat", {"reducer": CNN}, "span_window"),
        ("bilou_ner", {"tok2vec": TOKENS}, "softmax"),
    ],
)
def test_a_layer_that_is_not_linear_is_an_error(component, model, name, monkeypatch):
    nlp = make_pipeline({"span_segmenter": {}, component: {"model": model}}, ["a b"])
    pipe = nlp.get_pipe(component)
    for label in "AB":
        pipe.add_label(label)
    nlp.initialize()
    for layer in pipe.model.walk():
        monkeypatch.setattr(layer, "name", layer.name.replace(name, "cubes"))
    with pytest.raises(SpanftError, match="cannot be traced through the layer 'cubes'"):
        explain(nlp, TEXTS[0]).contributions(nlp.make_doc(TEXTS[0])[:1])
