"""Which rows make up which piece, against a twin that looks at one row at a time."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.alignment import (
    align_pieces,
    encoding_of_wordpieces,
    get_spans,
    mark_sample,
)

from .torch_twins import best_window, encode


def slow_twin(token_rows, windows, width, spans, max_pieces, max_rows):
    aligned = {row for rows in token_rows for row in rows}
    pieces, taken = [], set()
    inside = {i: (start, end) for start, end in spans for i in range(start, end)}
    groups = {}
    for i, rows in enumerate(token_rows):
        group = groups.setdefault(inside.get(i, (i, i + 1)), [])
        for row in sorted(rows):
            if row // width == best_window(rows, width) and row not in taken:
                taken.add(row)
                group.append(row)
    pieces = [sorted(group) for group in groups.values() if group]
    for window, n_rows in enumerate(windows):
        for row in range(window * width, window * width + min(n_rows, width)):
            index = row - window * width
            is_last_of_window = index == min(n_rows, width) - 1
            counts = len(windows) == 1 or (window == 0 and not is_last_of_window)
            counts = counts or (0 < window == len(windows) - 1 and is_last_of_window)
            if counts and row not in aligned:
                pieces.append([row])
    pieces.sort()
    return [piece[:max_rows] for piece in pieces[:max_pieces]]


caps = st.one_of(st.none(), st.integers(1, 4))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 9999),
    n_tokens=st.integers(0, 8),
    max_pieces=caps,
    max_rows=caps,
)
def test_equals_looking_at_each_row(seed, n_tokens, max_pieces, max_rows):
    random = np.random.default_rng(seed)
    encoding = encode(random, n_tokens)
    rows = np.split(encoding.rows, np.cumsum(encoding.n_rows)[:-1])[:n_tokens]
    ends = sorted({0, n_tokens, *random.integers(0, n_tokens + 1, 4).tolist()})
    spans = [span for span in pairwise(ends) if random.random() < 0.6]
    bounds = np.array(spans, np.int64).reshape(-1, 2)
    actual = align_pieces(encoding, bounds, max_pieces=max_pieces, max_rows=max_rows)
    parts = np.split(actual.rows, np.cumsum(actual.lengths)[:-1])
    pieces = [part.tolist() for part in parts]
    case = [row.tolist() for row in rows], encoding.windows.tolist(), encoding.width
    expected = slow_twin(*case, spans, max_pieces, max_rows)
    assert [piece for piece in pieces if piece] == expected
    assert (actual.lengths > 0).all()
    assert len(np.unique(actual.rows)) == len(actual.rows)


def test_spans_of_a_sample_are_not_learned_from(nlp):
    doc = nlp.make_doc("a b")
    mark_sample([doc], "x")
    doc.spans["y"] = [doc[:1]]
    assert get_spans(doc, "y", is_train=True).tolist() == [[0, 1]]
    with pytest.raises(SpanftError, match=r"no 'x' in training \(it has: 'y'\)"):
        get_spans(doc, "x", is_train=True)


def test_spans_that_overlap(nlp):
    doc = nlp("the united states of america")
    doc.spans["sc"] = [doc[3:5], doc[0:3], doc[1:4]]
    with pytest.raises(SpanftError, match="'the united states' and 'united states of'"):
        get_spans(doc, "sc")
    doc.spans["sc"] = [doc[3:5], doc[0:3]]
    assert get_spans(doc, "sc").tolist() == [[0, 3], [3, 5]]


def test_only_space_keeps_tokens_from_sharing():
    """Of a word cut in two, both have the wordpiece."""
    is_apart = np.array([False, True, True])
    rows = [0, 1, 1, 2, 2, 3]
    encoding = encoding_of_wordpieces(rows, [2, 2, 2], [4], 4, is_apart)
    assert encoding.rows.tolist() == [0, 1, 1, 2, 3]
    assert encoding.n_rows.tolist() == [2, 1, 2]
