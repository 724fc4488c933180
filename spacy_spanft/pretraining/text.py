"""Text as sequences of tokens for an encoder: whole words, as long as it takes."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..ngrams.text.blocks import ErrorHandling, blocks_from_files
from .words import NO_WORD, tells_words, word_starts

if TYPE_CHECKING:
    from ..ngrams.dictionary import NgramDictionary

# Lines are encoded a block at a time: enough for all threads of the tokenizer.
_BLOCK_SIZE = 1 << 19
# Where the sequences of a long text are cut, the rest must be moved, so not too often.
_PACK_SIZE = 1 << 16
_WORD, _SEGMENT = 1, 2  # the bits of a mark: what begins at a token


def lines_of(paths: Iterable[str | Path], errors: ErrorHandling) -> Iterator[list[str]]:
    """Read text files.

    paths (Iterable[Union[str, Path]]): The files, compressed or not.
    errors (str): What to do about bytes that are not text.
    YIELDS (list[str]): Lines, without white space around them; empty ones too.
    """
    for block in blocks_from_files(paths, errors=errors, block_size=_BLOCK_SIZE):
        yield [line.strip() for line in block.decode("utf8").split("\n")[:-1]]


class Encoded(NamedTuple):
    """A text in tokens.

    ids (NDArray[np.int32]): The tokens, (n_tokens,).
    marks (NDArray[np.uint8]): What begins at each: a word, a segment, (n_tokens,).
    """

    ids: NDArray[np.int32]
    marks: NDArray[np.uint8]


class LineEncoder:
    """Turns lines into tokens that know where words and n-grams begin."""

    def __init__(
        self,
        tokenizer: Any,
        dictionary: "NgramDictionary | None" = None,
        lang: str = "en",
    ) -> None:
        """Make an encoder.

        dictionary (Optional[NgramDictionary]): Marks its n-grams; None marks none.
        lang (str): The language whose tokenizer finds them.
        """
        self._tokenizer = tokenizer
        self._by_space = not tells_words(tokenizer)
        self._find = None if dictionary is None else _NgramFinder(dictionary, lang)

    def __call__(self, lines: Sequence[str]) -> list[Encoded]:
        """Encode lines.

        lines (Sequence[str]): The lines, none of them empty.
        RETURNS (list[Encoded]): Each in tokens.
        """
        if not lines:
            return []
        batch = self._tokenizer(
            list(lines),
            add_special_tokens=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,  # that a line is long is nothing to warn of
        )
        ngrams = None if self._find is None else self._find(lines)
        found = []
        for index, (line, encoding) in enumerate(
            zip(lines, batch.encodings, strict=True)
        ):
            starts = word_starts(encoding, line, self._by_space)
            marks = starts * np.uint8(_WORD)
            if ngrams is not None:
                begins = np.array([begin for begin, _ in encoding.offsets], np.int64)
                starts &= ~_joined(begins, ngrams[index])
                marks |= starts * np.uint8(_SEGMENT)
            found.append(Encoded(np.array(encoding.ids, np.int32), marks))
        return found


class _NgramFinder:
    """Finds n-grams in texts as the segmenter finds them in Docs."""

    def __init__(self, dictionary: "NgramDictionary", lang: str) -> None:
        from ..ngrams.counting.tokens import get_tokenizer
        from ..segmenters.ngram import NgramSegmenter

        self._tokenizer: Any = get_tokenizer(lang)
        self._segmenter = NgramSegmenter(dictionary)

    def __call__(self, lines: Sequence[str]) -> list[list[tuple[int, int]]]:
        docs = [self._tokenizer(line) for line in lines]
        return [
            [(doc[s[0]].idx, doc[s[1] - 1].idx + len(doc[s[1] - 1])) for s in segments]
            for doc, segments in zip(docs, self._segmenter(docs), strict=True)
        ]


def _joined(
    begins: NDArray[np.int64], ngrams: Sequence[tuple[int, int]]
) -> NDArray[np.bool_]:
    """Find the tokens that begin inside an n-gram, but not with it."""
    inside = np.zeros(len(begins), np.bool_)
    for first, after in ngrams:
        low, high = np.searchsorted(begins, [first + 1, after])
        inside[low:high] = True
    return inside


class Packer:
    """Fills sequences with lines, one after the other, and cuts between words."""

    def __init__(self, length: int) -> None:
        """Make a packer.

        length (int): How many tokens a sequence has at most.
        """
        self._length = length
        self._lines: list[Encoded] = []  # of the text that goes on
        self._n_waiting = 0
        self._done: list[Encoded] = []
        self._sizes: list[int] = []

    def add(self, line: Encoded) -> None:
        """Go on with a line."""
        self._lines.append(line)
        self._n_waiting += len(line.ids)
        if self._n_waiting >= _PACK_SIZE:
            self._cut(self._length)

    def end(self) -> None:
        """End the text: no sequence holds what comes before and what comes after."""
        self._cut(0)

    def _cut(self, rest: int) -> None:
        """Cut sequences until no more than the rest is left."""
        if not self._lines:
            return
        ids = np.concatenate([line.ids for line in self._lines])
        marks = np.concatenate([line.marks for line in self._lines])
        begins = np.append(np.flatnonzero(marks & _WORD), len(ids))
        at = 0
        while len(ids) - at > rest:
            end = int(begins[np.searchsorted(begins, at + self._length, "right") - 1])
            # A word that is longer than all is cut, for once.
            end = end if end > at else min(at + self._length, len(ids))
            self._sizes.append(end - at)
            at = end
        self._done.append(Encoded(ids[:at], marks[:at]))
        self._lines = [Encoded(ids[at:], marks[at:])] if at < len(ids) else []
        self._n_waiting = len(ids) - at

    def finish(self, prefix: Sequence[int], suffix: Sequence[int]) -> "Sequences":
        """Take out all sequences.

        prefix (Sequence[int]): The special tokens at the head of each.
        suffix (Sequence[int]): Those at its end.
        """
        self.end()
        nothing = Encoded(np.zeros(0, np.int32), np.zeros(0, np.uint8))
        done = [nothing, *self._done]
        return Sequences(
            np.concatenate([part.ids for part in done]),
            np.concatenate([part.marks for part in done]),
            np.concatenate([[0], np.cumsum(self._sizes, dtype=np.int64)]),
            tuple(prefix),
            tuple(suffix),
        )


class Sequences(NamedTuple):
    """The text, in memory: five bytes a token.

    ids (NDArray[np.int32]): The tokens of all sequences, (n_tokens,).
    marks (NDArray[np.uint8]): What begins at each, (n_tokens,).
    bounds (NDArray[np.int64]): Where each sequence begins, and the end of the last.
    prefix (tuple[int, ...]): The special tokens at the head of each.
    suffix (tuple[int, ...]): Those at its end.
    """

    ids: NDArray[np.int32]
    marks: NDArray[np.uint8]
    bounds: NDArray[np.int64]
    prefix: tuple[int, ...]
    suffix: tuple[int, ...]

    @property
    def n_sequences(self) -> int:
        """The number of sequences."""
        return len(self.bounds) - 1

    @property
    def n_words(self) -> int:
        """The number of words."""
        return int(np.count_nonzero(self.marks & _WORD))

    @property
    def most_words(self) -> int:
        """The number of words in the longest sequence."""
        before = np.append(0, np.cumsum(self.marks & _WORD, dtype=np.int64))
        return int(np.diff(before[self.bounds]).max(initial=0))

    @property
    def longest(self) -> int:
        """The number of tokens in the longest sequence, special ones included."""
        most = int(np.diff(self.bounds).max(initial=0))
        return most + len(self.prefix) + len(self.suffix)

    @property
    def checksum(self) -> int:
        """Another text has another one."""
        found = 0
        for array in (self.ids, self.marks, self.bounds):
            found = zlib.crc32(array.data, found)
        return found

    def get(self, index: int) -> dict[str, NDArray[np.int64]]:
        """Get one sequence, as the data collator takes it.

        index (int): Which.
        RETURNS (dict[str, NDArray[np.int64]]): The tokens, and the number of the word
            and of the segment that each is in.
        """
        begin, end = self.bounds[index : index + 2]
        marks = self.marks[begin:end]
        return {
            "input_ids": self._between(self.ids[begin:end], self.prefix, self.suffix),
            "word_ids": self._numbers((marks & _WORD) != 0),
            "segment_ids": self._numbers((marks & _SEGMENT) != 0),
        }

    def _numbers(self, begins: NDArray[np.bool_]) -> NDArray[np.int64]:
        before, after = [NO_WORD] * len(self.prefix), [NO_WORD] * len(self.suffix)
        return self._between(np.cumsum(begins), before, after)

    @staticmethod
    def _between(
        values: NDArray[Any], before: Sequence[int], after: Sequence[int]
    ) -> NDArray[np.int64]:
        n_before = len(before)
        found = np.empty(n_before + len(values) + len(after), np.int64)
        found[:n_before] = before
        found[n_before : n_before + len(values)] = values
        found[n_before + len(values) :] = after
        return found


def special_tokens(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Find the special tokens that the tokenizer puts around one text.

    RETURNS (tuple[list[int], list[int]]): Those before it, and those after it.
    """
    encoded = tokenizer("a", return_special_tokens_mask=True)
    is_text = np.flatnonzero(np.array(encoded["special_tokens_mask"]) == 0)
    ids = encoded["input_ids"]
    return ids[: is_text[0]], ids[is_text[-1] + 1 :]


def read_sequences(
    blocks: Iterable[Sequence[str]],
    encode: LineEncoder,
    tokenizer: Any,
    max_length: int,
    pack: bool = True,
) -> Sequences:
    """Read text as sequences.

    blocks (Iterable[Sequence[str]]): Lines, many at once.
    encode (LineEncoder): Turns them into tokens.
    max_length (int): How many tokens a sequence has at most, special ones included.
    pack (bool): Fill sequences with the lines that follow, up to the next empty line;
        otherwise each line begins a new one.
    """
    prefix, suffix = special_tokens(tokenizer)
    packer = Packer(max_length - len(prefix) - len(suffix))
    for lines in blocks:
        encoded = iter(encode([line for line in lines if line]))
        for line in lines:
            if line:
                packer.add(next(encoded))
            if not line or not pack:
                packer.end()
    return packer.finish(prefix, suffix)
