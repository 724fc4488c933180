"""Candidates for `spancat`: the spans of a segmentation, and all short n-grams."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Ops, get_current_ops
from thinc.types import Ragged

from ..errors import check_number
from ..ml.alignment import NO_SPANS, Ints, read_spans

Suggester = Callable[..., Ragged]


def segment_suggester(
    spans_key: str = "ngrams", min_size: int = 1, max_size: int = 3
) -> Suggester:
    """Build `spacy-spanft.segment_suggester.v1`: all n-grams, and all longer segments.

    The n-grams include what stands inside a segment: "United Airlines" in "United
    Airlines Holding".

    spans_key (str): The key in doc.spans.
    min_size (int): The number of tokens of the shortest n-grams.
    max_size (int): The number of tokens of the longest n-grams; 0 for segments alone.
    """
    check_number("min_size", min_size, lambda size: size >= 1, "1 or more")
    expected = f"0, or min_size = {min_size} or more"
    check_number("max_size", max_size, lambda n: not n or n >= min_size, expected)
    return partial(_suggest, spans_key, min_size, max_size)


def _suggest(
    spans_key: str,
    min_size: int,
    max_size: int,
    docs: Iterable[Doc],
    *,
    ops: Ops | None = None,
) -> Ragged:
    spans = [_candidates(doc, spans_key, min_size, max_size) for doc in docs]
    device: Any = ops or get_current_ops()
    lengths = device.asarray1i(list(map(len, spans)))
    return Ragged(device.asarray2i(np.concatenate([NO_SPANS, *spans])), lengths)


def _candidates(doc: Doc, spans_key: str, min_size: int, max_size: int) -> Ints:
    sizes = range(min_size, min(max_size, len(doc)) + 1)
    grams = [np.add.outer(np.arange(len(doc) - size + 1), [0, size]) for size in sizes]
    segments = np.unique(read_spans(doc, spans_key), axis=0)
    length = segments[:, 1] - segments[:, 0]
    is_new = (length > 0) & ((length < min_size) | (length > max_size))
    return np.concatenate([*grams, segments[is_new]])
