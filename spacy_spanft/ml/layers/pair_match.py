"""How well the pieces of two texts match: each with the one most like it."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d

from ..alignment import Encoding, Ints, align_pieces, get_spans
from ..pairs import split_pair
from .doc_rows import DocRows
from .sequences import upload

InT = DocRows
OutT = Floats2d

_NO_SPANS = np.zeros((0, 2), np.int64)
# Of vectors that are all but zero: no direction, and nothing to divide by.
_TINY = 1e-12
# Of the same text twice the cosine is 1, whose z would be infinite: it is 3.8.
_SHRINK = 0.999


class Sides(NamedTuple):
    """The pieces of the two texts of each pair, one pair after the other.

    docs (Ints): Which Docs are pairs with rows on both sides, (n_pairs,).
    rows (Ints): The rows of the pieces.
    lengths (Ints): How many rows each piece has, (n_pieces,).
    counts (Ints): How many pieces the first and the second text have, (n_pairs, 2).
    """

    docs: Ints
    rows: Ints
    lengths: Ints
    counts: Ints


def pair_match(separator: str, spans_key: str | None = None) -> Model[InT, OutT]:
    """Make the layer. Docs that are not pairs get zeros.

    The vector of a piece is the mean of its rows. For each piece of one text its
    highest cosine with a piece of the other counts; the result is the mean over the
    pieces of a text, and over both texts.

    It becomes Fisher's z = artanh(cosine): an encoder of pairs gives both texts much
    the same vector, and what tells pairs apart is how near to 1 the cosine is. It is
    repeated as often as the encoder is wide. Optimizers such as Adam move each weight
    equally far, and a single one beside the hundreds of [CLS] would hardly learn.

    separator (str): What stands between the two texts.
    spans_key (Optional[str]): The key in doc.spans of what is compared; None compares
        the two texts as wholes, so that it is the cosine of their means.
    RETURNS (Model[DocRows, Floats2d]): Rows to vectors, (n_docs, width).
    """
    attrs = {"separator": separator, "spans_key": spans_key}
    return Model("pair_match", forward, attrs=attrs)


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], Floats2d]]:
    """Apply the layer."""
    ops: Any = model.ops
    sides = sides_of(model, X, is_train)
    width = X.vectors.shape[1]
    Y = ops.alloc2f(len(X.docs), width)
    if not len(sides.docs):
        return Y, lambda dY: ops.xp.zeros_like(X.vectors)
    numbers = (*_places(sides.counts, 0), *_places(sides.counts, 1))
    docs, rows, lengths, *places = upload(ops, *sides[:3], *numbers)
    vectors = ops.reduce_mean(X.vectors[rows], lengths)
    norms = ops.xp.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    norms = ops.xp.maximum(norms, _TINY)
    units = vectors / norms
    longest = sides.counts.max(axis=0).tolist()
    scores, backprop_match = _match(ops, units, places, (len(docs), *longest))
    cosines = _SHRINK * scores[:, None]
    Y[docs] = ops.xp.log((1 + cosines) / (1 - cosines)) / 2  # artanh

    def backprop(dY: OutT) -> Floats2d:
        d_cosines = dY[docs].sum(axis=1, keepdims=True) / (1 - cosines**2)
        d_units = backprop_match(_SHRINK * d_cosines[:, 0])
        along = (d_units * units).sum(axis=1, keepdims=True)
        d_vectors = (d_units - along * units) / norms
        d_rows = ops.xp.zeros_like(X.vectors)
        # No row is in two pieces, so there is nothing to add up.
        d_rows[rows] = ops.backprop_reduce_mean(d_vectors, lengths)
        return d_rows

    return Y, backprop


def _match(
    ops: Any, units: Any, numbers: list[Any], shape: tuple[int, int, int]
) -> tuple[Any, Callable[[Any], Any]]:
    """Compare the pieces of all pairs at once, padded to those that have most.

    units (Floats2d): The pieces' vectors, of length 1.
    numbers (list[Ints1d]): What `_places` says of the first texts, then of the others.
    shape (tuple[int, int, int]): How many pairs there are, and how many pieces their
        first and second texts have at most.
    RETURNS (tuple[Floats1d, Callable]): The scores of the pairs.
    """
    xp = ops.xp
    n_pairs, *longest = shape
    places = [numbers[:3], numbers[3:]]
    padded, given = [], []
    for n, (pair, place, piece) in zip(longest, places, strict=True):
        both = xp.zeros((n_pairs, n, units.shape[1]), units.dtype)
        both[pair, place] = units[piece]
        is_given = xp.zeros((n_pairs, n), "bool")
        is_given[pair, place] = True
        padded.append(both)
        given.append(is_given)
    cosines = padded[0] @ padded[1].transpose(0, 2, 1)
    is_real = given[0][:, :, None] & given[1][:, None, :]
    cosines = xp.where(is_real, cosines, -2.0)  # lower than any cosine
    # Each piece has its share of half the score.
    shares = [
        is_given / (2 * is_given.sum(axis=1, keepdims=True)) for is_given in given
    ]
    chosen = xp.zeros_like(cosines)
    pairs = xp.arange(n_pairs)[:, None]
    for side, share in enumerate(shares):
        own, best = xp.arange(share.shape[1])[None], cosines.argmax(axis=2 - side)
        chosen[(pairs, own, best) if side == 0 else (pairs, best, own)] += share
    cosines = xp.where(is_real, cosines, 0.0)
    scores = (chosen * cosines).sum(axis=(1, 2))

    def backprop(d_scores: Any) -> Any:
        d_cosines = chosen * d_scores[:, None, None]
        d_padded = d_cosines @ padded[1], d_cosines.transpose(0, 2, 1) @ padded[0]
        d_units = xp.zeros_like(units)
        for d, (pair, place, piece) in zip(d_padded, places, strict=True):
            d_units[piece] = d[pair, place]
        return d_units

    return scores, backprop


def _places(counts: Ints, side: int) -> tuple[Ints, Ints, Ints]:
    """Find the pair, the place in its text, and the number of each piece of a side."""
    n = counts[:, side]
    pair = np.repeat(np.arange(len(n)), n)
    place = np.arange(len(pair)) - np.repeat(np.cumsum(n) - n, n)
    total = counts.sum(axis=1)
    first = np.cumsum(total) - total + (counts[:, 0] if side else 0)
    return pair, place, np.repeat(first, n) + place


def sides_of(model: Model[InT, OutT], X: InT, is_train: bool) -> Sides:
    """Find the pieces of both texts of each pair.

    model (Model[DocRows, Floats2d]): The layer.
    X (DocRows): The rows of all Docs.
    is_train (bool): Whether it learns from them.
    RETURNS (Sides): The pieces.
    """
    separator, key = model.attrs["separator"], model.attrs["spans_key"]
    docs, rows, lengths, counts = [], [], [], []
    for number, (doc, encoding) in enumerate(zip(X.docs, X.encodings, strict=True)):
        place = split_pair(doc, separator).separator
        if place < 0:
            continue
        spans = _NO_SPANS if key is None else get_spans(doc, key, is_train=is_train)
        own = _pieces(encoding, spans, place, is_whole=key is None)
        if all(len(one) for _, one in own):
            docs.append(number)
            rows += [one + X.starts[number] for one, _ in own]
            lengths += [one for _, one in own]
            counts.append([len(one) for _, one in own])
    return Sides(
        np.array(docs, np.int64),
        _joined(rows),
        _joined(lengths),
        np.array(counts, np.int64).reshape(-1, 2),
    )


def _pieces(
    encoding: Encoding, spans: Ints, separator: int, is_whole: bool
) -> list[tuple[Ints, Ints]]:
    """Find the rows and the lengths of the pieces before the separator and after it."""
    rows, lengths = align_pieces(encoding, spans)
    # Special rows such as [CLS] are no part of a text: nobody compares them.
    side = np.full(len(encoding.windows) * encoding.width, -1)
    token = np.repeat(np.arange(len(encoding.n_rows)), encoding.n_rows)
    side[encoding.rows[token < separator]] = 0
    side[encoding.rows[token > separator]] = 1
    of_piece = side[rows[np.cumsum(lengths) - lengths]]
    of_row = np.repeat(of_piece, lengths)
    found = []
    for number in (0, 1):
        own, n_rows = rows[of_row == number], lengths[of_piece == number]
        whole = np.array([len(own)] if len(own) else [], np.int64)
        found.append((own, whole if is_whole else n_rows))
    return found


def _joined(parts: Sequence[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *parts])
