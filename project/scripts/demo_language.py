"""A small language in which only expressions of several words tell the answer.

An expression is an adjective and one or two nouns, such as "silver bridge" or "silver
bridge paper", and is of one of two kinds. Every word is in as many expressions of one
kind as of the other, and occurs on its own too, or beside words that make no expression
with it. So no single word tells anything: the words must be seen as one.
"""

import random
from itertools import cycle
from typing import NamedTuple

ADJECTIVES = (
    *("silver", "golden", "quiet", "broken", "narrow", "heavy", "frozen", "hollow"),
    *("bitter", "early", "distant", "gentle"),
)
NOUNS = (
    *("bridge", "paper", "garden", "window", "market", "engine", "river", "candle"),
    *("ladder", "harvest", "mirror", "signal"),
)
DETERMINERS = (
    *("the", "a", "this", "that", "every", "some", "my", "your", "her", "his", "our"),
    *("their", "each", "another", "no", "any"),
)
VERBS = (
    *("found", "carried", "wanted", "followed", "described", "watched", "offered"),
    *("repaired", "remembered", "guarded", "praised", "moved", "counted", "feared"),
)
PREPOSITIONS = (
    *("near", "behind", "under", "over", "against", "without", "beside", "after"),
    *("before", "inside", "outside", "beyond", "along", "through"),
)
KINDS = ("PLACE", "THING")
# Which noun follows an adjective, by how far it stands behind it in the lists.
_SHIFTS = {"PLACE": (1, 4), "THING": (2, 7)}
_THIRD = 5


class Word(NamedTuple):
    """A word, its part of speech, and its place in a phrase, as NLTK's chunkers say."""

    text: str
    tag: str
    chunk: str


class Sentence(NamedTuple):
    """Words, and which of them are expressions: (start, end, kind)."""

    words: list[Word]
    expressions: list[tuple[int, int, str]]


def make_expressions() -> dict[str, list[tuple[str, ...]]]:
    """Make the expressions of each kind, half of them with two nouns."""
    found: dict[str, list[tuple[str, ...]]] = {}
    n = len(NOUNS)
    for kind in KINDS:
        near, far = _SHIFTS[kind]
        pairs = [(ADJECTIVES[i], NOUNS[(i + near) % n]) for i in range(n)]
        triples = [
            (ADJECTIVES[i], NOUNS[(i + far) % n], NOUNS[(i + far + _THIRD) % n])
            for i in range(n)
        ]
        found[kind] = [*pairs, *triples]
    return found


EXPRESSIONS = make_expressions()
_BEGINNINGS = {phrase[:2] for kind in KINDS for phrase in EXPRESSIONS[kind]}


def make_sentence(chance: random.Random, kinds: list[str]) -> Sentence:
    """Make a sentence that has one expression of each of these kinds.

    It has the words of an expression of the other kind too, but apart from each other.
    """
    phrases = [chance.choice(EXPRESSIONS[kind]) for kind in kinds]
    others = [KINDS[1 - KINDS.index(kind)] for kind in kinds]
    loose = [word for kind in others for word in chance.choice(EXPRESSIONS[kind])]
    slots: list[tuple[tuple[str, ...], str | None]] = [
        *zip(phrases, kinds, strict=True),
        *(((word,), None) for word in loose),
        *((_free(chance), None) for _ in kinds),
    ]
    chance.shuffle(slots)
    words: list[Word] = []
    expressions = []
    links = cycle(((VERBS, "VBD", "B-VP"), (PREPOSITIONS, "IN", "B-PP")))
    for i, (phrase, kind) in enumerate(slots):
        if i:
            some, tag, chunk = next(links)
            words.append(Word(chance.choice(some), tag, chunk))
        words.append(Word(chance.choice(DETERMINERS), "DT", "B-NP"))
        start = len(words)
        for text in phrase:
            tag = "JJ" if text in ADJECTIVES else "NN"
            words.append(Word(text, tag, "I-NP"))
        if kind is not None:
            expressions.append((start, len(words), kind))
    words.append(Word(".", ".", "O"))
    return Sentence(words, expressions)


def _free(chance: random.Random) -> tuple[str, ...]:
    """Make a phrase of an adjective and a noun that is not a part of any expression."""
    while True:
        found = (chance.choice(ADJECTIVES), chance.choice(NOUNS))
        if found not in _BEGINNINGS:
            return found
