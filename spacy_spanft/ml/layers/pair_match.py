"""How well the pieces of two texts match: each with the one most like it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d

from ..alignment import NO_SPANS, Encoding, Ints, align_pieces, get_spans
from ..pairs import check_separator, split_pair
from .encoder_rows import DocRows
from .sequences import upload

InT = DocRows
OutT = Floats2d

# The least length of a vector: what is all but zero has no direction.
_TINY = 1e-12
# The cosine of the same text twice is 1, whose z would be infinite: it is 3.8.
_SHRINK = 0.999


class Sides(NamedTuple):
    """The pieces of the two texts of each pair, one pair after the other."""

    docs: Ints  # those that are pairs with rows on both sides, (n_pairs,)
    rows: Ints  # of the pieces
    lengths: Ints  # the number of rows of each piece, (n_pieces,)
    counts: Ints  # of the pieces of the first and the second text, (n_pairs, 2)


def pair_match(separator: str, spans_key: str | None = None) -> Model[InT, OutT]:
    """Make the layer. Docs that are not pairs get zeros.

    The vector of a piece is the mean of its rows. For each piece of one text its
    highest cosine with a piece of the other counts; the result is the mean over the
    pieces of a text, and over both texts.

    It becomes Fisher's z = artanh(cosine): what tells pairs apart is how near to 1 the
    cosine is. It is repeated as often as the encoder is wide: Adam moves each weight
    equally far, and a single one beside the hundreds of [CLS] would hardly learn.

    spans_key (Optional[str]): The key in doc.spans of the pieces; None compares the two
        texts as wholes, by the cosine of their means.
    """
    check_separator(separator)
    attrs = {"separator": separator, "spans_key": spans_key}
    return Model("pair_match", forward, attrs=attrs)


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], Floats2d]]:
    """Apply the layer."""
    ops: Any = model.ops
    sides = _sides_of(model, X, is_train)
    Y = ops.alloc2f(len(X.docs), X.vectors.shape[1])
    if not len(sides.docs):
        return Y, lambda dY: ops.xp.zeros_like(X.vectors)
    indices = (*_indices(sides.counts, 0), *_indices(sides.counts, 1))
    docs, rows, lengths, *at = upload(ops, *sides[:3], *indices)
    vectors = ops.reduce_mean(X.vectors[rows], lengths)
    norms = ops.xp.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    norms = ops.xp.maximum(norms, _TINY)
    units = vectors / norms
    longest = sides.counts.max(axis=0).tolist()
    scores, backprop_match = _match(ops, units, (at[:3], at[3:]), len(docs), longest)
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
    ops: Any,
    units: Any,
    indices: tuple[list[Any], list[Any]],
    n_pairs: int,
    longest: list[int],
) -> tuple[Any, Callable[[Any], Any]]:
    """Compare the pieces of all pairs at once, padded to those that have most.

    units (Floats2d): The pieces' vectors, of length 1.
    indices (tuple[list[Ints1d], list[Ints1d]]): The `_indices` of both sides.
    """
    xp = ops.xp
    padded, filled = [], []
    for n, (pair, slot, piece) in zip(longest, indices, strict=True):
        padded.append(xp.zeros((n_pairs, n, units.shape[1]), units.dtype))
        padded[-1][pair, slot] = units[piece]
        filled.append(xp.zeros((n_pairs, n), "bool"))
        filled[-1][pair, slot] = True
    cosines = padded[0] @ padded[1].transpose(0, 2, 1)
    is_real = filled[0][:, :, None] & filled[1][:, None, :]
    cosines = xp.where(is_real, cosines, -2.0)  # lower than any cosine
    chosen = xp.zeros_like(cosines)
    pairs = xp.arange(n_pairs)[:, None]
    for side, mask in enumerate(filled):
        # Each piece has its share of half the score.
        share = mask / (2 * mask.sum(axis=1, keepdims=True))
        slots, best = xp.arange(mask.shape[1])[None], cosines.argmax(axis=2 - side)
        chosen[(pairs, slots, best) if side == 0 else (pairs, best, slots)] += share
    cosines = xp.where(is_real, cosines, 0.0)
    scores = (chosen * cosines).sum(axis=(1, 2))

    def backprop(d_scores: Any) -> Any:
        d_cosines = chosen * d_scores[:, None, None]
        d_padded = d_cosines @ padded[1], d_cosines.transpose(0, 2, 1) @ padded[0]
        d_units = xp.zeros_like(units)
        for d, (pair, slot, piece) in zip(d_padded, indices, strict=True):
            d_units[piece] = d[pair, slot]
        return d_units

    return scores, backprop


def _indices(counts: Ints, side: int) -> tuple[Ints, Ints, Ints]:
    """Return the pair, the slot in its text, and the number of each piece of a side."""
    n = counts[:, side]
    pair = np.repeat(np.arange(len(n)), n)
    slot = np.arange(len(pair)) - np.repeat(np.cumsum(n) - n, n)
    total = counts.sum(axis=1)
    first = np.cumsum(total) - total + (counts[:, 0] if side else 0)
    return pair, slot, np.repeat(first, n) + slot


def _sides_of(model: Model[InT, OutT], X: InT, is_train: bool) -> Sides:
    separator, key = model.attrs["separator"], model.attrs["spans_key"]
    docs, rows, lengths, counts = [], [NO_SPANS[:, 0]], [NO_SPANS[:, 0]], []
    for number, (doc, encoding) in enumerate(zip(X.docs, X.encodings, strict=True)):
        token = split_pair(doc, separator).separator
        if token < 0:
            continue
        spans = NO_SPANS if key is None else get_spans(doc, key, is_train=is_train)
        sides = _pieces(encoding, spans, token, is_whole=key is None)
        if all(len(sizes) for _, sizes in sides):
            docs.append(number)
            rows += [own_rows + X.starts[number] for own_rows, _ in sides]
            lengths += [sizes for _, sizes in sides]
            counts.append([len(sizes) for _, sizes in sides])
    return Sides(
        np.array(docs, np.int64),
        np.concatenate(rows),
        np.concatenate(lengths),
        np.array(counts, np.int64).reshape(-1, 2),
    )


def _pieces(
    encoding: Encoding, spans: Ints, separator: int, is_whole: bool
) -> list[tuple[Ints, Ints]]:
    """Return the rows and the lengths of the pieces on each side of the separator."""
    rows, lengths = align_pieces(encoding, spans)
    # Special rows such as [CLS] are no part of a text: nobody compares them.
    side = np.full(len(encoding.windows) * encoding.width, -1)
    token = np.repeat(np.arange(len(encoding.n_rows)), encoding.n_rows)
    side[encoding.rows[token < separator]] = 0
    side[encoding.rows[token > separator]] = 1
    of_piece = side[rows[np.cumsum(lengths) - lengths]]
    of_row = np.repeat(of_piece, lengths)
    sides = []
    for number in (0, 1):
        side_rows, sizes = rows[of_row == number], lengths[of_piece == number]
        if is_whole and len(sizes):
            sizes = np.array([len(side_rows)], np.int64)
        sides.append((side_rows, sizes))
    return sides
