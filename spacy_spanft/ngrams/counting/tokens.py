"""Chunks to words: what a tokenizer makes of each distinct chunk.

spaCy's tokenizer looks at each white-space-delimited chunk by itself, so a corpus
of 65 million chunks needs it for the two million distinct ones only. The result
equals tokenizing every line in full; a tokenizer that is not of this kind (that of
Chinese, or one with special cases that hold a space) does tokenize every line.
"""

import os
import re
from collections.abc import Iterable
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ...errors import reported
from ...util.threads import map_ahead
from ..provenance import Attr, Settings, Tokenizer
from .chunks import joined_bytes, split_lines

WHITESPACE = "whitespace"
# What stands for a rare word in tokenized corpora such as WikiText: not a word.
UNKNOWN = "<unk>"
_IS_UNKNOWN = re.compile(rf"(?<!\S){re.escape(UNKNOWN)}(?!\S)")
CHUNKS_PER_BATCH = 4096


class Words(NamedTuple):
    """What each distinct chunk is made of."""

    lengths: NDArray[np.int64]  # the number of words of each chunk
    words: bytes  # of all chunks, one a line; no n-gram steps over an empty one


def get_tokenizer(tokenizer: str | Tokenizer) -> Tokenizer | None:
    """Return the tokenizer of a language code; None for "whitespace"."""
    if not isinstance(tokenizer, str):
        return tokenizer
    if tokenizer == WHITESPACE:
        return None
    message = (
        f"There is no spaCy tokenizer for {tokenizer!r}. Use a language code such as "
        "'en', or 'whitespace' for text that is tokenized already"
    )
    with reported(message, ImportError):
        return _tokenizer_of_language(tokenizer)


def _tokenizer_of_language(code: str) -> Tokenizer:
    """Make the tokenizer of a blank pipeline, without the pipeline where possible.

    A pipeline imports the components of all installed packages, which takes seconds.
    """
    import spacy
    from spacy.language import create_tokenizer
    from spacy.vocab import create_vocab

    language = spacy.util.get_lang_class(code)
    config = language.default_config.get("nlp", {}).get("tokenizer", {})
    if config.get("@tokenizers") != "spacy.Tokenizer.v1":
        return spacy.blank(code).tokenizer  # type: ignore[no-any-return]
    vocab = create_vocab(code, language.Defaults)
    nlp: Any = SimpleNamespace(vocab=vocab, Defaults=language.Defaults)
    return create_tokenizer()(nlp)


def ways_to_cut(
    tokenizer: str | Tokenizer,
) -> tuple[Tokenizer | None, Tokenizer | None]:
    """Return what cuts chunks, and what cuts lines: one of them, or none for words.

    spaCy's rule-based tokenizer looks at each white-space-delimited chunk by itself,
    unless a special case of it spans white space.
    """
    chosen: Any = get_tokenizer(tokenizer)
    if chosen is None:
        return None, None
    from spacy.tokenizer import Tokenizer as RuleTokenizer

    if type(chosen) is not RuleTokenizer:
        return None, chosen
    spans_space = any(len(rule.split()) > 1 for rule in chosen.rules or {})
    return (None, chosen) if spans_space else (lean(chosen), None)


def lean(tokenizer: Tokenizer) -> Tokenizer:
    """Copy a tokenizer that works by chunk, over a vocabulary of few attributes.

    A vocabulary computes the shape of each word that is new to it, whether it looks
    like a URL, and a dozen things more: that takes longer than to cut the word out.
    """
    from spacy.attrs import IS_SPACE, LOWER
    from spacy.vocab import Vocab

    parts: Any = tokenizer.__reduce__()
    kind, (vocab, *rules), *_ = parts
    needed = {attr: vocab.lex_attr_getters[attr] for attr in (IS_SPACE, LOWER)}
    heuristics = tokenizer.faster_heuristics  # type: ignore[attr-defined]
    return kind(Vocab(lex_attr_getters=needed), *rules, faster_heuristics=heuristics)


def words_of_chunks(
    text: bytes, tokenizer: Tokenizer | None, settings: Settings
) -> Words:
    """Cut distinct chunks, one a line, into words; without a tokenizer each is one."""
    if tokenizer is None:
        return _chunks_as_words(text, settings.attr)
    lines = split_lines(text)
    tokenize = partial(tokenize_chunks, tokenizer=tokenizer, attr=settings.attr)
    # Of a cluster's workers, those that this machine has cores for.
    n_workers = min(settings.n_process, os.cpu_count() or 1)
    n_workers = n_workers if len(lines) > CHUNKS_PER_BATCH else 1
    results: Iterable[Words]
    batches = (
        joined_bytes(lines[first : first + CHUNKS_PER_BATCH]).decode("utf8")
        for first in range(0, len(lines), CHUNKS_PER_BATCH)
    )
    results = map_ahead(tokenize, batches, n_workers, in_processes=True)
    if settings.progress:  # in workers not at all: tqdm would start a lock for them
        n_batches = -(-len(lines) // CHUNKS_PER_BATCH)
        results = tqdm(results, "Tokenizing", n_batches, leave=False, disable=None)
    parts = [Words(np.zeros(0, np.int64), b""), *results]
    lengths = np.concatenate([part.lengths for part in parts])
    return Words(lengths, b"".join(part.words for part in parts))


def _chunks_as_words(text: bytes, attr: Attr) -> Words:
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


def tokenize_chunks(text: str, tokenizer: Tokenizer, attr: Attr) -> Words:
    """Tokenize a batch of chunks, one a line, at once; an empty one is a gap."""
    from spacy.attrs import IS_SPACE

    text = f"\n{text}".replace(f"\n{UNKNOWN}\n", "\n\n")[1:]
    words: list[str] = []
    lengths: list[int] = []
    length = 0
    vocab = tokenizer.vocab  # type: ignore[attr-defined]
    # Millions of words are looked at once and never again: free them.
    with vocab.memory_zone():
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


def tokenize_block(block: bytes, tokenizer: Tokenizer) -> bytes:
    """Tokenize every line in full: the slow way, for any tokenizer.

    Tokens have single spaces between them; a line ends where no n-gram may go on.
    """
    lines = []
    for line in block.decode("utf8").split("\n")[:-1]:
        for chunk in _IS_UNKNOWN.split(line):
            words = [token.text for token in tokenizer(chunk)]
            # A token that holds white space ends the line: it cannot be written down,
            # and has no place in an n-gram.
            lines.append(" ".join("\n" if w.split() != [w] else w for w in words))
    return ("\n".join(lines) + "\n").encode("utf8")
