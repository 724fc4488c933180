"""The data collator: batches for masked language modeling, of any fast tokenizer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import SpanftError, check_setting
from .masking import MAX_SHARE, Masking, Positions, choose
from .word_ids import NO_WORD, check_tokenizer, tells_words, words_of

if TYPE_CHECKING:
    from torch import Tensor

IGNORED = -100  # the label of a token that is not predicted
# What becomes of what is masked: [MASK], random tokens, or nothing.
_P_MASK, _P_RANDOM = 0.8, 0.1


class Masked(NamedTuple):
    """One sequence.

    ids (NDArray[np.int64]): The tokens, some of them masked, (n_tokens,).
    labels (NDArray[np.int64]): What stood there, IGNORED elsewhere, (n_tokens,).
    """

    ids: NDArray[np.int64]
    labels: NDArray[np.int64]


@dataclass
class SpanMaskingCollator:
    """Masks whole words, and makes batches of the sequences.

    A sequence is what the tokenizer gives for a text, or a dict with `word_ids` or
    `offset_mapping` beside `input_ids`; for "ngrams" it has `segment_ids`, too.
    Chance depends on `seed` and the sequence's `key`, whole numbers that name the
    example and the epoch, and on nothing else. Without a key it comes from PyTorch's
    global generator, as in Hugging Face's own collators.

    tokenizer (PreTrainedTokenizerFast): The tokenizer.
    masking (str): What is masked at once: "tokens", "words", "spans" or "ngrams".
    share (float): The share of the tokens that is masked.
    seed (int): Another seed masks elsewhere.
    """

    tokenizer: Any
    masking: Masking = "spans"
    share: float = 0.15
    seed: int = 0
    _is_special: NDArray[np.bool_] = field(init=False, repr=False)
    _ordinary: NDArray[np.int64] = field(init=False, repr=False)
    _tells_words: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_tokenizer(self.tokenizer)
        self._tells_words = tells_words(self.tokenizer)
        units = get_args(Masking)
        check_setting("masking", self.masking, self.masking in units, f"in {units}")
        is_share = 0 < self.share <= MAX_SHARE
        check_setting("share", self.share, is_share, f"over 0, up to {MAX_SHARE}")
        special = self.tokenizer.all_special_ids
        every = [*self.tokenizer.get_vocab().values(), *special]
        self._is_special = np.zeros(max(every) + 1, np.bool_)
        self._is_special[special] = True
        self._ordinary = np.setdiff1d(every, special)

    def __call__(self, features: Sequence[Mapping[str, Any]]) -> dict[str, "Tensor"]:
        """Make a batch.

        features (Sequence[Mapping[str, Any]]): The sequences.
        RETURNS (dict[str, Tensor]): input_ids, attention_mask and labels, and the
            token types if there are any, each (n_sequences, n_tokens of the longest).
        """
        masked = [self.mask(feature) for feature in features]
        tokenizer = self.tokenizer
        # Where the tokenizer has padded, its own padding stays what it is.
        seen = [
            feature.get("attention_mask", np.ones_like(one.ids))
            for feature, one in zip(features, masked, strict=True)
        ]
        columns = {
            "input_ids": ([one.ids for one in masked], tokenizer.pad_token_id or 0),
            "attention_mask": (seen, 0),
            "labels": ([one.labels for one in masked], IGNORED),
        }
        if "token_type_ids" in features[0]:
            types = [feature["token_type_ids"] for feature in features]
            columns["token_type_ids"] = (types, tokenizer.pad_token_type_id)
        is_left = tokenizer.padding_side == "left"
        return {
            name: _pad(rows, value, is_left) for name, (rows, value) in columns.items()
        }

    def mask(self, feature: Mapping[str, Any]) -> Masked:
        """Mask one sequence.

        feature (Mapping[str, Any]): The sequence.
        RETURNS (Masked): What is left of it, and what is gone.
        """
        ids = np.array(feature["input_ids"], np.int64)
        labels = np.full_like(ids, IGNORED)
        random = np.random.default_rng([self.seed % 2**64, *_key(feature)])
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
        self,
        ids: NDArray[np.int64],
        feature: Mapping[str, Any],
        random: np.random.Generator,
    ) -> Iterator[tuple[int, int]]:
        """Choose what is masked, in tokens, run by run of words that may be."""
        words = words_of(feature, self.tokenizer, self._tells_words)
        if self.masking == "tokens":
            words = np.where(words == NO_WORD, NO_WORD, np.arange(len(ids)))
        segments = words
        if self.masking == "ngrams":
            if "segment_ids" not in feature:
                raise SpanftError(
                    'masking = "ngrams" needs segment_ids beside input_ids: one number '
                    "for all tokens of an n-gram, or of a word in none."
                )
            segments = np.asarray(feature["segment_ids"])
        may_not = self._is_special[ids] | (words == NO_WORD)
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


def _draw_fates(n_spans: int, random: np.random.Generator) -> NDArray[np.float64]:
    """Draw evenly from 0 to 1, each alone by chance, but all of them far apart.

    So each span has the fate that it would have by itself, and the shares of the fates
    vary half as much.
    """
    steps = random.permutation(n_spans) / max(1, n_spans)
    return (random.random() + steps) % 1.0


def _key(feature: Mapping[str, Any]) -> Sequence[int]:
    if "key" in feature:
        key: Sequence[int] = feature["key"]
        return key
    import torch

    return [int(torch.randint(2**62, ()))]


def _starts(numbers: NDArray[np.int64]) -> Positions:
    """Return where the numbers change, with both ends."""
    changes = np.flatnonzero(numbers[1:] != numbers[:-1]) + 1
    return np.concatenate([[0], changes, [len(numbers)]])


def _runs(may: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Yield where each stretch of True begins and ends."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], may, [False]])))
    return zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _pad(rows: Sequence[Any], value: int, is_left: bool) -> "Tensor":
    import torch

    padded = np.full((len(rows), max(map(len, rows))), value, np.int64)
    for row, filled in zip(rows, padded, strict=True):
        start = len(filled) - len(row) if is_left else 0
        filled[start : start + len(row)] = row
    return torch.from_numpy(padded)
