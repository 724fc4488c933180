"""Chunks to words: what a tokenizer makes of each distinct chunk.

spaCy's tokenizer looks at each white-space-delimited chunk by itself, so a corpus
of 65 million chunks needs it for the two million distinct ones only. The result
equals tokenizing every line in full; a tokenizer that is not of this kind (that of
Chinese, or one with special cases that hold a space) does tokenize every line.
"""

import re
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import islice
from multiprocessing import active_children
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ...errors import CorpusError, Errors
from ...util.processes import end_with_parent
from .chunks import split_lines
from .settings import Attr, Tokenizer

WHITESPACE = "whitespace"
# What stands for a rare word in tokenized corpora such as WikiText: not a word.
UNKNOWN = "<unk>"
_IS_UNKNOWN = re.compile(rf"(?<!\S){re.escape(UNKNOWN)}(?!\S)")
CHUNKS_PER_BATCH = 4096


class Words(NamedTuple):
    """What each distinct chunk is made of.

    lengths (NDArray[np.int64]): For every chunk, how many words it has.
    words (bytes): The words of all chunks one after the other, one a line. An
        empty line is a gap: no n-gram steps over it.
    """

    lengths: NDArray[np.int64]
    words: bytes


def get_tokenizer(tokenizer: str | Tokenizer) -> Tokenizer | None:
    """Find a tokenizer by its language.

    tokenizer (Union[str, Callable]): A language code, "whitespace", or a tokenizer.
    RETURNS (Optional[Callable]): The tokenizer; None splits at white space.
    """
    if not isinstance(tokenizer, str):
        return tokenizer
    if tokenizer == WHITESPACE:
        return None
    try:
        return _of_language(tokenizer)
    except ImportError as error:
        reason = str(error).strip().splitlines()[0]
        reason = "spaCy knows no such language" if "[E048]" in reason else reason
        raise CorpusError(
            Errors.NO_LANGUAGE.format(name=tokenizer, reason=reason)
        ) from error


def _of_language(code: str) -> Tokenizer:
    """Make the tokenizer of an empty pipeline, without the pipeline if that can be.

    A pipeline imports the components of all packages that have some, for seconds.
    """
    import spacy
    from spacy.language import create_tokenizer
    from spacy.vocab import create_vocab

    found = spacy.util.get_lang_class(code)
    own = found.default_config.get("nlp", {}).get("tokenizer", {}).get("@tokenizers")
    if own != "spacy.Tokenizer.v1":
        return spacy.blank(code).tokenizer  # type: ignore[no-any-return]
    vocab = create_vocab(code, found.Defaults)
    stand_in: Any = SimpleNamespace(vocab=vocab, Defaults=found.Defaults)
    return create_tokenizer()(stand_in)


def works_by_chunk(tokenizer: Tokenizer) -> bool:
    """Say whether a tokenizer looks at each white-space-delimited chunk by itself.

    RETURNS (bool): True for spaCy's rule-based tokenizer, unless one of its special
        cases spans white space.
    """
    from spacy.tokenizer import Tokenizer as RuleTokenizer

    if type(tokenizer) is not RuleTokenizer:
        return False
    rules: dict[str, Any] = tokenizer.rules or {}  # type: ignore[attr-defined]
    return not any(len(rule.split()) > 1 for rule in rules)


def ways_to_cut(
    tokenizer: str | Tokenizer,
) -> tuple[Tokenizer | None, Tokenizer | None]:
    """Find out how text is cut into words.

    tokenizer (Union[str, Callable]): A language code, "whitespace", or a tokenizer.
    RETURNS (tuple[Optional[Callable], Optional[Callable]]): What cuts chunks, and what
        cuts whole lines; one of them at most. Where there is none, chunks are words.
    """
    found = get_tokenizer(tokenizer)
    if found is None:
        return None, None
    return (lean(found), None) if works_by_chunk(found) else (None, found)


def lean(tokenizer: Tokenizer) -> Tokenizer:
    """Copy a tokenizer, over a vocabulary that finds out little of its words.

    A vocabulary computes the shape of each word that is new to it, whether it looks
    like a URL, and a dozen things more: that takes longer than to cut the word out.

    tokenizer (Callable): A tokenizer that works by chunk.
    RETURNS (Callable): One that cuts the same words.
    """
    from spacy.attrs import IS_SPACE, LOWER
    from spacy.vocab import Vocab

    parts: Any = tokenizer.__reduce__()
    kind, (vocab, *rules), *_ = parts
    needed = {attr: vocab.lex_attr_getters[attr] for attr in (IS_SPACE, LOWER)}
    heuristics = tokenizer.faster_heuristics  # type: ignore[attr-defined]
    return kind(Vocab(lex_attr_getters=needed), *rules, faster_heuristics=heuristics)


def words_at_whitespace(text: bytes, *, attr: Attr) -> Words:
    """Take every chunk for a word: the text is tokenized already.

    text (bytes): Distinct chunks, one a line.
    attr (str): "LOWER" folds case, "ORTH" leaves it.
    RETURNS (Words): One word for each chunk, none for the empty one.
    """
    lines = f"\n{text.decode('utf8')}"
    lengths = np.ones(lines.count("\n") - 1, np.int64)
    empty = lines.find("\n\n")
    if empty >= 0:  # two separators in a row, and nothing in between
        lengths[lines.count("\n", 0, empty)] = 0
        lines = lines.replace("\n\n", "\n")
    lines = lines.replace(f"\n{UNKNOWN}\n", "\n\n")[1:]
    # A newline is not a letter, so it changes nothing in how its neighbors are folded.
    folded = lines.lower() if attr == "LOWER" else lines
    return Words(lengths, folded.encode("utf8"))


def words_by_tokenizer(
    text: bytes,
    tokenizer: Tokenizer,
    *,
    attr: Attr,
    n_process: int = 1,
    progress: bool = False,
) -> Words:
    """Tokenize every distinct chunk.

    text (bytes): Distinct chunks, one a line.
    tokenizer (Callable): A tokenizer that works by chunk.
    attr (str): "LOWER" folds case, "ORTH" leaves it.
    n_process (int): How many processes to use.
    progress (bool): Show a progress bar.
    RETURNS (Words): The tokens of each chunk.
    """
    lines = split_lines(text)
    batches = _batches(text, lines)
    tokenize = partial(tokenize_chunks, tokenizer=tokenizer, attr=attr)
    lengths: list[NDArray[np.int64]] = []
    words: list[bytes] = []
    with ExitStack() as stack:
        results: Iterable[Words]
        if n_process > 1 and len(lines) > CHUNKS_PER_BATCH:
            pool = stack.enter_context(_processes(n_process, tokenize))
            results = pool.map(_call, batches)
        else:
            results = map(tokenize, batches)
        # Without a bar at all in workers: tqdm would begin a lock for all processes.
        for result in _with_bar(results, len(lines)) if progress else results:
            lengths.append(result.lengths)
            words.append(result.words)
    none = np.zeros(0, np.int64)
    return Words(np.concatenate([none, *lengths]), b"".join(words))


def _with_bar(results: Iterable[Words], total: int) -> Iterator[Words]:
    shape: dict[str, Any] = {"unit": " chunks", "unit_scale": True, "disable": None}
    with tqdm(total=total, desc="Tokenizing", leave=False, **shape) as bar:
        for result in results:
            yield result
            bar.update(len(result.lengths))


def _batches(text: bytes, lines: Any) -> Iterator[str]:
    ends = np.frombuffer(lines.buffers()[1], np.int64)
    for first in range(0, len(lines), CHUNKS_PER_BATCH):
        last = min(first + CHUNKS_PER_BATCH, len(lines))
        yield text[ends[first] : ends[last]].decode("utf8")


def tokenize_chunks(text: str, tokenizer: Tokenizer, attr: Attr) -> Words:
    """Tokenize a batch of chunks at once.

    text (str): Chunks, one a line. An empty one is a gap: between two separators
        the tokenizer puts a token of white space.
    tokenizer (Callable): A tokenizer that works by chunk.
    attr (str): "LOWER" folds case, "ORTH" leaves it.
    RETURNS (Words): The tokens of each chunk.
    """
    from spacy.attrs import IS_SPACE

    text = f"\n{text}".replace(f"\n{UNKNOWN}\n", "\n\n")[1:]
    words: list[str] = []
    lengths: list[int] = []
    length = 0
    with ExitStack() as stack:
        vocab = tokenizer.vocab  # type: ignore[attr-defined]
        if not vocab.in_memory_zone:
            # Millions of words are looked at once and never again: free them.
            stack.enter_context(vocab.memory_zone())
        # Not token by token, which takes as long as cutting them.
        columns = tokenizer(text).to_array([attr, IS_SPACE]).T
        for key, is_space in zip(*columns.tolist(), strict=True):
            word = vocab.strings[key]
            if not is_space:
                words.append(word)
                length += 1
                continue
            for character in word:
                if character != "\n" or not length:
                    words.append("")
                    length += 1
                if character == "\n":
                    lengths.append(length)
                    length = 0
    return Words(np.array(lengths, np.int64), "\n".join([*words, ""]).encode("utf8"))


def tokenize_lines(
    blocks: Iterable[bytes], tokenizer: Tokenizer, *, n_process: int = 1
) -> Iterator[bytes]:
    """Tokenize every line in full: the slow way, for any tokenizer.

    blocks (Iterable[bytes]): Text in whole lines.
    n_process (int): How many processes to use.
    YIELDS (bytes): The tokens with single spaces between them; a line ends where no
        n-gram may go on.
    """
    work = partial(_tokenize_block, tokenizer=tokenizer)
    if n_process == 1:
        yield from map(work, blocks)
        return
    with _processes(n_process, work) as pool:
        # A few blocks at a time: map would read the whole corpus at once.
        source = iter(blocks)
        while batch := list(islice(source, 2 * n_process)):
            yield from pool.map(_call, batch)


def _tokenize_block(block: bytes, tokenizer: Tokenizer) -> bytes:
    lines = []
    for line in block.decode("utf8").split("\n")[:-1]:
        for chunk in _IS_UNKNOWN.split(line):
            words = [token.text for token in tokenizer(chunk)]
            # A token that holds white space ends the line: it cannot be written down,
            # and has no place in an n-gram.
            lines.append(" ".join("\n" if w.split() != [w] else w for w in words))
    return ("\n".join(lines) + "\n").encode("utf8")


@contextmanager
def _processes(
    n_process: int, work: Callable[[Any], Any]
) -> Iterator[ProcessPoolExecutor]:
    """Run processes that end at once when anything goes wrong."""
    others = set(active_children())
    pool = ProcessPoolExecutor(n_process, initializer=_set, initargs=(work,))
    try:
        yield pool
    except BaseException as error:
        # Nobody waits for what they are at: a block takes them seconds.
        for process in set(active_children()) - others:
            process.terminate()
        if isinstance(error, BrokenProcessPool):
            raise CorpusError(Errors.WORKER_DIED) from error
        raise
    finally:
        pool.shutdown(cancel_futures=True)


_work: Callable[[Any], Any]


def _set(work: Callable[[Any], Any]) -> None:
    """Keep the work in the process, so that it travels there only once."""
    end_with_parent()
    # Ctrl-C reaches all processes: the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    global _work
    _work = work


def _call(item: Any) -> Any:
    return _work(item)
