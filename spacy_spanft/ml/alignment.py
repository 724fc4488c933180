"""From Docs, spans and the encoder's alignment to the rows of each span.

Works on plain arrays on the CPU, a Doc at a time, without a look at any single token.
A row is one output vector of the encoder: a wordpiece, or a token where the encoder
knows no wordpieces. A piece is what is pooled together: a span, a token in no span, or
a row that belongs to no token, such as [CLS] and [SEP].
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IS_SPACE, SPACY
from spacy.tokens import Doc, SpanGroup

from ..errors import SpanftError, listed, shown
from ..util import SAMPLE, WRITER

Ints = NDArray[np.int64]
NO_SPANS = np.zeros((0, 2), np.int64)


class Encoding(NamedTuple):
    """The rows of the tokens of a Doc. All windows are as wide as the widest."""

    rows: Ints  # of each token, one token after the other
    n_rows: Ints  # the number of rows of each token, (n_tokens,)
    windows: Ints  # the number of rows of each without padding, (n_windows,)
    width: int  # of a window with its padding
    begins: Ints  # the first real row of each window, (n_windows,)


class Pieces(NamedTuple):
    """The rows, piece by piece, and the number of each, never 0, (n_pieces,)."""

    rows: Ints
    lengths: Ints


def mark_sample(docs: Sequence[Doc], key: str) -> None:
    """Write an empty group of spans where there is none, to initialize a model.

    spaCy does that with Docs that no component has seen.
    """
    for doc in docs:
        if key not in doc.spans:
            doc.spans[key] = SpanGroup(doc, name=key, attrs={WRITER: SAMPLE})


def is_sample(doc: Doc) -> bool:
    """Whether a Doc is only for the initialization of a model: see `mark_sample`."""
    return any(map(is_of_sample, doc.spans.values()))


def is_of_sample(group: SpanGroup) -> bool:
    """Whether `mark_sample` wrote a group of spans."""
    return bool(group.attrs.get(WRITER) == SAMPLE)


def get_spans(doc: Doc, key: str, *, is_train: bool = False) -> Ints:
    """Read the spans of a Doc, and check that they can be pooled.

    is_train (bool): Whether a model learns from them, so that what `mark_sample` wrote
        does not count.
    RETURNS (Ints): Their starts and ends, in order, (n_spans, 2).
    """
    spans = read_spans(doc, key, is_train=is_train)
    overlaps = np.flatnonzero(spans[1:, 0] < spans[:-1, 1])
    if len(overlaps):
        first = int(overlaps[0])
        texts = [doc[a:b].text for a, b in spans[first : first + 2].tolist()]
        raise SpanftError(
            f"The spans in doc.spans[{key!r}] overlap, so they cannot be pooled one "
            f"by one: the first two that do are {shown(texts[0])} and "
            f"{shown(texts[1])}. Use the spans of a span_segmenter, or make them "
            "disjoint with spacy.util.filter_spans."
        )
    return spans


def read_spans(doc: Doc, key: str, *, is_train: bool = False) -> Ints:
    """Read the spans of a Doc, which may overlap; otherwise as `get_spans`."""
    if key not in doc.spans or (is_train and is_of_sample(doc.spans[key])):
        names = [name for name, group in doc.spans.items() if not is_of_sample(group)]
        when = " in training" if is_train else ""
        raise SpanftError(
            f"doc.spans has no {key!r}{when} (it has: {listed(names)}). A component "
            "before this one in [nlp] pipeline must write it, usually a span_segmenter "
            "with the same spans_key, and be named in [training] annotating_components "
            "(in a loop of your own: nlp.update(..., annotates=[...]))."
        )
    spans = [(span.start, span.end) for span in doc.spans[key]]
    return np.array(sorted(spans), np.int64).reshape(-1, 2)


def align_pieces(
    encoding: Encoding,
    spans: Ints,
    *,
    max_pieces: int | None = None,
    max_rows: int | None = None,
) -> Pieces:
    """Return the rows of each piece of a Doc.

    Each row is in one piece at most: the first token that has it keeps it, and of
    windows that overlap the one with most of a token counts. Pieces without any row are
    left out.

    encoding (Encoding): The rows of the Doc's tokens.
    spans (Ints): Disjoint spans in order, (n_spans, 2).
    max_pieces (Optional[int]): Keep only the first pieces (the paper's r).
    max_rows (Optional[int]): Keep only the first rows of each piece (the paper's l).
    RETURNS (Pieces): The pieces in the order of their rows.
    """
    token = np.repeat(np.arange(len(encoding.n_rows)), encoding.n_rows)
    rows = encoding.rows
    kept = _in_best_window(encoding)
    rows, token = rows[kept], token[kept]
    first = np.sort(np.unique(rows, return_index=True)[1])
    rows, token = rows[first], token[first]
    piece = piece_of_token(spans, len(encoding.n_rows))[token]
    special = _special_rows(encoding)
    # A special row is a piece of its own, numbered after all others so far.
    n_pieces = int(piece.max(initial=-1)) + 1
    rows = np.concatenate([rows, special])
    piece = np.concatenate([piece, n_pieces + np.arange(len(special))])
    return _group(rows, piece, max_pieces, max_rows)


def align_tokens(encoding: Encoding) -> tuple[Ints, Ints]:
    """Return the rows of each token of a Doc, and their number, (n_tokens,).

    Of windows that overlap the one with most of a token counts. A row that several
    tokens share is listed for each of them; a token may have none.
    """
    n_tokens = len(encoding.n_rows)
    kept = _in_best_window(encoding)
    token = np.repeat(np.arange(n_tokens), encoding.n_rows)[kept]
    return encoding.rows[kept], np.bincount(token, minlength=n_tokens)


def piece_of_token(spans: Ints, n_tokens: int) -> Ints:
    """Return the number of the piece of each token, (n_tokens,).

    Disjoint spans in order, (n_spans, 2), and the tokens between them are the pieces.
    """
    begins = np.ones(n_tokens, np.int64)
    lengths = spans[:, 1] - spans[:, 0]
    begins[ranges(spans[:, 0], lengths)] = 0
    begins[spans[lengths > 0, 0]] = 1
    return np.cumsum(begins) - 1


def _in_best_window(encoding: Encoding) -> NDArray[np.bool_]:
    """Return which rows are in the first of the windows that have most of their token.

    A long word may begin at the end of a window, and be whole in the next one.
    """
    n_windows = max(1, len(encoding.windows))
    if n_windows == 1:
        return np.ones(len(encoding.rows), np.bool_)
    token = np.repeat(np.arange(len(encoding.n_rows)), encoding.n_rows)
    both = token * n_windows + encoding.rows // encoding.width
    pairs, pair, n_rows = np.unique(both, return_inverse=True, return_counts=True)
    is_start = np.diff(pairs // n_windows, prepend=-1) > 0
    # More rows are better, and then an earlier window.
    value = n_rows * n_windows - pairs % n_windows
    best = np.maximum.reduceat(value, np.flatnonzero(is_start))
    kept: NDArray[np.bool_] = (value == best[np.cumsum(is_start) - 1])[pair]
    return kept


def _special_rows(encoding: Encoding) -> Ints:
    """Return the rows of no token: all in the first window, in others the last one.

    In a Doc of one window that is [CLS] and [SEP]. Of several windows, [CLS] counts
    where the first begins, and [SEP] where the last ends.
    """
    if not len(encoding.windows):
        return np.zeros(0, np.int64)
    n_windows = len(encoding.windows)
    starts, ends = real_rows(encoding)
    is_free = np.zeros(n_windows * encoding.width, np.bool_)
    is_free[starts[0] : ends[0]] = True
    if n_windows > 1:
        # The end of the first window is not the end of the text.
        is_free[ends[0] - 1] = False
        is_free[ends[-1] - 1] = True
    is_free[encoding.rows] = False
    return np.flatnonzero(is_free)


def real_rows(encoding: Encoding) -> tuple[Ints, Ints]:
    """Return where the rows that are not padding begin and end, (n_windows,) each."""
    starts = np.arange(len(encoding.windows)) * encoding.width + encoding.begins
    return starts, starts + encoding.windows


def rows_of_windows(encoding: Encoding) -> Ints:
    """Return the rows that are not padding."""
    return ranges(real_rows(encoding)[0], encoding.windows)


def row_of_text(encoding: Encoding, is_cls: Callable[[int], bool]) -> int:
    """Return the row that stands for the whole of a Doc; -1 if there is none.

    It is the first row of the text (BERT, RoBERTa), or the last one (XLNet), and one
    that the tokenizer added: it belongs to no token.
    """
    if not len(encoding.windows):
        return -1
    starts, ends = real_rows(encoding)
    for row in (int(starts[0]), int(ends[-1]) - 1):
        if is_cls(row) and row not in encoding.rows:
            return row
    return -1


def _group(
    rows: Ints, piece: Ints, max_pieces: int | None, max_rows: int | None
) -> Pieces:
    order = np.lexsort((rows, piece))
    rows, piece = rows[order], piece[order]
    is_start = np.ones(len(rows), np.bool_)
    is_start[1:] = piece[1:] != piece[:-1]
    starts = np.flatnonzero(is_start)
    lengths = np.diff(np.append(starts, len(rows)))
    # Pieces in the order of their first rows.
    order = np.argsort(rows[starts], kind="stable")[:max_pieces]
    starts, lengths = starts[order], lengths[order]
    if max_rows is not None:
        lengths = np.minimum(lengths, max_rows)
    return Pieces(rows[ranges(starts, lengths)], lengths)


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """Return the numbers of several ranges, one after the other."""
    numbers = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    return numbers + np.arange(len(numbers))


def encoding_of_tokens(n_tokens: int) -> Encoding:
    """Return the rows of an encoder that has one for each token, and no others."""
    rows, ones = np.arange(n_tokens), np.ones(n_tokens, np.int64)
    return encoding_of_wordpieces(rows, ones, [n_tokens], max(1, n_tokens))


def encoding_of_wordpieces(
    rows: Ints,
    n_rows: Ints,
    windows: Sequence[int] | NDArray[Any],
    width: int,
    is_apart: NDArray[np.bool_] | None = None,
    begins: Sequence[int] | NDArray[Any] | None = None,
) -> Encoding:
    """Return the rows of a transformer, which are its wordpieces: see `Encoding`.

    is_apart (Optional[NDArray]): Which tokens have white space between themselves and
        the next one, or are white space: they share no wordpiece with it.
    begins (Optional[Sequence[int]]): The first wordpiece of each window; None if no
        padding comes before it.
    """
    rows, n_rows = np.asarray(rows, np.int64).ravel(), np.asarray(n_rows, np.int64)
    if is_apart is not None:
        rows, n_rows = _without_those_of_the_next(rows, n_rows, is_apart)
    windows = np.minimum(np.asarray(windows, np.int64), width)
    if begins is None:
        begins = np.zeros(len(windows), np.int64)
    return Encoding(rows, n_rows, windows, width, np.asarray(begins, np.int64))


def tokens_apart(doc: Doc) -> NDArray[np.bool_]:
    """Return which tokens have white space to the next one, or are white space."""
    flags: NDArray[Any] = doc.to_array([SPACY, IS_SPACE])
    return np.asarray(flags.any(axis=1))


def _without_those_of_the_next(
    rows: Ints, n_rows: Ints, is_apart: NDArray[np.bool_]
) -> tuple[Ints, Ints]:
    """Take the first wordpiece of a word away from the word before it.

    ALBERT's and DeBERTa's begin with the space between both, which is the first's.
    """
    token = np.repeat(np.arange(len(n_rows)), n_rows)
    n = int(rows.max(initial=0)) + 1
    is_of_next = np.isin((token + 1) * n + rows, token * n + rows)
    kept = ~(is_of_next & is_apart[token])
    return rows[kept], np.bincount(token[kept], minlength=len(n_rows))
