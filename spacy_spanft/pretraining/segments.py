"""Text files as sequences of whole words, each as long as the encoder takes."""

import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset
from datasets.exceptions import DatasetGenerationError
from numpy.typing import NDArray
from transformers import TrainerCallback

from ..errors import SpanftError
from ..ngrams.counting.tokens import get_tokenizer
from ..ngrams.dictionary import NgramDictionary
from ..ngrams.text import texts_of_table
from ..segmenters.ngram import NgramSegmenter
from ..util import __version__
from ..util.files import check_exists
from ..util.tables import format_of
from ..util.text_files import UTF8, ErrorHandling, lines_of
from .collator import NO_WORD, tells_words, words_in

Ints = NDArray[Any]


def read_lines(
    files: Sequence[str | Path],
    column: str | None = None,
    *,
    errors: ErrorHandling = "strict",
    encoding: str = UTF8,
) -> Dataset:
    """Read text files or tables, compressed or not, as a data set of lines."""
    for path in files:
        check_exists(path)
    paths = [str(Path(path).absolute()) for path in files]
    # What names the copy in the cache: a file may have been changed, or this code.
    states = [f"{__version__} {os.stat(path).st_mtime_ns}" for path in paths]
    how = {"errors": errors, "encoding": encoding}
    settings = {"paths": paths, "column": column, "states": states, **how}
    try:
        return Dataset.from_generator(_lines, gen_kwargs=settings)
    except DatasetGenerationError as error:
        reason = error.__cause__
        raise (reason if isinstance(reason, SpanftError) else error) from None


def _lines(
    paths: list[str], column: str | None, states: list[str], **how: Any
) -> Iterator[dict[str, str]]:
    """Yield the lines of text files, and texts of tables with empty lines between."""
    for path in paths:
        if format_of(path) is None:
            yield from ({"text": line} for line in lines_of(path, **how))
        else:
            for text in texts_of_table(path, column, **how):
                yield from ({"text": text}, {"text": ""})


class Packer:
    """Encodes lines and fills sequences with them, up to the next empty line.

    It is called by `Dataset.map(batched=True)`.
    """

    def __init__(
        self,
        tokenizer: Any,
        max_length: int,
        dictionary: NgramDictionary | None = None,
        lang: str = "en",
    ) -> None:
        """Make a packer for sequences of max_length tokens, special ones included.

        lang (str): The language whose tokenizer finds the n-grams of a dictionary.
        """
        self._tokenizer = tokenizer
        self._has_words = tells_words(tokenizer)
        encoded = tokenizer("a", return_special_tokens_mask=True)
        inside = np.flatnonzero(np.array(encoded["special_tokens_mask"]) == 0)
        self._before = encoded["input_ids"][: inside[0]]
        self._after = encoded["input_ids"][inside[-1] + 1 :]
        self._length = max_length - len(self._before) - len(self._after)
        self._find = None if dictionary is None else _ngram_finder(dictionary, lang)

    def __call__(self, rows: dict[str, list[str]]) -> dict[str, list[Ints]]:
        """Return sequences: tokens, and the word (and n-gram) that each belongs to."""
        lines = groupby((line.strip() for line in rows["text"]), bool)
        texts = [" ".join(some) for has_text, some in lines if has_text]
        columns: dict[str, list[Ints]] = {"input_ids": [], "word_ids": []}
        if self._find:
            columns["segment_ids"] = []
        for arrays in self._encode(texts):
            for part in self._parts(arrays[1]):
                sequence = self._sequence(*(array[part] for array in arrays))
                for column, values in zip(columns.values(), sequence, strict=True):
                    column.append(values)
        return columns

    def _encode(self, texts: list[str]) -> Iterator[list[Ints]]:
        """Yield, for each text, its tokens, and where words and n-grams begin."""
        if not texts:
            return
        batch = self._tokenizer(texts, add_special_tokens=False, verbose=False)
        ngrams = self._find(texts) if self._find else [None for _ in texts]
        for encoding, spans in zip(batch.encodings, ngrams, strict=True):
            words = words_in(encoding, self._tokenizer, self._has_words)
            starts = np.append(True, words[1:] != words[:-1])[: len(words)]
            arrays: list[Ints] = [np.array(encoding.ids), starts]
            if spans is not None:
                begins = np.array([begin for begin, _ in encoding.offsets])
                inside = np.zeros(len(begins), np.bool_)
                for first, end in spans:
                    inside |= (begins > first) & (begins < end)
                arrays.append(starts & ~inside)
            yield arrays

    def _parts(self, word_starts: Ints) -> Iterator[slice]:
        """Cut a text between words; only a word longer than a sequence is cut."""
        n_tokens, start = len(word_starts), 0
        begins = np.append(np.flatnonzero(word_starts), n_tokens)
        while start < n_tokens:
            most = start + self._length
            end = int(begins[np.searchsorted(begins, most, "right") - 1])
            end = end if end > start else min(most, n_tokens)
            yield slice(start, end)
            start = end

    def _sequence(self, ids: Ints, *starts: Ints) -> list[Ints]:
        """Put special tokens around tokens, and number words and n-grams."""
        before, after = ([NO_WORD] * len(x) for x in (self._before, self._after))
        numbers = [np.concatenate([before, np.cumsum(x), after]) for x in starts]
        return [np.concatenate([self._before, ids, self._after]), *numbers]


def _ngram_finder(dictionary: NgramDictionary, lang: str) -> Any:
    """Return what finds n-grams in lines as the segmenter does, as character spans."""
    tokenizer: Any = get_tokenizer(lang)
    segmenter = NgramSegmenter(dictionary)

    def find(lines: list[str]) -> Iterator[list[tuple[int, int]]]:
        docs = [tokenizer(line) for line in lines]
        for doc, segments in zip(docs, segmenter(docs), strict=True):
            spans = [doc[segment[0] : segment[1]] for segment in segments]
            yield [(span.start_char, span.end_char) for span in spans]

    return find


class Passes:
    """A data set whose rows have a key: the number of the pass, and that of the row."""

    def __init__(self, rows: Dataset, n_pass: int) -> None:
        """Make a data set of sequences; pass 0 is that of text that is held out."""
        self._rows = rows.with_format("numpy")
        self.n_pass = n_pass

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, i: int) -> dict[str, Any]:
        return {**self._rows[int(i)], "key": (self.n_pass, int(i))}


class StartPass(TrainerCallback):
    """Counts the passes, also when the Trainer goes on in the middle of one."""

    def __init__(self, rows: Passes) -> None:
        """Make a callback for a data set."""
        self._rows = rows

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Change the keys."""
        self._rows.n_pass = 1 + int(state.epoch or 0)
