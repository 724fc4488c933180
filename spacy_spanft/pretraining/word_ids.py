"""Which tokens are a word together: what the tokenizer itself says."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SpanftError

NO_WORD = -1  # the word of a special token
_SPACES = ("Ġ", "▁")  # how byte-level BPE and SentencePiece write a space


def check_tokenizer(tokenizer: Any) -> None:
    """Raise for a tokenizer that cannot mask, or does not know words."""
    name = tokenizer.name_or_path or type(tokenizer).__name__
    if not tokenizer.is_fast:
        raise SpanftError(
            f"The tokenizer of {name!r} is not a fast one, and only those know which "
            "tokens are a word together. Use a model that has a tokenizer.json."
        )
    if tokenizer.mask_token_id is None:
        raise SpanftError(
            f"The tokenizer of {name!r} has no mask token. Use a model that was "
            "trained as a masked language model."
        )


def tells_words(tokenizer: Any) -> bool:
    """Whether a tokenizer's `word_ids` are words: some take a text as one word."""
    ids = tokenizer("a a", add_special_tokens=False).word_ids()
    return len(ids) > 1 and ids[0] != ids[-1]


def word_starts(encoding: Any, text: str, by_space: bool) -> NDArray[np.bool_]:
    """Return which tokens begin a word.

    encoding (tokenizers.Encoding): The text in tokens, without special ones around it.
    by_space (bool): Look at the text's white space too, which takes longer.
    RETURNS (NDArray[np.bool_]): (n_tokens,).
    """
    starts = _changes(_numbers(encoding.word_ids))
    if by_space:
        edges = (text[max(0, begin - 1) : begin + 1] for begin, _ in encoding.offsets)
        starts |= np.array([any(map(str.isspace, edge)) for edge in edges], np.bool_)
    return starts


def words_of(
    feature: Mapping[str, Any], tokenizer: Any, has_words: bool = True
) -> NDArray[np.int64]:
    """Return the word of each token in what a data collator gets.

    feature (Mapping[str, Any]): What the tokenizer gave for one text, or a dict with
        `word_ids` (None for special tokens) or `offset_mapping` beside `input_ids`.
    has_words (bool): Whether it tells words by itself, see `tells_words`.
    RETURNS (NDArray[np.int64]): The number of the word, NO_WORD for special tokens.
    """
    if "word_ids" in feature:
        ids = feature["word_ids"]
        return ids if isinstance(ids, np.ndarray) else _numbers(ids)
    encodings = getattr(feature, "encodings", None)
    if encodings and has_words:
        return _numbers(encodings[0].word_ids)
    offsets = encodings[0].offsets if encodings else feature.get("offset_mapping")
    if offsets is not None:
        return _words_by_offset(feature["input_ids"], offsets, tokenizer)
    raise SpanftError(
        f"Nothing says which tokens are a word together: there are only {[*feature]}. "
        "Pass what a fast tokenizer returns, or keep the offsets: "
        "tokenizer(text, return_offsets_mapping=True)"
    )


def _words_by_offset(ids: Any, offsets: Any, tokenizer: Any) -> NDArray[np.int64]:
    """A word goes on where the last token ended, unless the token says otherwise."""
    offsets = np.asarray(offsets, np.int64).reshape(-1, 2)
    tokens = tokenizer.convert_ids_to_tokens(ids)
    is_special = offsets[:, 0] == offsets[:, 1]
    starts = np.array([token.startswith(_SPACES) for token in tokens], np.bool_)
    starts |= np.append(-1, offsets[:-1, 1]) < offsets[:, 0]
    model = tokenizer.backend_tokenizer.model
    if goes_on := getattr(model, "continuing_subword_prefix", None):  # WordPiece's ##
        starts |= np.array([not token.startswith(goes_on) for token in tokens])
    starts |= np.append(True, is_special[:-1])
    return np.where(is_special, NO_WORD, np.cumsum(starts))


def _numbers(word_ids: Sequence[int | None]) -> NDArray[np.int64]:
    return np.array([NO_WORD if i is None else i for i in word_ids], np.int64)


def _changes(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    starts = np.ones(len(numbers), np.bool_)
    starts[1:] = numbers[1:] != numbers[:-1]
    return starts
