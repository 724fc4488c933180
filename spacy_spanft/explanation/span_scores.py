"""What each token adds to the score of an entity or a span.

A `spancat` scores the vector to which it reduces the tokens of a span. A `bilou_ner`
scores tags: the score of an entity is the sum of the logits of B, I, L or U of its
label over its tokens, that of "O" the sum of the logits of O. Through the windows of a
SpanTok2Vec, the neighbors of its tokens add to it as well.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
from spacy.tokens import Doc, Span
from thinc.api import Model
from thinc.types import Ragged
from thinc.util import get_width

from ..ml.bilou import BEGIN, INSIDE, KINDS, LAST, OUT, UNIT, Ints
from ..ml.layers.encoder_rows import join_rows
from ..ml.layers.sequences import Sequences
from ..ml.layers.span_tokens import lengths_of, pool_tokens
from ..pipeline.bilou_ner import BilouNER
from .explanation import Contributions, Explanation, Part
from .linear import cannot_explain, pull_back

# The layers that may follow the vectors of the tokens, and those of the spans.
_TAGGER = {"fixed_dropout", "dropout", "softmax"}
_SCORERS = "linear logistic", "linear logistic_cross_entropy", "softmax"


def explain_spans(pipe: Any, docs: list[Doc], _: Any) -> Iterator[Explanation]:
    """Predict the spans of Docs with a `spancat`, and take their scores apart."""
    model = pipe.model
    names = ("tok2vec", "reducer", "scorer")
    if not all(map(model.has_ref, names)):
        raise cannot_explain(model.name)
    tok2vec, reducer, scorer = map(model.get_ref, names)
    output, *last = leaves = [node for node in scorer.walk() if not node.layers]
    if " ".join(node.name for node in leaves) not in _SCORERS:
        raise cannot_explain(scorer.name)
    pipe.set_annotations(docs, pipe.predict(docs))
    # A softmax may have a column for the spans without a label.
    n_others = output.get_dim("nO") - len(pipe.labels)
    labels = (*pipe.labels, *("O",) * n_others)
    vectors = tok2vec.predict(docs) if any(map(len, docs)) else [None for _ in docs]
    for doc, tokens in zip(docs, vectors, strict=True):
        trace = lru_cache(partial(_of_span, reducer, output, tokens))
        spans = list(doc.spans[pipe.key])
        yield Explanation(doc, labels, not last, spans, trace)


def _of_span(reducer: Any, output: Any, vectors: Any, span: Span) -> Contributions:
    W, b = map(output.get_param, "Wb")
    length = output.ops.asarray1i([len(span)])
    tokens = Ragged(vectors[span.start : span.end], length)
    logits = (reducer.predict(tokens) @ W.T + b)[0]
    added = (pull_back(reducer, tokens, W[:, None]) * tokens.dataXd).sum(axis=2)
    return _contributions(output.ops, list(span), added, logits)


def explain_entities(pipe: BilouNER, docs: list[Doc], _: Any) -> Iterator[Explanation]:
    """Predict the entities of Docs, and take their scores apart."""
    model = pipe.model
    if not (model.has_ref("tok2vec") and model.has_ref("output_layer")):
        raise cannot_explain(model.name)
    for node in model.layers[1].walk():
        if not node.layers and node.name not in _TAGGER:
            raise cannot_explain(node.name)
    earlier = [{(ent.start, ent.end) for ent in doc.ents} for doc in docs]
    pipe.set_annotations(docs, pipe.predict(docs))
    labels = (*pipe.labels, "O")
    output, vectors = model.get_ref("output_layer"), _vectors(model.layers[0], docs)
    for doc, others, traced in zip(docs, earlier, vectors, strict=True):
        spans = [ent for ent in doc.ents if (ent.start, ent.end) not in others]
        trace = lru_cache(partial(_of_entity, output, *traced))
        yield Explanation(doc, labels, True, spans, trace)


def _of_entity(
    output: Any, tokens: Any, features: Any, pull: Callable[[Any], Any], span: Span
) -> Contributions:
    """Pull the sums of a span's tags back to the tokens through their features."""
    ops = output.ops
    W, b = map(output.get_param, "Wb")
    tags = ops.xp.asarray(_tags((len(W) - 1) // len(KINDS), len(span)))
    D = ops.alloc3f(len(tags), *features.shape)
    D[:, span.start : span.end] = W[tags]
    logits = (D * features).sum(axis=(1, 2)) + b[tags].sum(axis=1)
    pulled = pull(D)
    is_part = ops.to_numpy(pulled.any(axis=(0, 2)))
    is_part[span.start : span.end] = True
    parts = [span.doc[int(i)] for i in np.flatnonzero(is_part)]
    added = (pulled * tokens).sum(axis=2)[:, ops.xp.asarray(is_part)]
    return _contributions(ops, parts, added, logits)


def _tags(n_labels: int, n_tokens: int) -> Ints:
    """Return the tags of a span's tokens for each label and O, (n_labels + 1, n)."""
    kinds = [BEGIN, *[INSIDE] * (n_tokens - 2), LAST] if n_tokens > 1 else [UNIT]
    of_labels = 1 + len(KINDS) * np.arange(n_labels)[:, None] + np.array(kinds)
    return np.vstack([of_labels, np.full((1, n_tokens), OUT)])


def _vectors(tok2vec: Any, docs: list[Doc]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the tokens of each Doc, their features, and the way back."""
    if not any(map(len, docs)):
        yield from ((None, None, lambda D: D) for _ in docs)
    elif not tok2vec.layers or tok2vec.layers[-1].name != "span_tokens":
        yield from ((X, X, lambda D: D) for X in tok2vec.predict(docs))
    else:
        encoder, layer = tok2vec.layers
        X = encoder.predict(docs)
        for i, doc in enumerate(docs):
            rows = join_rows(layer.ops, [doc], [(X, i)])
            tokens = pool_tokens(layer, rows, False)[0]
            (features,) = layer.predict(rows)
            yield tokens.dataXd, features, partial(_to_tokens, layer, doc, tokens)


def _to_tokens(layer: Model[Any, Any], doc: Doc, tokens: Sequences, D: Any) -> Any:
    """Bring what is multiplied with the output of `span_tokens` back to the tokens.

    The output is the token itself, its window, and the maximum over the windows of its
    span; the first and the last of them if the layer has them.
    """
    ops: Any = layer.ops
    window = layer.layers[1]
    width = get_width(tokens) if layer.attrs["keep_tokens"] else 0
    end = width + window.get_dim("nO")
    d_windows = D[:, :, width:end]
    if (key := layer.attrs["pooled_key"]) is not None:
        sizes = lengths_of([doc], key)
        windows = Sequences(window.predict(tokens).dataXd, ops.asarray1i(sizes), sizes)
        # All tokens of a span read its maximum.
        ends = np.cumsum([0, *sizes]).tolist()
        d_maxima = [D[:, a:b, end:].sum(axis=1) for a, b in pairwise(ends)]
        d_maxima = ops.xp.stack(d_maxima, axis=1)
        d_windows = d_windows + pull_back(layer.layers[2], windows, d_maxima)
    d_tokens = pull_back(window, tokens, d_windows)
    return d_tokens + D[:, :, :width] if width else d_tokens


def _contributions(ops: Any, tokens: Any, added: Any, logits: Any) -> Contributions:
    """Name what tokens add, (n_labels, n_tokens), and leave the rest to the bias."""
    added, logits = ops.to_numpy(added).T, ops.to_numpy(logits)
    parts = [Part(token.text, token.i, token.i + 1) for token in tokens]
    zeros = np.zeros_like(logits)
    return Contributions(parts, added, logits - added.sum(axis=0), zeros, zeros)
