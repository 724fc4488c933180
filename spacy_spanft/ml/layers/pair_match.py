"""How well the pieces of two texts match: each with the one most like it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d

from ..alignment import NO_SPANS, Encoding, Ints, align_pieces, get_spans
from ..pairs import check_separator, split_pair
from .encoder_rows import DocRows, Pool
from .sequences import Applied, upload
from .span_pool import normalized

# The cosine of the same text twice is 1, whose z would be infinite: it is 3.8.
_SHRINK = 0.999


class Sides(NamedTuple):
    """The pieces of the two texts of each pair, one pair after the other."""

    docs: Ints  # those that are pairs with rows on both sides, (n_pairs,)
    rows: Ints  # of the pieces
    lengths: Ints  # the number of rows of each piece, (n_pieces,)
    counts: Ints  # of the pieces of the first and the second text, (n_pairs, 2)


def pair_match(separator: str, spans_key: str | None = None) -> Pool:
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


def forward(model: Pool, X: DocRows, is_train: bool) -> Applied:
    """Apply the layer."""
    ops: Any = model.ops
    sides = _sides_of(model, X, is_train)
    Y = ops.alloc2f(len(X.docs), X.vectors.shape[1])
    if not len(sides.docs):
        return Y, lambda dY: ops.xp.zeros_like(X.vectors)
    docs, rows, lengths = upload(ops, *sides[:3])
    vectors = ops.reduce_mean(X.vectors[rows], lengths)
    units, backprop_units = normalized(ops.xp, vectors)
    scores, backprop_match = _match(ops.xp, units, sides.counts)
    cosines = _SHRINK * scores[:, None]
    Y[docs] = ops.xp.log((1 + cosines) / (1 - cosines)) / 2  # artanh

    def backprop(dY: Floats2d) -> Floats2d:
        d_cosines = dY[docs].sum(axis=1, keepdims=True) / (1 - cosines**2)
        d_vectors = backprop_units(backprop_match(_SHRINK * d_cosines[:, 0]))
        d_rows = ops.xp.zeros_like(X.vectors)
        # No row is in two pieces, so there is nothing to add up.
        d_rows[rows] = ops.backprop_reduce_mean(d_vectors, lengths)
        return d_rows

    return Y, backprop


def _match(xp: Any, units: Any, counts: Ints) -> tuple[Any, Callable[[Any], Any]]:
    """Score each pair, whose pieces follow one another: those of one text first.

    units (Floats2d): The pieces' vectors, of length 1.
    """
    pairs, scores, start = [], [], 0
    for n, m in counts.tolist():
        one, two = units[start : start + n], units[start + n : start + n + m]
        cosines = one @ two.T
        # Each piece has its share of half the score.
        chosen = xp.zeros_like(cosines)
        chosen[xp.arange(n), cosines.argmax(axis=1)] += 0.5 / n
        chosen[cosines.argmax(axis=0), xp.arange(m)] += 0.5 / m
        scores.append((chosen * cosines).sum())
        pairs.append((one, two, chosen))
        start += n + m

    def backprop(d_scores: Any) -> Any:
        parts = []
        for (one, two, chosen), d in zip(pairs, d_scores, strict=True):
            parts += [d * (chosen @ two), d * (chosen.T @ one)]
        return xp.concatenate(parts)

    return xp.stack(scores), backprop


def _sides_of(model: Pool, X: DocRows, is_train: bool) -> Sides:
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
