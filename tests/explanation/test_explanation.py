"""Which phrases decided: against the head written out, and the model's own scores."""

import json
import re

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from thinc.types import Ragged

from spacy_spanft.errors import SpanftError
from spacy_spanft.explanation import Phrase, explain, explain_pipe, phrases
from spacy_spanft.explanation.contributions import POOLS, _sequences
from spacy_spanft.explanation.drawing import Marked, to_html
from spacy_spanft.explanation.explain import _parts
from spacy_spanft.ml.alignment import align_pieces, encoding_of_wordpieces, get_spans

from ..commands import run
from ..ml.test_textcat import (
    ATTENTION,
    MAX,
    MODELS,
    TOKENS,
    examples_for,
    make,
    span_model,
    train,
)
from ..tiny import save_bert

SUM = {"@layers": "reduce_sum.v1"}
TEXTS = [
    "this film is very good .",
    "new york city is a bad and unbelievable city of the united states",
    "",
    "very good film",
    "good",
]
MODELS = {
    **{name: model for name, model in MODELS.items() if name != "cls"},
    "beside-mean": {**MODELS["cnn-cnn"], "summary": "mean"},
    "max": span_model(MAX, MAX),
    "sum": span_model(ATTENTION, SUM),
}


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module", params=MODELS)
def name(request):
    return request.param


@pytest.fixture(scope="module", params=[0, 8], ids=["random", "trained"])
def nlp(bert, name, request):
    nlp = make(bert, MODELS[name], window=12)
    train(nlp, examples_for(nlp), steps=request.param, rate=0.01)
    shake(nlp.get_pipe("textcat").model)
    return nlp


def shake(model):
    """Let biases be other than zero, and the scores far apart."""
    chance = np.random.default_rng(0)
    for node in model.walk():
        if node.has_param("b") and node.name != "transformer":
            b = node.get_param("b")
            node.set_param("b", b + chance.normal(0, 0.1, b.shape).astype("f"))


def logits(nlp, docs):
    """Get the scores before the softmax, from the layer itself."""
    model = nlp.get_pipe("textcat").model
    output = model.get_ref("output_layer")
    seen = []
    forward = output._func
    output._func = lambda layer, X, is_train: (
        seen.append(X),
        forward(layer, X, is_train),
    )[1]
    try:
        model.predict(docs)
    finally:
        output._func = forward
    return seen[0] @ output.get_param("W").T + output.get_param("b")


def test_they_add_up_to_the_models_own_scores(nlp):
    found = list(explain_pipe(nlp, TEXTS, batch_size=2))
    docs = list(nlp.pipe(TEXTS))
    expected = logits(nlp, docs)
    for one, doc, row in zip(found, docs, expected, strict=True):
        assert one.doc.text == doc.text
        assert one.doc.cats == pytest.approx(doc.cats, abs=1e-5)
        if not len(doc):
            assert list(one.logits.values()) == [0.0, 0.0]
            assert one.parts == []
            continue
        reasons = one.of("B")
        total = (
            sum(added for _, added in reasons.parts) + reasons.whole_text + reasons.bias
        )
        assert total == pytest.approx(reasons.total, abs=1e-4)
        assert list(one.logits.values()) == pytest.approx(row.tolist(), abs=1e-4)
        odds = np.exp(one.found.logits) / np.exp(one.found.logits).sum()
        assert odds.tolist() == pytest.approx([doc.cats[c] for c in "AB"], abs=1e-5)


def attention(layer, rows):
    """Compute the weights of one sequence."""
    W, b, w = (layer.get_param(name) for name in "Wbw")
    scores = np.exp(np.tanh(rows @ W.T + b) @ w)
    return scores / scores.sum()


def test_shares_are_slopes(nlp):
    """Where a piece grows by a little, the score does by as much of its share.

    The weights of an attention stay as they are in the text. What a piece adds to a
    mean is told apart in the test below.
    """
    model = nlp.get_pipe("textcat").model
    W = model.get_ref("output_layer").get_param("W")
    pool = next(node for node in model.walk() if node.name in POOLS)
    leaves = [node for node in pool.layers[1].walk() if not node.layers]
    for one in explain_pipe(nlp, TEXTS, batch_size=3):
        if not len(one.doc):
            continue
        X = model.get_ref("rows").predict([one.doc])
        rows = _sequences(pool, X, [one.found.pieces]).dataXd
        shares = one.found.of_pieces - of_mean(nlp, X, one.found.pieces)
        assert np.abs(shares).max() > 1e-3
        if leaves[0].name == "attention_sum":
            weights = attention(leaves[0], rows)
            expected = weights[:, None] * rows @ W[:, : rows.shape[1]].T
            np.testing.assert_allclose(one.found.weights, weights, atol=1e-5)
            np.testing.assert_allclose(shares, expected, atol=1e-4)
            continue
        assert one.found.weights is None
        for i, share in enumerate(shares):
            sides = []
            for factor in (1.0005, 0.9995):
                grown = rows.copy()
                grown[i] *= factor
                length = np.array([len(rows)], "i")
                pooled = pool.layers[1].predict(Ragged(grown, length))
                sides.append(pooled[0].astype("d") @ W[:, : pooled.shape[1]].T)
            slope = (sides[0] - sides[1]) / 0.001
            np.testing.assert_allclose(share, slope, atol=2e-3)


def of_mean(nlp, X, pieces):
    """Compute what the pieces of one text add to the mean of its rows, row by row."""
    model = nlp.get_pipe("textcat").model
    layers = [n for n in model.walk() if n.name == "doc_summary"]
    W, ends = model.get_ref("output_layer").get_param("W"), np.cumsum(pieces.lengths)
    added = np.zeros((len(ends), len(W)))
    if not layers or (X.cls is not None and layers[0].attrs["summary"] == "cls"):
        return added
    W = W[:, -X.vectors.shape[1] :]
    mean = layers[0].predict(X)[0]
    for piece, end in enumerate(ends):
        for row in pieces.rows[end - pieces.lengths[piece] : end]:
            n_rows = sum(X.encodings[0].windows)
            added[piece] += W @ (X.vectors[row] - mean) / n_rows
    return added


def test_a_piece_adds_to_the_mean_what_that_would_lose_without_it(bert):
    nlp = make(bert, MODELS["beside-mean"])
    train(nlp, examples_for(nlp), steps=8, rate=0.01)
    classifier = nlp.get_pipe("textcat").model
    W = classifier.get_ref("output_layer").get_param("W")
    width = W.shape[1] // 2
    for found in explain_pipe(nlp, ["very good film", "new york film"]):
        X = classifier.get_ref("rows").predict([found.doc])
        rows, lengths = found.found.pieces
        n_rows, ends = len(X.vectors), np.cumsum(lengths)
        assert sorted(rows) == list(range(n_rows))
        whole = W[:, width:] @ X.vectors.mean(axis=0)
        np.testing.assert_allclose(found.found.whole_text, whole, atol=1e-5)
        parts = of_mean(nlp, X, found.found.pieces)
        assert abs(parts).max() > 1e-3
        for part, end, length in zip(parts, ends, lengths, strict=True):
            left = np.delete(X.vectors, rows[end - length : end], axis=0)
            lost = whole - W[:, width:] @ left.mean(axis=0)
            np.testing.assert_allclose(
                part * n_rows / (n_rows - length), lost, atol=1e-5
            )


def test_texts_that_the_head_sees_nothing_in(bert):
    """Where all that is classified is 0, so is the score: whatever the biases are."""
    nlp = make(bert, MODELS["no-cls"])
    train(nlp, examples_for(nlp))
    model = nlp.get_pipe("textcat").model
    for node in model.walk():
        if node.name == "span_window":
            node.set_param("b", node.get_param("b") - 100)
    output = model.get_ref("output_layer")
    output.set_param("b", np.array([1.0, -1.0], "f"))
    assert set(nlp("good").cats.values()) == {0.0}
    assert set(explain(nlp, "good").logits.values()) == {0.0}


def windows(layer, rows):
    """Convolve one sequence, row by row."""
    W, b = layer.get_param("W"), layer.get_param("b")
    k = len(W)
    return np.array(
        [
            b + sum(W[i] @ rows[j + i] for i in range(k) if j + i < len(rows))
            for j in range(len(rows))
        ]
    )


def test_cnns_written_out(bert):
    """For each feature one window of spans wins, and each span in it adds its share."""
    nlp = make(bert, MODELS["cnn-cnn"], window=12)
    train(nlp, examples_for(nlp), steps=4, rate=0.01)
    shake(nlp.get_pipe("textcat").model)
    model = nlp.get_pipe("textcat").model
    first, second = (n for n in model.walk() if n.name == "span_window")
    output = model.get_ref("output_layer")
    for found in explain_pipe(nlp, TEXTS[:2]):
        X = model.get_ref("rows").predict([found.doc])
        pieces = align_pieces(X.encodings[0], get_spans(found.doc, "ngrams"))
        ends = np.cumsum(pieces.lengths)
        spans = [
            np.maximum(windows(first, X.vectors[pieces.rows[e - n : e]]), 0).max(axis=0)
            for n, e in zip(pieces.lengths, ends, strict=True)
        ]
        made = windows(second, spans)
        added, bias = np.zeros(len(spans)), output.get_param("b")[1]
        weights = output.get_param("W")[1]
        W, b = second.get_param("W"), second.get_param("b")
        for feature, winner in enumerate(made.argmax(axis=0)):
            if made[winner, feature] > 0:
                bias += weights[feature] * b[feature]
                for i in range(min(len(W), len(spans) - winner)):
                    share = W[i, feature] @ spans[winner + i]
                    added[winner + i] += weights[feature] * share
        reasons = found.of("B")
        assert [a for _, a in reasons.parts] == pytest.approx(added.tolist(), abs=1e-4)
        assert reasons.bias == pytest.approx(float(bias), abs=1e-4)
        cls = float(weights[made.shape[1] :] @ X.vectors[0])
        assert reasons.whole_text == pytest.approx(cls, abs=1e-5)


def test_parts_are_the_spans_and_the_tokens_between_them(bert):
    nlp = make(bert, MODELS["cnn-cnn"], window=12)
    train(nlp, examples_for(nlp))
    found = explain(nlp, "it was a very good film in new york")
    texts = ["it", "was", "a", "very good film", "in", "new york"]
    assert [part.text for part in found.parts if part.text] == texts
    assert [part.text for part in found.parts].count("") == 2  # [CLS] and [SEP]
    assert all(
        found.doc[part.start : part.end].text == part.text
        for part in found.parts
        if part.text
    )


def test_spans_that_are_cut_off_are_whole_parts(bert):
    model = {**MODELS["cnn-cnn"], "max_rows": 1}
    nlp = make(bert, model)
    train(nlp, examples_for(nlp))
    found = explain(nlp, "a very good film in new york")
    texts = ["a", "very good film", "in", "new york"]
    assert [part.text for part in found.parts if part.text] == texts


def test_a_part_has_all_tokens_of_its_wordpieces(nlp):
    """[UNK] may be that of several tokens; a token with rows of its own is apart."""
    doc = Doc(nlp.vocab, ["a", "b", "c", "d", "e"], spaces=[False] * 5)
    doc.spans["x"] = []
    #      [CLS], then a b c share row 1, c has row 2 as well, d and e row 3
    rows, n_rows = np.array([1, 1, 1, 2, 3, 3]), np.array([1, 1, 2, 1, 1])
    encoding = encoding_of_wordpieces(rows, n_rows, [4], 4)
    pieces = align_pieces(encoding, np.zeros((0, 2), np.int64))
    found = [part.text for part in _parts(doc, encoding, pieces, "x")]
    assert sorted(found) == ["", "ab", "c", "de"]


def test_attention_has_weights(bert):
    nlp = make(bert, MODELS["attention-attention"], window=12)
    train(nlp, examples_for(nlp), steps=4)
    found = explain(nlp, TEXTS[1]).found
    assert found.weights.sum() == pytest.approx(1.0, abs=1e-5)
    assert np.ptp(found.weights) > 0
    nlp = make(bert, MODELS["cnn-cnn"])
    train(nlp, examples_for(nlp))
    assert explain(nlp, TEXTS[1]).found.weights is None


def test_one_label_against_another(bert):
    nlp = make(bert, MODELS["cnn-cnn"], window=12)
    train(nlp, examples_for(nlp), steps=4, rate=0.01)
    found = explain(nlp, TEXTS[0])
    assert found.label == max(found.logits, key=found.logits.get)
    assert {found.label, found.rival()} == {"A", "B"}
    assert (found.rival("A"), found.rival("B")) == ("B", "A")
    against, a, b = found.of("A", "B"), found.of("A"), found.of("B")
    assert against.total == pytest.approx(a.total - b.total, abs=1e-5)
    for (part, x), (_, y), (_, z) in zip(against.parts, a.parts, b.parts, strict=True):
        assert x == pytest.approx(y - z, abs=1e-5)
        assert part in found.parts
    values = [value for _, value in against.strongest()]
    assert values == sorted(values, reverse=True)
    assert len(against.strongest(2)) == 2


def test_labels_that_do_not_exclude_each_other(bert):
    nlp = make(bert, MODELS["cnn-cnn"], component="textcat_multilabel")
    train(nlp, examples_for(nlp), steps=2)
    found, doc = explain(nlp, TEXTS[0]), nlp(TEXTS[0])
    for label, score in found.logits.items():
        assert 1 / (1 + np.exp(-score)) == pytest.approx(doc.cats[label], abs=1e-5)
    assert found.rival() is None
    assert found.rival("A") is None


def test_phrases_of_a_corpus(bert):
    """Means over all places where a phrase is, counted one by one."""
    nlp = make(bert, MODELS["cnn-cnn"], window=12)
    train(nlp, examples_for(nlp), steps=8, rate=0.01)
    texts = [*TEXTS, "Very  good film", "this film is very bad ."]
    found = phrases(explain_pipe(nlp, texts), min_count=2)
    expected: dict = {"A": {}, "B": {}}
    for one in explain_pipe(nlp, texts):
        for label, other in ("AB", "BA"):
            for part, added in one.of(label, other).parts:
                if part.text:
                    text = " ".join(part.text.lower().split())
                    expected[label].setdefault(text, []).append(added)
    for label, there in expected.items():
        often = {text: added for text, added in there.items() if len(added) > 1}
        means = {text: np.mean(added) for text, added in often.items()}
        mine = {one.text: one for one in found[label]}
        assert set(mine) == {text for text in means if means[text] > 0}
        for text, one in mine.items():
            assert one.n == len(often[text])
            assert one.added == pytest.approx(means[text], abs=1e-5)
        in_order = [one.added for one in found[label]]
        assert in_order == sorted(in_order, reverse=True)
    assert {one.text for label in "AB" for one in found[label]} == set(means)
    assert "united states" in {
        one.text
        for of in phrases(explain_pipe(nlp, texts), min_count=1).values()
        for one in of
    }


def test_phrases_of_one_text_in_three_labels(bert):
    """What a phrase adds to all labels alike speaks for none of them."""
    nlp = make(bert, MODELS["cnn-cnn"])
    train(nlp, examples_for(nlp))
    (one,) = explain_pipe(nlp, ["good"])
    added = np.array([[3.0, 1.0, 1.0]], "f")
    found = one.found._replace(of_pieces=added)
    parts = [part for part in one.parts if part.text][:1]
    three = one._replace(labels=("A", "B", "C"), parts=parts, found=found)
    text = parts[0].text
    assert phrases([three], min_count=1) == {
        "A": [Phrase(text, 1, 2.0)],
        "B": [],
        "C": [],
    }
    several = three._replace(is_exclusive=False)
    assert phrases([several], min_count=1)["B"] == [Phrase(text, 1, 1.0)]
    assert phrases([three], min_count=2) == {"A": [], "B": [], "C": []}
    assert phrases([]) == {}


def gradients(model):
    return [
        node.get_grad(name).tolist()
        for node in model.walk()
        for name in node.grad_names
        if node.has_grad(name)
    ]


def test_it_changes_nothing(bert):
    """No gradient is left behind for the next step, and no annotation."""
    nlp = make(bert, MODELS["cnn-cnn"])
    train(nlp, examples_for(nlp))
    model = nlp.get_pipe("textcat").model
    before = model.to_bytes(), gradients(model)
    doc = nlp.make_doc(TEXTS[0])
    found = explain(nlp, doc)
    assert (model.to_bytes(), gradients(model)) == before
    assert found.doc.text == doc.text
    assert not doc.cats
    assert not doc.spans


@pytest.fixture(scope="module")
def saved(bert, tmp_path_factory):
    nlp = make(bert, MODELS["cnn-cnn"], window=12)
    train(nlp, examples_for(nlp), steps=8, rate=0.01)
    folder = tmp_path_factory.mktemp("saved") / "model"
    nlp.to_disk(folder)
    return folder


def test_as_much_is_as_dark_in_each_text(bert):
    blocks = [
        Marked("some text", "one", [(0, 4, 0.12), (5, 9, -0.001)]),
        Marked("other <text>", "two & <b>", [(0, 5, 9.0), (6, 12, 0.12)]),
    ]
    page = to_html(blocks)
    marks = re.findall(r'<mark class="entity" style="background: (#\w+);', page)
    assert marks == ["#e7f4e8", "#5fb96d", "#e7f4e8"]
    assert "other &lt;text&gt;" in re.sub(r"<[^>]*>", "", page).replace("\n", "") or (
        "&lt;text&gt;" in page
    )
    assert "two &amp; &lt;b&gt;" in page


def numbers(text):
    """Read a list of what adds up to a score."""
    title, *lines = text.strip().split("\n")
    return title, {line[9:].strip(): float(line[:9]) for line in lines}


def test_a_score_is_told_beside_its_logit(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("span_segmenter")
    model = {**MODELS["tokens"], "exclusive_classes": False}
    settings = {"model": model, "low": 1.0, "high": 5.0}
    nlp.add_pipe("text_regressor", config=settings)
    docs = [nlp.make_doc("a very good film"), nlp.make_doc("a bad film")]
    pairs = zip(docs, (5.0, 1.0), strict=True)
    examples = [Example.from_dict(doc, {"cats": {"score": y}}) for doc, y in pairs]
    nlp.initialize(lambda: examples)
    reasons = explain(nlp, "a good film").of()
    score = nlp("a good film").cats["score"]
    assert reasons.prediction == pytest.approx(score)
    assert 1 + 4 / (1 + np.exp(-reasons.total)) == pytest.approx(score, abs=1e-5)
    nlp.to_disk(tmp_path / "nlp")
    command = ("spanft", "explain", tmp_path / "nlp", "a good film")
    begin = f"score {score:.2f} (logit): {reasons.total:+.2f}\n"
    assert run(*command).stdout.startswith(begin)
    row = json.loads(run(*command, "--jsonl").stdout)
    assert row["prediction"] == pytest.approx(score)
    done = run(*command, "--against", "score", ok=False)
    assert "against is 'score', but must be left out, as there is only one" in (
        done.stderr
    )


def test_what_is_no_text_and_no_pipeline(bert):
    nlp = make(bert, MODELS["cnn-cnn"])
    train(nlp, examples_for(nlp))
    for text in (None, 3, ["a"], b"x"):
        with pytest.raises(SpanftError, match=r"text is .*, but must be a string"):
            explain(nlp, text)
    with pytest.raises(SpanftError, match="nlp is 'model', but must be a pipeline"):
        explain("model", "a text")
    with pytest.raises(SpanftError, match="texts is 'abc', but must be a list of"):
        explain_pipe(nlp, "abc")
    with pytest.raises(SpanftError, match="explained is 'a', but must be what"):
        phrases(["a"])


class TestCommand:
    def test_lists(self, saved):
        done = run("spanft", "explain", saved, "this film is very good", "new york")
        text, first, other, second = done.stdout.strip().split("\n\n")
        assert (text, other) == ("'this film is very good'", "'new york'")
        title, added = numbers(first)
        assert {"this", "film", "(the whole text)", "(bias)"} <= {*added}
        label, total = title.split(": ")
        cats = spacy.load(saved)("this film is very good").cats
        best = max(cats, key=cats.get)
        other = "AB".replace(best, "")
        expected = f"{best} {cats[best]:.2f}, not {other} (difference of logits)"
        assert label == expected
        assert sum(added.values()) == pytest.approx(float(total), abs=0.05)
        assert float(total) > 0
        assert "new york" in numbers(second)[1]

    def test_no_text_has_no_label(self, saved):
        done = run("spanft", "explain", saved, "")
        assert done.stdout.strip() == "No text in ''"
        done = run("spanft", "explain", saved, "", "new york", "--jsonl")
        nothing, row = map(json.loads, done.stdout.splitlines())
        assert nothing == {"text": ""}
        assert row["label"] in "AB"

    def test_one_label_from_the_input(self, saved):
        done = run("spanft", "explain", saved, "--label", "B", stdin="new york\n\n")
        nlp = spacy.load(saved)
        text, block = done.stdout.strip().split("\n\n")
        assert text == "'new york'"
        title, _ = numbers(block)
        logits = explain(nlp, "new york").logits
        predicted = nlp("new york").cats["B"]
        difference = f"(difference of logits): {logits['B'] - logits['A']:+.2f}"
        assert title == f"B {predicted:.2f}, not A {difference}"

    @pytest.mark.parametrize("command", ["explain", "phrases"])
    def test_a_text_that_is_too_long(self, saved, tmp_path, command):
        (tmp_path / "texts.txt").write_text("good\n\n" + 1_000_001 * "a" + "\n")
        given = ("--file", tmp_path / "texts.txt")
        done = run("spanft", command, saved, *given, ok=False)
        assert "Text 2 has 1,000,001 characters of text, and the" in done.stderr

    def test_json_and_a_page(self, saved, tmp_path):
        texts = ["very good film in new york", "<b>bad</b> & new york"]
        options = ("--jsonl", "--html", tmp_path / "page.html")
        done = run("spanft", "explain", saved, *texts, *options)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert [row["text"] for row in rows] == texts
        for row in rows:
            parts = sum(part["added"] for part in row["parts"])
            rest = row["whole_text"] + row["others"] + row["bias"]
            assert parts + rest == pytest.approx(row["logit"], abs=1e-4)
            assert all(
                row["text"][part["start"] : part["end"]] == part["text"]
                for part in row["parts"]
            )
        page = (tmp_path / "page.html").read_text("utf8")
        assert "<title>What speaks for each label</title>" in page
        assert '<meta charset="utf-8">' in page
        assert "<b>bad" not in page
        assert "&lt;" in page
        for part in rows[0]["parts"]:
            if abs(part["added"]) >= 0.01:
                assert f"{part['added']:+.2f}" in page

    def test_no_texts(self, saved):
        done = run("spanft", "explain", saved, stdin="\n", ok=False)
        assert "There is no text. Give it as arguments" in done.stderr
        assert not done.stdout

    def test_against_the_best_label_of_some_texts(self, saved):
        """Nothing is chosen in its own place: such a text is compared as usual."""
        nlp = spacy.load(saved)
        texts = ["this film is very good .", "new york city is a bad", "good film"]
        for against in "AB":
            options = ("--against", against, "--jsonl")
            done = run("spanft", "explain", saved, *texts, *options)
            rows = [json.loads(line) for line in done.stdout.splitlines()]
            assert [row["label"] for row in rows] == [
                explain(nlp, text).label for text in texts
            ]
            assert all({row["label"], row["against"]} == {*"AB"} for row in rows)
        done = run("spanft", "explain", saved, *texts, "--against", "C", ok=False)
        assert "against is 'C', but must be one of 'A', 'B'" in done.stderr
        assert not done.stdout

    def test_texts_and_a_file(self, saved):
        done = run("spanft", "explain", saved, "a", "--file", "b.txt", ok=False)
        assert "not both" in done.stderr


class TestPhrases:
    def test_table_and_json(self, saved, tmp_path):
        file = tmp_path / "texts.txt"
        file.write_text("\n".join([*TEXTS, *TEXTS]), "utf8")
        nlp = spacy.load(saved)
        texts = [text for text in [*TEXTS, *TEXTS] if text]
        found = phrases(explain_pipe(nlp, texts), min_count=2)
        done = run("spanft", "phrases", saved, "--file", file, "-m", 2, "--jsonl")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        expected = [
            {"label": label, **one._asdict()}
            for label in "AB"
            for one in found[label][:10]
        ]
        assert rows == expected
        options = ("-m", 2, "-n", 1, "--label", "B")
        done = run("spanft", "phrases", saved, "--file", file, *options)
        _, heading, _, row, *_ = done.stdout.split("\n")
        best = found["B"][0]
        assert heading.split() == ["adds", "found", "B"]
        assert row.split(None, 2) == [f"{best.added:+.2f}", str(best.n), best.text]

    def test_nothing_often_enough(self, saved):
        done = run("spanft", "phrases", saved, "good", "--jsonl")
        assert not done.stdout
        done = run("spanft", "phrases", saved, "good")
        assert "no phrase found 3 times or more speaks for it" in done.stdout

    def test_no_such_label(self, saved):
        done = run("spanft", "phrases", saved, "good", "--label", "C", ok=False)
        assert "label is 'C', but must be one of 'A', 'B'" in done.stderr
        with pytest.raises(SpanftError, match="min_count is 0, but must be 1 or more"):
            phrases([], min_count=0)


class TestErrors:
    def test_no_such_label(self, bert):
        nlp = make(bert, MODELS["cnn-cnn"])
        train(nlp, examples_for(nlp))
        with pytest.raises(
            SpanftError, match="label is 'C', but must be one of 'A', 'B'"
        ):
            explain(nlp, TEXTS[0]).of("C")
        with pytest.raises(SpanftError, match="against is 'B', but must be one of 'A'"):
            explain(nlp, TEXTS[0]).of("B", "B")
        reasons = explain(nlp, TEXTS[0]).of()
        assert reasons.strongest(0) == []
        for n in (-1, 1.5, "a"):
            with pytest.raises(SpanftError, match=f"n is {n!r}, but must be null, or"):
                reasons.strongest(n)
        for texts in (None, 3, b"abc", TEXTS[0]):
            with pytest.raises(SpanftError, match=r"texts is .* must be a list of"):
                explain_pipe(nlp, texts)
        with pytest.raises(SpanftError, match="explained is None, but must be what"):
            phrases(None)
        one = explain(nlp, TEXTS[0])
        with pytest.raises(SpanftError, match="must be the same for all: "):
            phrases([one, one._replace(labels=("X", "Y"))])
        for size in (0, 2.5, "2"):
            with pytest.raises(SpanftError, match=f"batch_size is {size!r}, but must"):
                explain_pipe(nlp, TEXTS, batch_size=size)
        with pytest.raises(SpanftError, match="'ner' is not a component"):
            explain_pipe(nlp, TEXTS, component="ner")
        one = explain(nlp, TEXTS[0])._replace(labels=("A",))
        with pytest.raises(SpanftError, match="must be left out, as there is only one"):
            one.of("A", "B")

    def test_nothing_learned(self):
        nlp = spacy.blank("en")
        nlp.add_pipe("span_segmenter")
        model = span_model(MAX, MAX, tok2vec=TOKENS)
        textcat = nlp.add_pipe("textcat", config={"model": model})
        textcat.add_label("A")
        with pytest.raises(SpanftError, match="'textcat' has not been initialized"):
            explain_pipe(nlp, TEXTS)

    def test_file_in_place_of_a_pipeline(self, tmp_path):
        """Predictions, which compare takes, are no help here."""
        file = tmp_path / "best"
        file.touch()
        done = run("spanft", "explain", file, "good", ok=False)
        assert f"'{file}' is a file. A pipeline is a folder" in done.stderr
        assert "predictions" not in done.stderr

    def test_no_spans(self):
        nlp = spacy.blank("en")
        nlp.add_pipe("textcat")
        with pytest.raises(SpanftError, match="No component of this pipeline"):
            explain(nlp, TEXTS[0])

    def test_a_pooling_that_is_not_linear(self, bert, monkeypatch):
        nlp = make(bert, MODELS["cnn-cnn"])
        train(nlp, examples_for(nlp))
        pooling = next(
            n for n in nlp.get_pipe("textcat").model.walk() if n.name == "span_pool"
        ).layers[1]
        node = next(n for n in pooling.walk() if n.name == "span_window")
        monkeypatch.setattr(node, "name", "cubes")
        with pytest.raises(SpanftError, match="through the pooling 'with_nonempty"):
            explain(nlp, TEXTS[0])
