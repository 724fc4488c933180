"""Docs as the wordpieces of an encoder, in windows that overlap where they are long."""

from collections.abc import Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDX, LENGTH, SPACY
from spacy.tokens import Doc

from ..alignment import Encoding, Ints, encoding_of_wordpieces, tokens_apart
from ..pairs import Pair, check_tokenizer, split_pair

# How a tokenizer truncates is set in the tokenizer itself, which threads share.
_TRUNCATING = Lock()


class Window(NamedTuple):
    """What an encoder gets at once, and what is to be known of it.

    ids (list[int]): The wordpieces, [CLS] and the like among them.
    type_ids (list[int]): Which of two texts each is of; [] if the encoder does not ask.
    offsets (Ints): The characters of each in its Doc, (n_wordpieces, 2); the same twice
        where it has none.
    """

    ids: list[int]
    type_ids: list[int]
    offsets: Ints

    def __len__(self) -> int:
        """Count its wordpieces."""
        return len(self.ids)


class Windows(NamedTuple):
    """Those of a batch of Docs.

    windows (list[Window]): All windows, one Doc after the other.
    counts (Ints): How many each Doc has; an empty Doc has none, (n_docs,).
    """

    windows: list[Window]
    counts: Ints


def cut_windows(
    docs: Sequence[Doc],
    tokenizer: Any,
    size: int,
    overlap: int,
    separator: str | None = None,
) -> Windows:
    """Encode Docs as Hugging Face does.

    docs (Sequence[Doc]): The Docs.
    tokenizer (PreTrainedTokenizerFast): The tokenizer of the encoder.
    size (int): How many wordpieces a window has at most.
    overlap (int): How many wordpieces of a text two windows share.
    separator (Optional[str]): What stands between the two texts of a pair. A Doc with
        it is encoded as `tokenizer(first, second, truncation=True)`, in one window.
    RETURNS (Windows): The windows.
    """
    found: list[list[Window]] = [[] for _ in docs]
    pairs: list[tuple[int, Pair]] = []
    texts: list[int] = []
    for number, doc in enumerate(docs):
        if separator is not None and separator in doc.text:
            pairs.append((number, split_pair(doc, separator)))
        elif len(doc):
            texts.append(number)
    if texts:
        encoded = _encode(
            tokenizer,
            [docs[number].text for number in texts],
            max_length=size,
            stride=overlap,
            return_overflowing_tokens=True,
        )
        for i, owner in enumerate(encoded["overflow_to_sample_mapping"]):
            found[texts[owner]].append(_window(encoded, i))
    if pairs:
        check_tokenizer(tokenizer)
        both = [(pair.first, pair.second) for _, pair in pairs]
        encoded = _encode(tokenizer, both, max_length=size)
        for i, (number, pair) in enumerate(pairs):
            window = _window(encoded, i)
            _place_in_doc(window, encoded.encodings[i].sequence_ids, pair, docs[number])
            found[number].append(window)
    counts = np.array([len(own) for own in found], np.int64)
    return Windows([window for own in found for window in own], counts)


def encoding_of(doc: Doc, windows: Sequence[Window]) -> Encoding:
    """Find the wordpieces of each token of a Doc.

    To a token belongs the space after it, as in spacy-transformers.

    windows (Sequence[Window]): Those of the Doc.
    RETURNS (Encoding): What the encoder says of the Doc. Of several windows, each is as
        wide as the widest.
    """
    width = max((len(window) for window in windows), default=1)
    sizes = [len(window) for window in windows]
    found = [
        _tokens_of(doc, window.offsets, number * width)
        for number, window in enumerate(windows)
    ]
    tokens, rows = (np.concatenate(parts) for parts in zip(*found, strict=True))
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
    window: Window, sequence_ids: Sequence[int | None], pair: Pair, doc: Doc
) -> None:
    """Count the characters of a second text, and of the separator, in the Doc."""
    is_second = np.array([one == 1 for one in sequence_ids])
    begin = len(doc.text) - len(pair.second or "")
    window.offsets[is_second] += begin
    # The first special one is [CLS], the last one ends the second text.
    special = np.flatnonzero([one is None for one in sequence_ids])[1:-1]
    token = doc[pair.separator]
    window.offsets[special] = (token.idx, token.idx + len(token))


def _tokens_of(
    doc: Doc, offsets: Ints, first_row: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pair tokens with the wordpieces that share a character with them."""
    places = doc.to_array([IDX, LENGTH, SPACY]).astype(np.int64)
    begins, ends = places[:, 0], places.sum(axis=1)
    pieces = np.flatnonzero(offsets[:, 1] > offsets[:, 0])
    first = np.searchsorted(ends, offsets[pieces, 0], side="right")
    last = np.searchsorted(begins, offsets[pieces, 1], side="left")
    n_tokens = np.maximum(last - first, 0)
    inside = np.arange(n_tokens.sum()) - np.repeat(
        np.cumsum(n_tokens) - n_tokens, n_tokens
    )
    tokens = np.repeat(first, n_tokens) + inside
    return tokens, first_row + np.repeat(pieces, n_tokens)
