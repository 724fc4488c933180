"""What each token and its neighbors add to the tags of a `bilou_ner`.

SpanTok2Vec's windows are linear for a given text: where the ReLU lets a feature
through, each place of the window adds its own matrix times the token that stands there,
and the output layer adds that to the tags. So is the maximum over a span: each of its
features is that of one window, and all tokens of the span have it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc
from thinc.api import Model

from ..errors import Errors, SpanftError
from ..ml.layers.sequences import Sequences, matmul
from ..ml.layers.span_tokens import lengths_of, tokens_of
from ..ml.layers.span_window import neighbors
from .contributions import Floats

Ints = NDArray[np.int64]
# What stands between the vectors of the tokens and the tags, besides wrappers.
_HEAD = {"fixed_dropout", "dropout", "softmax"}


class TokenContributions(NamedTuple):
    """What is added to the logit of each tag of each token of one Doc.

    sources (Ints): The token that adds something, (n_shares,).
    targets (Ints): The token whose tags it adds to, (n_shares,): itself, one that has
        it in its window, or one whose span has such a window.
    added (Floats): What it adds, (n_shares, n_tags).
    bias (Floats): What is added whatever the vectors of the tokens, (n_tokens, n_tags).
    """

    sources: Ints
    targets: Ints
    added: Floats
    bias: Floats

    @property
    def logits(self) -> Floats:
        """The logits: scores of the tags before the softmax."""
        total = self.bias.copy()
        np.add.at(total, self.targets, self.added)
        return total


def token_contributions(
    model: Model[Any, Any], docs: list[Doc]
) -> list[TokenContributions]:
    """Take the scores of the tags of Docs apart.

    model (Model[List[Doc], List[Floats2d]]): A `spacy-spanft.BilouTagger.v1`, trained.
    docs (list[Doc]): The Docs.
    RETURNS (list[TokenContributions]): What adds up to the scores of each.
    """
    ops: Any = model.ops
    tok2vec, output = _parts(model)
    n_tags = output.get_dim("nO")
    lengths = [len(doc) for doc in docs]
    if not any(lengths):
        nothing = np.zeros(0, np.int64), np.zeros(0, np.int64)
        scores = np.zeros((0, n_tags), "f"), np.zeros((0, n_tags), "f")
        return [TokenContributions(*nothing, *scores) for _ in docs]
    W, b = output.get_param("W"), output.get_param("b")
    if tok2vec.layers and tok2vec.layers[-1].name == "span_tokens":
        shares, bias = _of_windows(tok2vec, docs, W)
    else:
        vectors = ops.flatten(tok2vec.predict(docs))
        own = np.arange(len(vectors))
        shares, bias = [(own, own, matmul(vectors, W.T))], ops.alloc2f(1, n_tags)
    bias = ops.to_numpy(ops.xp.broadcast_to(bias + b, (sum(lengths), n_tags)))
    sources, targets = (np.concatenate([one[i] for one in shares]) for i in (0, 1))
    added = ops.to_numpy(ops.xp.concatenate([one[2] for one in shares]))
    return _by_doc(lengths, sources, targets, added, bias)


def _parts(model: Model[Any, Any]) -> tuple[Model[Any, Any], Model[Any, Any]]:
    """Find what makes the vectors of the tokens, and the layer with the tags."""
    is_known = model.has_ref("tok2vec") and model.has_ref("output_layer")
    head = model.layers[1:] if is_known else []
    names = [node.name for one in head for node in one.walk() if not node.layers]
    if not is_known or model.layers[0] is not model.get_ref("tok2vec"):
        raise SpanftError(Errors.CANNOT_EXPLAIN_LAYER.format(layer=model.name))
    for name in names:
        if name not in _HEAD:
            raise SpanftError(Errors.CANNOT_EXPLAIN_LAYER.format(layer=name))
    return model.get_ref("tok2vec"), model.get_ref("output_layer")


def _of_windows(
    tok2vec: Model[Any, Any], docs: list[Doc], W_tags: Any
) -> tuple[list[tuple[Ints, Ints, Any]], Any]:
    """Say what the tokens of all Docs add, place by place in the window.

    RETURNS (tuple[list[tuple[Ints, Ints, Floats2d]], Floats2d]): Sources, targets and
        what is added; and what the windows add whatever the tokens are.
    """
    rows, layer = tok2vec.layers
    window = layer.layers[1]
    b: Any = window.get_param("b")
    pieces = tokens_of(layer, rows.predict(docs))
    windows = window.predict(pieces).dataXd
    tokens: Any = pieces.dataXd
    width = tokens.shape[1] if layer.attrs["keep_tokens"] else 0
    W_own, W_window = W_tags[:, :width], W_tags[:, width : width + windows.shape[1]]
    is_on = windows > 0
    shares = _through(window, pieces, is_on, W_window)
    if width:
        own = shares[0][0]
        shares.append((own, own, matmul(tokens, W_own.T)))
    bias = matmul(is_on * b, W_window.T)
    if (key := layer.attrs["pooled_key"]) is not None:
        ops: Any = window.ops
        sizes = lengths_of(docs, key)
        W_span = W_tags[:, width + windows.shape[1] :]
        is_best = is_on & _is_best(ops, windows, sizes)
        winners, readers = _pairs(sizes)
        best = matmul(is_best * b, W_span.T)
        ops.scatter_add(bias, ops.asarray1i(readers), best[ops.asarray1i(winners)])
        for share in _through(window, pieces, is_best, W_span):
            shares.append(_to_readers(ops, share, winners, readers))
    return shares, bias


def _through(
    window: Model[Any, Any], pieces: Sequences, is_on: Any, W_tags: Any
) -> list[tuple[Ints, Ints, Any]]:
    """Say what tokens add through the features of windows that are on."""
    W: Any = window.get_param("W")
    tokens: Any = pieces.dataXd
    own = np.arange(len(tokens))
    middle = matmul(tokens, W[window.attrs["before"]].T) * is_on
    shares = [(own, own, matmul(middle, W_tags.T))]
    for place, at, offset in neighbors(window, pieces.on_host):
        through = matmul(tokens[at], W[place].T) * is_on[at - offset]
        sources = window.ops.to_numpy(at)
        shares.append((sources, sources - offset, matmul(through, W_tags.T)))
    return shares


def _is_best(ops: Any, windows: Any, sizes: Ints) -> Any:
    """Say in which features a token's window is the maximum of its piece."""
    lengths = ops.asarray1i(sizes)
    _, which = ops.reduce_max(windows, lengths)
    piece_of = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(piece_of)) - (np.cumsum(sizes) - sizes)[piece_of]
    return which[ops.asarray1i(piece_of)] == ops.asarray1i(place)[:, None]


def _pairs(sizes: Ints) -> tuple[Ints, Ints]:
    """Pair each token with all of its piece, which read what it adds."""
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    counts = np.repeat(sizes, sizes)
    winners = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(winners)) - np.repeat(np.cumsum(counts) - counts, counts)
    return winners, starts[winners] + place


def _to_readers(
    ops: Any, share: tuple[Ints, Ints, Any], winners: Ints, readers: Ints
) -> tuple[Ints, Ints, Any]:
    """Give what is added to a token of a piece to all of its tokens."""
    sources, targets, added = share
    row_of = np.full(winners.max() + 1, -1)
    row_of[targets] = np.arange(len(targets))
    rows = row_of[winners]
    is_there = rows >= 0  # at the ends of a text there are no neighbors
    rows = rows[is_there]
    return sources[rows], readers[is_there], added[ops.asarray1i(rows)]


def _by_doc(
    lengths: list[int], sources: Ints, targets: Ints, added: Floats, bias: Floats
) -> list[TokenContributions]:
    """Give each Doc its own shares, with the tokens numbered from its start."""
    doc_of = np.repeat(np.arange(len(lengths)), lengths)[targets]
    order = np.argsort(doc_of, kind="stable")
    shares = np.cumsum([0, *np.bincount(doc_of, minlength=len(lengths))])
    starts = np.cumsum([0, *lengths])
    found = []
    for i, start in enumerate(starts[:-1]):
        mine = order[shares[i] : shares[i + 1]]
        own = bias[start : starts[i + 1]]
        parts = sources[mine] - start, targets[mine] - start, added[mine], own
        found.append(TokenContributions(*parts))
    return found
