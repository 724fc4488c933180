"""The data collator: batches for masked language modeling, of any fast tokenizer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import DataCollatorForTokenClassification

from ..errors import SpanftError, check_setting
from .masking import MAX_SHARE, Masking, Positions, Random, choose

IGNORED = -100  # the label of a token that is not predicted
NO_WORD = -1  # the word of a special token
_SPACES = ("Ġ", "▁")  # how byte-level BPE and SentencePiece write a space
# What becomes of what is masked: [MASK], random tokens, or nothing.
_P_MASK, _P_RANDOM = 0.8, 0.1


class Masked(NamedTuple):
    """The tokens of a sequence, some of them masked, and what stood there."""

    ids: NDArray[np.int64]
    labels: NDArray[np.int64]


@dataclass
class SpanMaskingCollator:
    """Masks whole words, and makes batches of the sequences.

    A sequence is what the tokenizer gives for a text, or a dict with `word_ids` or
    `offset_mapping` beside `input_ids`; for "ngrams" it has `segment_ids`, too: one
    number for all tokens of an n-gram, or of a word in none.
    Chance depends on `seed` and the sequence's `key`, whole numbers that name the
    example and the epoch, and on nothing else. Without a key it comes from PyTorch's
    global generator, as in Hugging Face's own collators.

    masking (str): What is masked at once: "tokens", "words", "spans" or "ngrams".
    share (float): The share of the tokens that is masked.
    seed (int): Another seed masks elsewhere.
    """

    tokenizer: Any
    masking: Masking = "spans"
    share: float = 0.15
    seed: int = 0
    _special: list[int] = field(init=False, repr=False)
    _ordinary: NDArray[np.int64] = field(init=False, repr=False)
    _tells_words: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_mask_token(self.tokenizer)
        self._tells_words = tells_words(self.tokenizer)
        units = get_args(Masking)
        check_setting("masking", self.masking, self.masking in units, f"in {units}")
        is_share = 0 < self.share <= MAX_SHARE
        check_setting("share", self.share, is_share, f"over 0, up to {MAX_SHARE}")
        self._special = self.tokenizer.all_special_ids
        every = [*self.tokenizer.get_vocab().values()]
        self._ordinary = np.setdiff1d(every, self._special)

    def __call__(
        self, features: Sequence[Mapping[str, Any]]
    ) -> dict[str, torch.Tensor]:
        """Return a batch: input_ids, attention_mask, labels, and any token types."""
        rows, kept = [], ("attention_mask", "token_type_ids")
        for feature in features:
            ids, labels = self.mask(feature)
            row = {"attention_mask": np.ones_like(ids)}
            row |= {name: feature[name] for name in kept if name in feature}
            row |= {"input_ids": ids, "labels": labels}
            rows.append({name: np.asarray(x).tolist() for name, x in row.items()})
        return dict(DataCollatorForTokenClassification(self.tokenizer)(rows))

    def mask(self, feature: Mapping[str, Any]) -> Masked:
        """Mask one sequence."""
        ids = np.array(feature["input_ids"], np.int64)
        labels = np.full_like(ids, IGNORED)
        key = feature.get("key")
        if key is None:
            key = [int(torch.randint(2**62, ()))]
        random = np.random.default_rng([self.seed % 2**64, *key])
        spans = list(self._choose(ids, feature, random))
        fates = _draw_fates(len(spans), random)
        masked = ids.copy()
        for (begin, end), fate in zip(spans, fates.tolist(), strict=True):
            labels[begin:end] = ids[begin:end]
            if fate < _P_MASK:
                masked[begin:end] = self.tokenizer.mask_token_id
            elif fate < _P_MASK + _P_RANDOM:
                masked[begin:end] = random.choice(self._ordinary, end - begin)
        return Masked(masked, labels)

    def _choose(
        self, ids: Positions, feature: Mapping[str, Any], random: Random
    ) -> Iterator[tuple[int, int]]:
        """Yield the spans to mask, in tokens, run by run of words that may be."""
        words = words_of(feature, self.tokenizer, self._tells_words)
        if self.masking == "tokens":
            words = np.where(words == NO_WORD, NO_WORD, np.arange(len(ids)))
        segments = words
        if self.masking == "ngrams":
            segments = np.asarray(feature["segment_ids"])
        may_not = np.isin(ids, self._special) | (words == NO_WORD)
        starts = _starts(words)  # the first token of each word, and the end
        may = ~np.logical_or.reduceat(may_not, starts[:-1]) if len(ids) else may_not
        is_piece = np.isin(starts, _starts(segments))
        for begin, end in _runs(may):
            at = is_piece[begin : end + 1].copy()
            at[[0, -1]] = True
            bounds = begin + np.flatnonzero(at)
            sizes = np.diff(starts[bounds])
            chosen = choose(self.masking, bounds, sizes, self.share, random)
            firsts = starts[chosen.starts].tolist()
            lasts = starts[chosen.starts + chosen.lengths].tolist()
            yield from zip(firsts, lasts, strict=True)


def _draw_fates(n_spans: int, random: Random) -> NDArray[np.float64]:
    """Draw evenly from 0 to 1, but far apart: the shares of the fates vary less."""
    steps = random.permutation(n_spans) / max(1, n_spans)
    return (random.random() + steps) % 1.0


def _starts(numbers: NDArray[np.int64]) -> Positions:
    """Return where the numbers change, with both ends."""
    changes = np.flatnonzero(numbers[1:] != numbers[:-1]) + 1
    return np.concatenate([[0], changes, [len(numbers)]])


def _runs(may: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Yield where each stretch of True begins and ends."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], may, [False]])))
    return zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def check_mask_token(tokenizer: Any) -> None:
    """Raise for a tokenizer that cannot mask."""
    name = tokenizer.name_or_path or type(tokenizer).__name__
    if tokenizer.mask_token_id is None:
        raise SpanftError(
            f"The tokenizer of {name!r} has no mask token. Use a model that was "
            "trained as a masked language model."
        )


def tells_words(tokenizer: Any) -> bool:
    """Whether a tokenizer's `word_ids` are words: some take a text as one word."""
    ids = tokenizer("a a", add_special_tokens=False).word_ids()
    return len(ids) > 1 and ids[0] != ids[-1]


def words_of(
    feature: Mapping[str, Any], tokenizer: Any, has_words: bool = True
) -> NDArray[np.int64]:
    """Return the number of each token's word, NO_WORD for special tokens."""
    if "word_ids" in feature:
        return _numbers(feature["word_ids"])
    if encodings := getattr(feature, "encodings", None):
        return words_in(encodings[0], tokenizer, has_words)
    if "offset_mapping" in feature:
        offsets = feature["offset_mapping"]
        return _words_by_offset(feature["input_ids"], offsets, tokenizer)
    raise SpanftError(
        f"Nothing says which tokens are a word together: there are only {[*feature]}. "
        "Pass what a fast tokenizer returns, or keep the offsets: "
        "tokenizer(text, return_offsets_mapping=True)"
    )


def words_in(encoding: Any, tokenizer: Any, has_words: bool) -> NDArray[np.int64]:
    """Return the number of each token's word in an Encoding of `tokenizers`."""
    if has_words:
        return _numbers(encoding.word_ids)
    return _words_by_offset(encoding.ids, encoding.offsets, tokenizer)


def _numbers(word_ids: Any) -> NDArray[np.int64]:
    if isinstance(word_ids, np.ndarray):
        return word_ids
    return np.array([NO_WORD if i is None else i for i in word_ids], np.int64)


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
