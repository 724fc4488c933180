"""How well two texts match: against loops in PyTorch, and finite differences."""

from itertools import pairwise

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_spanft.explanation import explain
from spacy_spanft.ml.alignment import encoding_of_tokens, encoding_of_wordpieces
from spacy_spanft.ml.layers.encoder_rows import DocRows
from spacy_spanft.ml.layers.pair_match import pair_match

from ..tiny import make_pipeline
from .test_textcat import CNN, TOKENS
from .torch_twins import assert_equal

torch = pytest.importorskip("torch")

WIDTH = 4
VOCAB = spacy.blank("en").vocab
# The words of a Doc, and its spans. What no text is compared with stands between.
DOCS = [
    ("a b c [SEP] d e", [(0, 2), (4, 6)]),
    ("a b", []),
    ("", []),
    ("[SEP] a b", [(1, 3)]),
    ("a b [SEP]", [(0, 2)]),
    ("a [SEP] a b c d e f [SEP] g", [(2, 5), (6, 8)]),
    ("a b c d e f [SEP] g", [(1, 3), (4, 6)]),
]


def make_doc(text, spans):
    doc = Doc(VOCAB, words=text.split())
    doc.spans["ngrams"] = [Span(doc, start, end) for start, end in spans]
    return doc


def make_rows(kind, seed=0, dtype="f8"):
    """Make the rows of all Docs: a token each, or [CLS], wordpieces, and [SEP]."""
    random = np.random.default_rng(seed)
    docs = [make_doc(*one) for one in DOCS]
    encodings, starts = [], [0]
    for doc in docs:
        sizes = random.integers(0, 3, len(doc))
        total = int(sizes.sum()) + 2 if len(doc) else 0
        rows = 1 + np.arange(sizes.sum())
        encoding = encoding_of_wordpieces(rows, sizes, [total], total)
        if kind == "tokens":
            encoding, total = encoding_of_tokens(len(doc)), len(doc)
        encodings.append(encoding)
        starts.append(starts[-1] + total)
    vectors = random.normal(size=(starts[-1], WIDTH)).astype(dtype)
    return DocRows(docs, vectors, starts, encodings, None)


def slow(X, vectors, spans_key):
    actual = []
    bounds = pairwise(X.starts)
    for doc, encoding, (begin, end) in zip(X.docs, X.encodings, bounds, strict=True):
        ends = np.cumsum(encoding.n_rows)
        own = vectors[begin:end]
        of_token = [own[rows] for rows in np.split(encoding.rows, ends[:-1])]
        words = [token.text for token in doc]
        separator = words.index("[SEP]") if "[SEP]" in words else len(words)
        pieces = []
        for text in (range(separator), range(separator + 1, len(words))):
            groups, i = [list(text)] if spans_key is None else [], text.start
            ends_of = {span.start: span.end for span in doc.spans["ngrams"]}
            while spans_key and i < text.stop:
                groups.append(list(range(i, ends_of.get(i, i + 1))))
                i = groups[-1][-1] + 1
            rows = [[row for i in group for row in of_token[i]] for group in groups]
            pieces.append([torch.stack(group).mean(dim=0) for group in rows if group])
        if not all(pieces):
            actual.append(vectors.new_zeros(()))
            continue
        one, two = map(torch.stack, pieces)
        cosines = torch.cosine_similarity(one[:, None], two[None], dim=2)
        best = [cosines.amax(dim=1).mean(), cosines.amax(dim=0).mean()]
        actual.append(torch.atanh(0.999 * (best[0] + best[1]) / 2))
    return torch.stack(actual)[:, None].expand(-1, WIDTH)


@pytest.mark.parametrize("spans_key", [None, "ngrams"])
@pytest.mark.parametrize("kind", ["tokens", "wordpieces"])
@pytest.mark.parametrize("seed", range(3))
def test_against_loops(kind, spans_key, seed):
    X = make_rows(kind, seed)
    layer = pair_match("[SEP]", spans_key)
    assert layer.predict(X).any()
    assert_equal(layer, X, lambda rows: slow(X, rows, spans_key), 1e-6, rtol=1e-5)


def test_a_batch_without_pairs():
    X = make_rows("tokens")
    X = X._replace(docs=X.docs[1:3], encodings=X.encodings[1:3], starts=[0, 2, 2])
    X = X._replace(vectors=X.vectors[6:8])
    Y, backprop = pair_match("[SEP]", "ngrams")(X, True)
    assert Y.shape == (2, WIDTH)
    assert not Y.any()
    assert backprop(Y).shape == X.vectors.shape


def pipeline(head):
    """Make a pipeline of pairs, where the label says whether both are the same."""
    model = {
        "@architectures": f"spacy-spanft.{head}.v1",
        "tok2vec": {**TOKENS, "width": 32, "embed_size": 200},
        **{"exclusive_classes": True, "pair_separator": "[SEP]"},
    }
    if head == "SpanTextCat":
        model |= {"span_pooling": CNN, "doc_pooling": CNN}
    segmenter = {"@segmenters": "spacy-spanft.RandomSegmenter.v1"}
    components = {"span_segmenter": {"segmenter": segmenter, "separator": "[SEP]"}}
    return make_pipeline({**components, "textcat": {"model": model}}, (), "[SEP]")


def pairs(nlp, n, seed):
    """Draw pairs of texts: the same words in another order, or other words."""
    random, letters = np.random.default_rng(seed), list("abcdefghijklmnop")
    examples = []
    for i in range(n):
        first = random.choice(letters, 5, replace=False)
        second = random.permutation(first)
        if i % 2:
            second = random.choice(letters, 5, replace=False)
        doc = nlp(f"{' '.join(first)} [SEP] {' '.join(second)}", disable=["textcat"])
        cats = {"same": float(i % 2 == 0), "other": float(i % 2)}
        examples.append(Example.from_dict(doc, {"cats": cats}))
    return examples


@pytest.mark.parametrize(("head", "n_new"), [("ClsTextCat", 32), ("SpanTextCat", 64)])
def test_what_a_pair_has_in_common_is_learned(head, n_new):
    nlp = pipeline(head)
    train, test = pairs(nlp, 100, 0), pairs(nlp, 40, 1)
    optimizer = nlp.initialize(lambda: train)
    output = nlp.get_pipe("textcat").model.get_ref("output_layer")
    # It begins as if nothing were compared.
    assert n_new == (~output.get_param("W").any(axis=0)).sum()
    optimizer.learn_rate = 0.003
    for _ in range(4):
        for start in range(0, len(train), 20):
            nlp.update(train[start : start + 20], sgd=optimizer)
    assert nlp.evaluate(test)["cats_micro_f"] > 0.85
    text = "a b c d e [SEP] e d c b a"
    cats = nlp(text).cats
    assert cats["same"] > 0.5
    assert pipeline(head).from_bytes(nlp.to_bytes())(text).cats == cats
    if head == "SpanTextCat":
        reasons = explain(nlp, text).of("same")
        parts = sum(added for _, added in reasons.parts)
        total = parts + reasons.whole_text + reasons.similarity + reasons.bias
        assert total == pytest.approx(reasons.total, abs=1e-4)
        assert reasons.similarity > 0
        rest = reasons.whole_text + reasons.similarity + reasons.others
        assert sum(reasons.spread) == pytest.approx(rest, abs=1e-4)
        names = [part.text for part, _ in reasons.parts]
        # Without the separator it would be no pair.
        assert reasons.spread[names.index("[SEP]")] == pytest.approx(0, abs=1e-4)
