"""Docs as the wordpieces of an encoder, in windows that overlap where they are long."""

from collections.abc import Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from spacy.attrs import IDX, LENGTH, SPACY
from spacy.tokens import Doc

from ..alignment import Encoding, Ints, encoding_of_wordpieces, ranges, tokens_apart
from ..pairs import Pair, check_tokenizer, split_pair

# How a tokenizer truncates is set in the tokenizer itself, which threads share.
_TRUNCATING = Lock()


class Window(NamedTuple):
    """Wordpieces that an encoder reads at once, [CLS] and the like among them."""

    ids: list[int]
    type_ids: list[int]  # the text of a pair that each is of; [] for no types
    # The characters of each in its Doc, (n_wordpieces, 2); none is (i, i).
    offsets: Ints


def cut_windows(
    docs: Sequence[Doc],
    tokenizer: Any,
    size: int,
    overlap: int,
    separator: str | None = None,
) -> list[list[Window]]:
    """Encode Docs as Hugging Face does, and return the windows of each.

    size (int): The most wordpieces of a window.
    overlap (int): The number of wordpieces of a text that two windows share.
    separator (Optional[str]): The separator between the texts of a pair. A Doc with
        it is encoded as `tokenizer(first, second, truncation=True)`, in one window.
    """
    by_doc: list[list[Window]] = [[] for _ in docs]
    pairs: list[tuple[int, Pair]] = []
    numbers: list[int] = []
    texts: list[str] = []
    for number, doc in enumerate(docs):
        if separator is not None and separator in doc.text:
            pairs.append((number, split_pair(doc, separator)))
        elif len(doc):
            numbers.append(number)
            texts.append(doc.text)
    if texts:
        how = {"max_length": size, "stride": overlap}
        encoded = _encode(tokenizer, texts, **how, return_overflowing_tokens=True)
        for i, owner in enumerate(encoded["overflow_to_sample_mapping"]):
            by_doc[numbers[owner]].append(_window(encoded, i))
    if pairs:
        check_tokenizer(tokenizer)
        both = [(pair.first, pair.second) for _, pair in pairs]
        encoded = _encode(tokenizer, both, max_length=size)
        for i, (number, pair) in enumerate(pairs):
            window = _window(encoded, i)
            sequences = encoded.encodings[i].sequence_ids
            cls = tokenizer.cls_token_id
            _place_in_doc(window, sequences, pair, docs[number], cls)
            by_doc[number].append(window)
    if tokenizer.truncation_side == "left":  # windows come from the end
        by_doc = [windows[::-1] for windows in by_doc]
    # Some tokenizers make nothing of white space.
    return [[window for window in windows if window.ids] for windows in by_doc]


def encoding_of(doc: Doc, windows: Sequence[Window]) -> Encoding:
    """Align the wordpieces of a Doc with its tokens.

    The space after a token belongs to it, as in spacy-transformers. Of several windows,
    each is as wide as the widest.
    """
    sizes = [len(window.ids) for window in windows]
    width = max(sizes, default=1)
    columns = doc.to_array([IDX, LENGTH, SPACY]).astype(np.int64)
    begins, ends = columns[:, 0], columns.sum(axis=1)
    pairs = [(np.zeros(0, np.int64),) * 2]  # of a text that has no wordpieces
    pairs += [
        _pair_up(begins, ends, x.offsets, i * width) for i, x in enumerate(windows)
    ]
    tokens, rows = map(np.concatenate, zip(*pairs, strict=True))
    order = np.lexsort((rows, tokens))
    n_rows = np.bincount(tokens, minlength=len(doc))
    return encoding_of_wordpieces(rows[order], n_rows, sizes, width, tokens_apart(doc))


def _encode(tokenizer: Any, texts: list[Any], **settings: Any) -> Any:
    with _TRUNCATING:
        return tokenizer(
            texts,
            truncation=True,
            return_attention_mask=False,
            return_offsets_mapping=True,
            **settings,
        )


def _window(encoded: Any, number: int) -> Window:
    types = encoded.get("token_type_ids")
    offsets = np.array(encoded["offset_mapping"][number], np.int64).reshape(-1, 2)
    types = [] if types is None else types[number]
    return Window(encoded["input_ids"][number], types, offsets)


def _place_in_doc(
    window: Window,
    sequence_ids: Sequence[int | None],
    pair: Pair,
    doc: Doc,
    cls: int | None,
) -> None:
    """Shift the offsets of a second text, and of the separator, to those in the Doc."""
    is_second = np.array([sequence == 1 for sequence in sequence_ids])
    begin = len(doc.text) - len(pair.second or "")
    window.offsets[is_second] += begin
    is_special = [sequence is None for sequence in sequence_ids]
    is_separator = np.logical_and(is_special, np.array(window.ids) != cls)
    special = np.flatnonzero(is_separator)[:-1]  # the last one ends the second text
    token = doc[pair.separator]
    window.offsets[special] = (token.idx, token.idx + len(token))


def _pair_up(
    begins: Ints, ends: Ints, offsets: Ints, first_row: int
) -> tuple[Ints, Ints]:
    """Pair tokens with the wordpieces that share a character with them."""
    pieces = np.flatnonzero(offsets[:, 1] > offsets[:, 0])
    first = np.searchsorted(ends, offsets[pieces, 0], side="right")
    last = np.searchsorted(begins, offsets[pieces, 1], side="left")
    n_tokens = np.maximum(last - first, 0)
    return ranges(first, n_tokens), first_row + np.repeat(pieces, n_tokens)


def micro_batches(lengths: Ints, overhead: float, most: int) -> list[Ints]:
    """Cut sequences into micro-batches of similar length, at the least cost.

    A micro-batch costs as many rows as it has with its padding, and the overhead. Of
    all cuts of the sequences in the order of their lengths, the cheapest is taken.

    lengths (Ints): The length of each sequence, (n_sequences,).
    overhead (float): The cost of a micro-batch beside its rows, in rows.
    most (int): The most rows of a micro-batch of more than one sequence.
    RETURNS (list[Ints]): The sequences of each micro-batch, the shortest ones first.
    """
    order = np.argsort(lengths, kind="stable")
    # Sequences of one length stay together: there are few lengths, even in thousands.
    sizes, counts = np.unique(lengths, return_counts=True)
    before = np.concatenate([[0], np.cumsum(counts)])
    n_sizes = len(sizes)
    best = np.zeros(n_sizes + 1)
    since = np.zeros(n_sizes + 1, np.int64)
    for end in range(1, n_sizes + 1):
        n_sequences = before[end] - before[:end]
        # One that would be too large is cut into several of the same length.
        n_parts = -(-n_sequences // max(1, most // sizes[end - 1]))
        costs = best[:end] + n_sequences * sizes[end - 1] + overhead * n_parts
        since[end] = np.argmin(costs)
        best[end] = costs[since[end]]
    batches: list[Ints] = []
    end = n_sizes
    while end:
        begin = int(since[end])
        group = order[before[begin] : before[end]]
        n_fitting = max(1, most // int(sizes[end - 1]))
        n_parts = -(-len(group) // n_fitting)
        batches.extend(reversed(np.array_split(group, n_parts)))
        end = begin
    return batches[::-1]
