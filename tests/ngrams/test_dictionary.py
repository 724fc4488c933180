"""The dictionary and its file: what they hold, and what is refused."""

import gzip
import math
import subprocess
import sys
from contextlib import suppress
from importlib import resources

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.collocations import BigramAssocMeasures

from spacy_spanft import NgramDictionary, Provenance, default_dictionary
from spacy_spanft.errors import SpanftError
from spacy_spanft.ngrams.format import MAGIC

HEADER = f'{MAGIC} {{"format_version": 1, "attr": "LOWER"}}\nngram\tcount\n'
words = st.text(st.sampled_from("ab1é\u05d0🙂'\"-#"), min_size=1, max_size=4)
ngrams = st.lists(words, min_size=2, max_size=5).map(" ".join)
dictionaries = st.builds(
    NgramDictionary,
    st.dictionaries(ngrams, st.integers(1, 10**12), max_size=20),
    words=st.dictionaries(words, st.integers(1, 10**12), max_size=20),
    attr=st.sampled_from(["LOWER", "ORTH"]),
)


def counted(text, **settings):
    return NgramDictionary.from_texts(text.split("\n"), **{"min_count": 1, **settings})


def test_is_a_mapping(dictionary):
    assert len(dictionary) == 5
    assert dictionary["United STATES"] == 25  # case is folded
    assert "New York" in dictionary
    assert "york new" not in dictionary
    assert 3 not in dictionary
    with pytest.raises(KeyError, match="no such"):
        dictionary["no such"]
    ngrams = NgramDictionary({"New York": 3, "new york": 2}, attr="ORTH")
    assert ngrams["New York"] == 3
    assert "NEW YORK" not in ngrams
    assert dict(NgramDictionary({"New York": 3, "new york": 2})) == {"new york": 5}
    ngrams = NgramDictionary({"b b": 2, "a b c": 2, "z a": np.int64(9), "a a": 2})
    assert [*ngrams.items()] == [("z a", 9), ("a a", 2), ("b b", 2), ("a b c", 2)]


def test_top_and_filter(dictionary):
    assert list(dictionary.top(2)) == ["new york", "united states"]
    frequent = dictionary.filter(min_count=12, max_n=2)
    assert list(frequent) == ["new york", "united states"]
    assert dictionary.sizes() == {2: 3, 3: 1, 5: 1}
    assert dictionary.max_n == 5
    steps = dictionary.filter(7).top(1).provenance.steps
    assert steps == ("filtered to min_count 7, max_n None", "top 1 by count")


def test_top_holds_the_pieces_of_its_ngrams():
    ngrams = counted("a b c d e f\na b c d e\nx y x y z")
    for k in range(len(ngrams) + 1):
        kept = ngrams.top(k)
        assert [*kept.items()] == [*ngrams.items()][:k]
        for ngram in kept:
            parts = ngram.split()
            if len(parts) > 2:
                assert " ".join(parts[1:]) in kept
                assert " ".join(parts[:-1]) in kept


def test_pmi_is_that_of_nltk_and_against_the_best_segmentation(dictionary):
    ngrams = counted(
        "new york city is big\nnew york is new\nthe city of new york\nbig city"
    )
    n = ngrams.provenance.n_tokens
    assert n == 16
    parts = (ngrams.words["new"], ngrams.words["york"])
    expected = BigramAssocMeasures.pmi(ngrams["new york"], parts, n)
    assert ngrams.pmi("New York") == pytest.approx(expected)
    p = {text: count / n for text, count in {**ngrams, **ngrams.words}.items()}
    best = max(
        p["new york"] * p["city"],
        p["new"] * p["york city"],
        p["new"] * p["york"] * p["city"],
    )
    expected = math.log2(p["new york city"] / best)
    assert ngrams.pmi("new york city") == pytest.approx(expected)
    ranked = ngrams.ranked("pmi")
    scores = [score for _, score in ranked]
    assert scores == sorted(scores, reverse=True)
    assert dict(ranked) == pytest.approx({g: ngrams.pmi(g) for g in ngrams})
    assert set(ngrams.top(3, by="pmi")) == {ngram for ngram, _ in ranked[:3]}
    assert [n for _, n in ngrams.ranked()] == list(ngrams.values())
    words = {"new": 5, "york": 4}
    origin = Provenance(n_tokens=100)
    ngrams = NgramDictionary({"new york": 3}, words=words, provenance=origin)
    assert ngrams.pmi("new york") == pytest.approx(math.log2(0.03 / (0.05 * 0.04)))
    with pytest.raises(SpanftError, match=r"counts of the single words .*'new'"):
        dictionary.pmi("new york")


def test_merge_adds_counts():
    both = counted("a b\na b c").merge(counted("a b\nc d"))
    assert dict(both) == {"a b": 3, "a b c": 1, "b c": 1, "c d": 1}
    assert dict(both.words) == {"a": 3, "b": 3, "c": 2, "d": 1}
    assert both.provenance.n_tokens == 9
    assert both.provenance.sources == ("texts", "texts")
    with pytest.raises(SpanftError, match="the other over 'ORTH'"):
        both.merge(NgramDictionary({}, attr="ORTH"))


@pytest.mark.parametrize(
    ("ngrams", "words", "message"),
    [
        ({"word": 1}, {}, "'word' cannot stand in ngrams"),
        ({"a\xa0b c": 1}, {}, r"'a\\xa0b c' cannot"),
        ({"a b": 0}, {}, "count of 'a b' is 0"),
        ({"a b": 3}, {"a b": 2}, "'a b' cannot stand in words"),
    ],
)
def test_counts_that_are_refused(ngrams, words, message):
    with pytest.raises(SpanftError, match=message):
        NgramDictionary(ngrams, words=words)


def test_the_default_is_in_the_package_and_small():
    file = resources.files("spacy_spanft.ngrams") / "data" / "en_wiki2015.tsv.gz"
    assert len(file.read_bytes()) < 3_000_000
    ngrams = default_dictionary()
    assert (len(ngrams), ngrams.max_n) == (100_000, 5)
    assert ngrams["united states"] > 10_000
    assert "Wikipedia" in ngrams.provenance.sources[0]
    assert ngrams.pmi("new york") > 5
    words = {word for ngram in ngrams for word in ngram.split(" ")}
    assert all(any(map(str.isalnum, word)) for word in words)
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


def read(text, header=HEADER):
    data = f"{header}{text}".encode("utf8", "surrogatepass")
    return NgramDictionary.from_bytes(gzip.compress(data), name="x")


@given(dictionary=dictionaries)
def test_round_trip_is_bit_identical(dictionary):
    data = dictionary.to_bytes()
    again = NgramDictionary.from_bytes(data)
    assert again == dictionary
    assert list(again.items()) == list(dictionary.items())
    assert again.attr == dictionary.attr
    assert again.provenance == dictionary.provenance
    assert again.to_bytes() == data


def test_other_tools_read_and_write_its_file(corpus, tmp_path):
    path = tmp_path / "new" / "folder" / "a.tsv.gz"
    ngrams = NgramDictionary.from_files(corpus)
    ngrams.to_disk(path)
    header, columns, *rows = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert (header.startswith(f"{MAGIC} {{"), columns) == (True, "ngram\tcount")
    table = dict(row.split("\t") for row in rows)
    assert {k: int(v) for k, v in table.items()} == {**ngrams, **ngrams.words}
    again = NgramDictionary.from_disk(path)
    assert again == ngrams
    assert again.provenance.sources == (str(corpus),)
    assert again.provenance.tokenizer == "en"
    assert "spacy-spanft" in again.provenance.made_with
    with pytest.raises(SpanftError, match=r"no file .*missing"):
        NgramDictionary.from_disk(tmp_path / "missing")
    ngrams = read("b c\t1\na b\t99\na\t100\nb\t100")
    assert list(ngrams.items()) == [("a b", 99), ("b c", 1)]
    assert dict(ngrams.words) == {"a": 100, "b": 100}


def test_every_cut_and_flipped_byte_is_noticed_or_harmless():
    ngrams = counted("new york city is big\nnew york is new")
    data = ngrams.to_bytes()
    for i in range(len(data)):
        with pytest.raises(SpanftError, match="or damaged"):
            NgramDictionary.from_bytes(data[:i])
        for mask in (0x01, 0x80, 0xFF):
            broken = bytearray(data)
            broken[i] ^= mask
            # A few bits mean nothing: the header's date, the last padding.
            with suppress(SpanftError):
                assert NgramDictionary.from_bytes(bytes(broken)) == ngrams


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{MAGIC} nonsense\n", "damaged: Expecting value"),
        (f"{MAGIC} {'[' * 200_000}\n", "damaged: maximum recursion"),
        (
            HEADER.replace("1", "2"),
            "format version is 2, and spacy-spanft .* reads version 1; .*--upgrade",
        ),
        (f"{HEADER}a b\t1\na  b\t2\n", "line 4"),
        (f"{HEADER}a b\t1\nc d\t2\na b\t3\n", "stands in it twice"),
        (f"{HEADER}a b\t1\nNew York\t2\n", "has capital letters"),
        (f"{HEADER}a \ud800b\t1\n", "can't decode byte"),
    ],
)
def test_files_that_are_refused(text, message):
    with pytest.raises(SpanftError, match=message) as caught:
        read(text, "")
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)
