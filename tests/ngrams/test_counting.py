"""Counting equals counting: whatever the text, the tokenizer and the block size."""

import os
import re
import signal

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.symbols import ORTH

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import SpanftError
from spacy_spanft.ngrams.counting import tokens
from spacy_spanft.ngrams.counting.tokens import get_tokenizer
from spacy_spanft.ngrams.counts import in_order
from spacy_spanft.ngrams.text import blocks_from_texts

from ..ml.reference import count_ngrams, split_at_ascii_space, tokenize

NLP = spacy.blank("en")
PIECES = [
    *("a", "b", "The", "the", "THE", "New", "York", "don't", "U.S.", "8)", ":)", "xD"),
    *("3.5", "ΑΣ", "İstanbul", "ß", "e\u0301", "🙂", "שלום", "<unk>", "unk", "--"),
    *("(a", "b).", "a\u00a0b", "\u00a0", "\u2028", "well-known", "a/b", "@-@", "can't"),
]
SPACES = [" ", " ", " ", " ", "  ", "\t", "\n", " \n", "\n\n", "\r\n", "\x0b", "\x1c"]
texts = st.lists(
    st.tuples(st.sampled_from(PIECES), st.sampled_from(SPACES)), max_size=60
).map(lambda pairs: "".join(piece + space for piece, space in pairs))
settings = {"max_n": st.integers(2, 6), "min_count": st.integers(1, 3)}


def count(text, block_size=1 << 20, **how):
    """Count a text; an empty one is an error for users, but not here."""
    blocks = blocks_from_texts(text.split("\n"), block_size=block_size)
    try:
        return dict(NgramDictionary.from_blocks(blocks, ["test"], **how))
    except SpanftError as error:
        if "There is no text" not in str(error):
            raise
        return {}


def assert_counts(lines, text, block_size=1 << 20, *, max_n, min_count, **how):
    """Compare with counting lines of words one by one, with and without case."""
    how = {**how, "max_n": max_n, "min_count": min_count}
    lower = [[word.lower() for word in line] for line in lines]
    assert count(text, block_size, **how) == count_ngrams(lower, max_n, min_count)
    cased = count(text, block_size, attr="ORTH", **how)
    assert cased == count_ngrams(lines, max_n, min_count)
    assert list(cased) == list(in_order(cased))


@pytest.mark.filterwarnings("ignore:No n-gram occurs")
@given(
    text=texts,
    any_text=st.text(max_size=80),
    size=st.sampled_from([1, 7, 1000]),
    **settings,
)
def test_equals_counting_one_by_one(text, any_text, size, **how):
    lines = split_at_ascii_space(text)
    assert_counts(lines, text, size, tokenizer="whitespace", **how)
    any_text = any_text.replace("\0", "").replace("\r", " ")
    for tokenized in (text.replace("<unk>", "unk"), any_text):
        lines = tokenize(tokenized, NLP.tokenizer)
        assert_counts(lines, tokenized, size, tokenizer=NLP.tokenizer, **how)


def test_what_is_an_ngram():
    text = "<unk> a b <unk> a b <unk>\n<unk>\na <unk> b"  # unknown is no word
    for tokenizer in ("whitespace", "en", lambda line: NLP.tokenizer(line)):
        assert count(text, tokenizer=tokenizer, min_count=1) == {"a b": 2}
    text = "a b\n\na , b\na  b\na\tb\na \nb"  # words are side by side
    assert count(text, tokenizer="en", min_count=1) == {"a b": 1}
    # In text that is tokenized already, white space only separates.
    assert count(text, tokenizer="whitespace", min_count=1) == {"a b": 3}
    # A special case across white space: the text is tokenized in full.
    nlp = spacy.blank("en")
    nlp.tokenizer.add_special_case("New York", [{ORTH: "New "}, {ORTH: "York"}])
    text = "in New York today\nin New York today"
    lower = [[w.lower() for w in line] for line in tokenize(text, nlp.tokenizer)]
    expected = count_ngrams(lower, 5, 1)
    assert count(text, tokenizer=nlp.tokenizer, min_count=1) == expected


def test_words_and_tokens_are_counted_and_lines_may_be_long():
    dictionary = NgramDictionary.from_texts(["a b , a b c", "a b"], min_count=2)
    assert dict(dictionary) == {"a b": 3}
    assert dict(dictionary.words) == {"a": 3, "b": 3}
    origin = dictionary.provenance
    assert (origin.n_tokens, origin.min_count, origin.sources) == (8, 2, ("texts",))
    dictionary = NgramDictionary.from_texts(["to be or not " * 100_000], min_count=1)
    assert dictionary["to be or not"] == 100_000
    assert dictionary["not to be or not"] == 99_999


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_n": 1}, "max_n is 1, .* whole number from 2 to 255"),
        ({"min_count": 0}, "min_count is 0, .* whole number of 1 or more"),
        ({"attr": "LEMMA"}, "attr is 'LEMMA', but must be 'LOWER' or 'ORTH'"),
        ({"tokenizer": "klingon"}, "no spaCy tokenizer for 'klingon'"),
        ({"address": "host:1"}, "'host:1' needs engine='ray'"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(SpanftError, match=message):
        NgramDictionary.from_texts(["a b"], **settings)


def test_no_text_is_an_error_and_nothing_frequent_a_warning():
    with pytest.raises(SpanftError, match="There is no text in texts"):
        NgramDictionary.from_texts(["  \n "])
    with pytest.warns(UserWarning, match=r"occurs 7 times in 3 tokens"):
        assert len(NgramDictionary.from_texts(["a b c"], min_count=7)) == 0


def deadly_tokenizer(text):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_is_an_error():
    blocks = blocks_from_texts(["to be or not to be"] * 8, block_size=10)
    how = {"tokenizer": deadly_tokenizer, "n_process": 2}
    with pytest.raises(SpanftError, match=r"was killed.* fewer processes"):
        NgramDictionary.from_blocks(blocks, ["test"], **how)


@pytest.mark.parametrize("lang", ["en", "tr", "zh"])
def test_tokenizer_of_a_language(lang):
    """It is that of an empty pipeline, which takes seconds to make."""
    text = (
        "Don't pay $9.99/km, i.e. (U.S.) \u0130stanbul'da l'eau qu'il "
        "z.B. GmbH. 10% a-b c/d http://x.org/?a=b \u039f\u03a3. \u6771\u4eac"
    )
    expected = spacy.blank(lang).tokenizer(text)
    for tokenizer in {get_tokenizer(lang), *tokens.ways_to_cut(lang)} - {None}:
        for token, other in zip(tokenizer(text), expected, strict=True):
            assert token.text == other.text
            assert (token.lower_, token.is_space) == (other.lower_, other.is_space)


def test_a_lean_tokenizer_keeps_the_rules():
    tokenizer = spacy.blank("en").tokenizer
    tokenizer.add_special_case("gimme", [{ORTH: "gim"}, {ORTH: "me"}])
    tokenizer.infix_finditer = re.compile("~").finditer
    tokenizer.faster_heuristics = False
    lean, _ = tokens.ways_to_cut(tokenizer)
    assert [token.text for token in lean("gimme a~b")] == ["gim", "me", "a", "~", "b"]
    assert not lean.faster_heuristics
