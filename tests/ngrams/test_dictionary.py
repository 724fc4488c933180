"""The dictionary: order, cuts, PMI, merging, and what is refused."""

import math
import subprocess
import sys
from importlib import resources

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.collocations import BigramAssocMeasures

from spacy_spanft import NgramDictionary, Provenance, default_dictionary
from spacy_spanft.errors import SpanftError

from .strategies import counted, dictionaries


def test_is_a_mapping(dictionary):
    assert len(dictionary) == 5
    assert dictionary["united states"] == 25
    assert dictionary["United STATES"] == 25  # case is folded
    assert "New York" in dictionary
    assert "york new" not in dictionary
    assert 3 not in dictionary
    assert dictionary.get("no such") is None
    with pytest.raises(KeyError, match="no such"):
        dictionary["no such"]


def test_order_is_count_then_length_then_alphabet():
    ngrams = NgramDictionary({"b b": 2, "a b c": 2, "z a": 9, "a a": 2})
    assert list(ngrams) == ["z a", "a a", "b b", "a b c"]
    assert next(iter(ngrams.items())) == ("z a", 9)


def test_case_is_kept_if_asked():
    ngrams = NgramDictionary({"New York": 3, "new york": 2}, attr="ORTH")
    assert ngrams["New York"] == 3
    assert "NEW YORK" not in ngrams
    assert dict(NgramDictionary({"New York": 3, "new york": 2})) == {"new york": 5}


def test_top_and_filter(dictionary):
    assert list(dictionary.top(2)) == ["new york", "united states"]
    assert len(dictionary.top(0)) == 0
    assert len(dictionary.top(99)) == 5
    frequent = dictionary.filter(min_count=12, max_n=2)
    assert list(frequent) == ["new york", "united states"]
    assert dictionary.sizes() == {2: 3, 3: 1, 5: 1}
    assert dictionary.max_n == 5
    steps = dictionary.filter(7).top(1).provenance.steps
    assert steps == ("filtered to min_count 7, max_n None", "top 1 by count")


@given(dictionary=dictionaries, k=st.integers(0, 25))
def test_top_is_a_prefix(dictionary, k):
    assert list(dictionary.top(k).items()) == list(dictionary.items())[:k]


def test_top_holds_the_pieces_of_its_ngrams():
    ngrams = counted("a b c d e f\na b c d e\nx y x y z")
    for k in range(len(ngrams) + 1):
        kept = ngrams.top(k)
        for ngram in kept:
            parts = ngram.split()
            if len(parts) > 2:
                assert " ".join(parts[1:]) in kept
                assert " ".join(parts[:-1]) in kept


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: d.top(-1), "k is -1"),
        (lambda d: d.filter(max_n=1), "max_n is 1"),
        (lambda d: d.filter(min_count=-1), "min_count is -1"),
        (lambda d: d.ranked("tfidf"), "by is 'tfidf'"),
        (lambda d: d.diff(NgramDictionary({}, attr="ORTH")), "the other over 'ORTH'"),
    ],
)
def test_wrong_arguments(dictionary, call, message):
    with pytest.raises(SpanftError, match=message):
        call(dictionary)


class TestPmi:
    text = "new york city is big\nnew york is new\nthe city of new york\nbig city"

    def test_two_words_as_nltk(self):
        ngrams = counted(self.text)
        n = ngrams.provenance.n_tokens
        assert n == 16
        parts = (ngrams.words["new"], ngrams.words["york"])
        expected = BigramAssocMeasures.pmi(ngrams["new york"], parts, n)
        assert ngrams.pmi("New York") == pytest.approx(expected)

    def test_three_words_against_the_best_segmentation(self):
        ngrams = counted(self.text)
        n = ngrams.provenance.n_tokens
        p = {text: count / n for text, count in {**ngrams, **ngrams.words}.items()}
        best = max(
            p["new york"] * p["city"],
            p["new"] * p["york city"],
            p["new"] * p["york"] * p["city"],
        )
        expected = math.log2(p["new york city"] / best)
        assert ngrams.pmi("new york city") == pytest.approx(expected)

    def test_ranking(self):
        ngrams = counted(self.text)
        ranked = ngrams.ranked("pmi")
        scores = [score for _, score in ranked]
        assert scores == sorted(scores, reverse=True)
        assert dict(ranked) == pytest.approx({g: ngrams.pmi(g) for g in ngrams})
        assert set(ngrams.top(3, by="pmi")) == {ngram for ngram, _ in ranked[:3]}
        assert [n for _, n in ngrams.ranked()] == list(ngrams.values())

    def test_counts_of_your_own(self, dictionary):
        words = {"new": 5, "york": 4}
        origin = Provenance(n_tokens=100)
        ngrams = NgramDictionary({"new york": 3}, words=words, provenance=origin)
        assert ngrams.pmi("new york") == pytest.approx(math.log2(0.03 / (0.05 * 0.04)))
        with pytest.raises(SpanftError, match=r"counts of the single words .*'new'"):
            dictionary.pmi("new york")
        with pytest.raises(SpanftError, match=r"number of tokens \(0\)"):
            NgramDictionary({"new york": 3}, words=words).pmi("new york")
        with pytest.raises(KeyError):
            dictionary.pmi("not there")


def test_merge_adds_counts():
    both = counted("a b\na b c").merge(counted("a b\nc d"))
    assert dict(both) == {"a b": 3, "a b c": 1, "b c": 1, "c d": 1}
    assert dict(both.words) == {"a": 3, "b": 3, "c": 2, "d": 1}
    assert both.provenance.n_tokens == 9
    assert both.provenance.sources == ("texts", "texts")
    assert both.pmi("a b") == pytest.approx(math.log2((3 / 9) / (3 / 9) ** 2))


def test_diff():
    diff = NgramDictionary({"a b": 3, "b c": 1}).diff(
        NgramDictionary({"a b": 2, "d e": 4})
    )
    assert diff.only_left == ["b c"]
    assert diff.only_right == ["d e"]
    assert diff.common == {"a b": (3, 2)}


@pytest.mark.parametrize(
    ("ngrams", "words", "message"),
    [
        ({"word": 1}, {}, "'word' cannot stand in ngrams"),
        ({"a  b": 1}, {}, "'a  b' cannot"),
        ({"a\xa0b c": 1}, {}, r"'a\\xa0b c' cannot"),
        ({("a", "b"): 1}, {}, r"\('a', 'b'\) cannot"),
        ({"a b": 0}, {}, "count of 'a b' is 0"),
        ({"a b": 1.5}, {}, r"count of 'a b' is 1\.5"),
        ({"a b": 3}, {"a b": 2}, "'a b' cannot stand in words"),
        ({"a b": 3}, {"a": -1}, "count of 'a' is -1"),
        (["new york"], {}, r"ngrams is \['new york'\], but must be a mapping"),
    ],
)
def test_counts_that_are_refused(ngrams, words, message):
    with pytest.raises(SpanftError, match=message):
        NgramDictionary(ngrams, words=words)


def test_counts_of_numpy():
    ngrams = NgramDictionary({"a b": np.int64(3)}, words={"a": np.int32(4)})
    assert ngrams == NgramDictionary({"a b": 3}, words={"a": 4})


class TestDefault:
    def test_is_in_the_package_and_small(self):
        file = resources.files("spacy_spanft.ngrams") / "data" / "en_wiki2015.tsv.gz"
        assert len(file.read_bytes()) < 3_000_000
        ngrams = default_dictionary()
        assert len(ngrams) == 100_000
        assert ngrams.max_n == 5
        assert ngrams["united states"] > 10_000
        assert "Wikipedia" in ngrams.provenance.sources[0]
        assert ngrams.pmi("new york") > 5
        assert default_dictionary("en") is ngrams

    def test_no_word_without_letter_or_digit(self):
        words = {word for ngram in default_dictionary() for word in ngram.split(" ")}
        assert all(any(map(str.isalnum, word)) for word in words)

    def test_other_language(self):
        with pytest.raises(SpanftError, match="no default dictionary for 'de'"):
            default_dictionary("de")


def test_import_is_light():
    """Arrow, torch and datasets are not needed to cut texts."""
    code = (
        "import sys, spacy_spanft; spacy_spanft.default_dictionary();"
        "print([m for m in ('torch', 'pyarrow', 'datasets', 'spacy', 'nltk')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
