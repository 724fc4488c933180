"""The dictionary: order, cuts, PMI, and a file that survives."""

import gzip
import math
import os
import subprocess
import sys
import threading
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.collocations import BigramAssocMeasures

from spacy_spanft import NgramDictionary, Provenance, default_dictionary
from spacy_spanft.errors import DictionaryError, SpanftError
from spacy_spanft.ngrams.format import FORMAT_VERSION, MAGIC

words = st.text(st.sampled_from("ab1é\u05d0🙂'\"-#"), min_size=1, max_size=4)
ngrams = st.lists(words, min_size=2, max_size=5).map(" ".join)
dictionaries = st.builds(
    NgramDictionary,
    st.dictionaries(ngrams, st.integers(1, 10**12), max_size=20),
    words=st.dictionaries(words, st.integers(1, 10**12), max_size=20),
    attr=st.sampled_from(["LOWER", "ORTH"]),
)


def counted(text, **how):
    return NgramDictionary.from_texts(text.split("\n"), **{"min_count": 1, **how})


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
    assert dictionary.get(5) is None
    with pytest.raises(KeyError):
        dictionary["new", "york"]


def test_order_is_count_then_length_then_alphabet():
    found = NgramDictionary({"b b": 2, "a b c": 2, "z a": 9, "a a": 2})
    assert list(found) == ["z a", "a a", "b b", "a b c"]
    assert next(iter(found.items())) == ("z a", 9)


def test_case_is_kept_if_asked():
    found = NgramDictionary({"New York": 3, "new york": 2}, attr="ORTH")
    assert found["New York"] == 3
    assert "NEW YORK" not in found
    assert dict(NgramDictionary({"New York": 3, "new york": 2})) == {"new york": 5}


def test_top_and_filter(dictionary):
    assert list(dictionary.top(2)) == ["new york", "united states"]
    assert len(dictionary.top(0)) == 0
    assert len(dictionary.top(99)) == 5
    assert list(dictionary.filter(min_count=12, max_n=2)) == [
        "new york",
        "united states",
    ]
    assert dictionary.sizes() == {2: 3, 3: 1, 5: 1}
    assert dictionary.max_n == 5
    steps = dictionary.filter(7).top(1).provenance.steps
    assert steps == ("filtered to min_count 7, max_n None", "top 1 by count")


@given(dictionary=dictionaries, k=st.integers(0, 25))
def test_top_is_a_prefix(dictionary, k):
    assert list(dictionary.top(k).items()) == list(dictionary.items())[:k]


def test_top_holds_the_pieces_of_its_ngrams():
    found = counted("a b c d e f\na b c d e\nx y x y z")
    for k in range(len(found) + 1):
        kept = found.top(k)
        for ngram in kept:
            parts = ngram.split()
            if len(parts) > 2:
                assert " ".join(parts[1:]) in kept
                assert " ".join(parts[:-1]) in kept


@pytest.mark.parametrize("k", [-1, 1.5, "3", None])
def test_top_of_nonsense(dictionary, k):
    with pytest.raises(DictionaryError, match="k is"):
        dictionary.top(k)


@pytest.mark.parametrize(
    ("how", "message"),
    [({"max_n": 1}, "max_n is 1"), ({"min_count": -1}, "min_count is -1")],
)
def test_filter_by_nonsense(dictionary, how, message):
    with pytest.raises(DictionaryError, match=message):
        dictionary.filter(**how)


class TestPmi:
    text = "new york city is big\nnew york is new\nthe city of new york\nbig city"

    def test_two_words_as_nltk(self):
        found = counted(self.text)
        n = found.provenance.n_tokens
        assert n == 16
        parts = (found.words["new"], found.words["york"])
        expected = BigramAssocMeasures.pmi(found["new york"], parts, n)
        assert found.pmi("New York") == pytest.approx(expected)

    def test_three_words_against_the_best_segmentation(self):
        found = counted(self.text)
        n = found.provenance.n_tokens
        p = {**{k: v / n for k, v in found.items()}}
        p.update({k: v / n for k, v in found.words.items()})
        best = max(
            p["new york"] * p["city"],
            p["new"] * p["york city"],
            p["new"] * p["york"] * p["city"],
        )
        expected = math.log2(p["new york city"] / best)
        assert found.pmi("new york city") == pytest.approx(expected)

    def test_ranking(self):
        found = counted(self.text)
        ranked = found.ranked("pmi")
        scores = [score for _, score in ranked]
        assert scores == sorted(scores, reverse=True)
        assert dict(ranked) == pytest.approx({g: found.pmi(g) for g in found})
        assert set(found.top(3, by="pmi")) == {ngram for ngram, _ in ranked[:3]}
        assert [n for _, n in found.ranked()] == list(found.values())

    def test_counts_of_ones_own(self):
        words = {"new": 5, "york": 4}
        with pytest.raises(DictionaryError, match="the number of tokens counted"):
            NgramDictionary({"new york": 3}, words=words).pmi("new york")
        origin = Provenance(n_tokens=100)
        found = NgramDictionary({"new york": 3}, words=words, provenance=origin)
        assert found.pmi("new york") == pytest.approx(math.log2(0.03 / (0.05 * 0.04)))

    def test_needs_word_counts(self, dictionary):
        with pytest.raises(DictionaryError, match="counts of the single words"):
            dictionary.pmi("new york")
        with pytest.raises(KeyError):
            dictionary.pmi("not there")
        with pytest.raises(DictionaryError, match="no ranking by 'tfidf'"):
            dictionary.ranked("tfidf")


def test_merge_adds_counts():
    one, two = counted("a b\na b c"), counted("a b\nc d")
    both = one.merge(two)
    assert dict(both) == {"a b": 3, "a b c": 1, "b c": 1, "c d": 1}
    assert dict(both.words) == {"a": 3, "b": 3, "c": 2, "d": 1}
    assert both.provenance.n_tokens == 9
    assert both.provenance.sources == ("texts", "texts")
    assert both.pmi("a b") == pytest.approx(math.log2((3 / 9) / (3 / 9) ** 2))


def test_diff():
    one, two = (
        NgramDictionary({"a b": 3, "b c": 1}),
        NgramDictionary({"a b": 2, "d e": 4}),
    )
    diff = one.diff(two)
    assert diff.only_left == ["b c"]
    assert diff.only_right == ["d e"]
    assert diff.common == {"a b": (3, 2)}


def test_other_attr(dictionary):
    other = NgramDictionary({"a b": 1}, attr="ORTH")
    for method in (dictionary.merge, dictionary.diff):
        with pytest.raises(
            DictionaryError, match="over 'LOWER', the other over 'ORTH'"
        ):
            method(other)


@pytest.mark.parametrize(
    ("ngrams", "message"),
    [
        ({"word": 1}, "'word' is not an n-gram"),
        ({"": 1}, "'' is not an n-gram"),
        ({"a  b": 1}, "is not an n-gram"),
        ({"a b ": 1}, "is not an n-gram"),
        ({"a\tb": 1}, "is not an n-gram"),
        ({("a", "b"): 1}, "is not an n-gram"),
        ({"a b": 0}, "count of 'a b' is 0"),
        ({"a b": 1.5}, r"count of 'a b' is 1\.5"),
    ],
)
def test_nonsense_counts(ngrams, message):
    with pytest.raises(DictionaryError, match=message):
        NgramDictionary(ngrams)


def test_nonsense_words():
    for words, message in (
        ({"a": 1.5}, r"count of 'a' is 1\.5"),
        ({"a": -1}, "count of 'a' is -1"),
        ({"a b": 2}, "'a b' is not a word"),
    ):
        with pytest.raises(DictionaryError, match=message):
            NgramDictionary({"a b": 3}, words=words)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NgramDictionary(None), "ngrams is None, but must be a mapping"),
        (lambda: NgramDictionary(["new york"]), r"ngrams is \['new york'\], but must"),
        (lambda: NgramDictionary("new york"), "ngrams is 'new york', but must"),
        (lambda: NgramDictionary({}, words="x"), "words is 'x', but must be a mapping"),
        (lambda: NgramDictionary({}, provenance={}), "provenance is {}, but must be"),
        (lambda: NgramDictionary.from_files([]), "paths is empty"),
        (lambda: NgramDictionary.from_files(None), "paths is None, but must be"),
        (lambda: NgramDictionary.from_texts(None), "texts is None, but must be"),
        (lambda: NgramDictionary.from_texts(3), "texts is 3, but must be"),
    ],
)
def test_other_kinds_of_values(make, message):
    with pytest.raises(SpanftError, match=message):
        make()


def test_counts_of_numpy():
    found = NgramDictionary({"a b": np.int64(3)}, words={"a": np.int32(4)})
    assert found == NgramDictionary({"a b": 3}, words={"a": 4})
    assert found.top(np.int64(1)).to_bytes()
    with pytest.raises(DictionaryError, match="must be an NgramDictionary"):
        found.merge({"a b": 3})


class TestFile:
    @given(dictionary=dictionaries)
    def test_round_trip_is_bit_identical(self, dictionary):
        data = dictionary.to_bytes()
        again = NgramDictionary.from_bytes(data)
        assert again == dictionary
        assert list(again.items()) == list(dictionary.items())
        assert again.attr == dictionary.attr
        assert again.provenance == dictionary.provenance
        assert again.to_bytes() == data

    def test_disk(self, corpus, tmp_path):
        found = NgramDictionary.from_files(corpus)
        found.to_disk(tmp_path / "new" / "folder" / "a.tsv.gz")
        again = NgramDictionary.from_disk(tmp_path / "new" / "folder" / "a.tsv.gz")
        assert again == found
        assert again.provenance.sources == (str(corpus),)
        assert again.provenance.tokenizer == "en"
        assert "spacy-spanft" in again.provenance.made_with

    def test_other_tools_read_it(self, corpus, tmp_path):
        found = NgramDictionary.from_files(corpus)
        found.to_disk(tmp_path / "a.tsv.gz")
        with gzip.open(tmp_path / "a.tsv.gz", "rt", encoding="utf8") as file:
            header, columns, *rows = file.read().splitlines()
        assert header.startswith(f"{MAGIC} {{")
        assert columns == "ngram\tcount"
        table = dict(row.split("\t") for row in rows)
        assert {k: int(v) for k, v in table.items()} == {**found, **found.words}

    def test_every_flipped_byte_is_noticed_or_harmless(self):
        found = counted("new york city is big\nnew york is new")
        data = found.to_bytes()
        for place in range(len(data)):
            for mask in (0x01, 0x80, 0xFF):
                broken = bytearray(data)
                broken[place] ^= mask
                # A few bits say nothing: the header's date, the last padding.
                with suppress(DictionaryError):
                    assert NgramDictionary.from_bytes(bytes(broken)) == found

    def test_every_cut_is_noticed(self):
        data = counted("new york city").to_bytes()
        for size in range(len(data)):
            with pytest.raises(DictionaryError):
                NgramDictionary.from_bytes(data[:size])

    def test_damage_is_called_damage(self, tmp_path):
        path = tmp_path / "a.tsv.gz"
        data = bytearray(default_dictionary().to_bytes())
        path.write_bytes(data[:5000])
        with pytest.raises(
            DictionaryError, match=r"a.tsv.gz is damaged: .*Copy it again"
        ):
            NgramDictionary.from_disk(path)
        data[300_000] ^= 0x10
        path.write_bytes(data)
        with pytest.raises(DictionaryError, match="is damaged"):
            NgramDictionary.from_disk(path)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "does not begin with"),
            ("hello\nworld\n", "does not begin with"),
            (f"{MAGIC} nonsense\n", "does not begin with"),
            (f"{MAGIC} []\n", "does not begin with"),
            (f"{MAGIC} {{}}\n", "format version is None"),
            (f'{MAGIC} {{"format_version": 1}}\nfoo\n', "second line is 'foo'"),
            (
                f'{MAGIC} {{"format_version": 1}}\nngram\tcount\na b\tx\n',
                "line 3: 'a b.*x' is not an n-gram, a tab and a count",
            ),
            (
                f'{MAGIC} {{"format_version": 1}}\nngram\tcount\na  b\t1\n',
                "line 3",
            ),
            (
                f'{MAGIC} {{"format_version": 1, "attr": "X"}}\nngram\tcount\n',
                "attr is 'X'",
            ),
            (
                f'{MAGIC} {{"format_version": 1}}\nngram\tcount\na b\t0\n',
                "line 3",
            ),
            (
                f'{MAGIC} {{"format_version": 1}}\nngram\tcount\na b\t{"9" * 5000}\n',
                "line 3",
            ),
            (f"{MAGIC} {'[' * 200_000}\n", "does not begin with"),
            (
                f'{MAGIC} {{"format_version": 1, "provenance": {{"n_tokens": "x"}}}}\n'
                "ngram\tcount\n",
                "n_tokens is 'x'",
            ),
            (
                f'{MAGIC} {{"format_version": 1, "provenance": {{"sources": "xy"}}}}\n'
                "ngram\tcount\n",
                "sources is 'xy'",
            ),
            (
                f'{MAGIC} {{"format_version": 1, "provenance": 3}}\nngram\tcount\n',
                "its header says",
            ),
            (
                f'{MAGIC} {{"format_version": {FORMAT_VERSION + 1}}}\nngram\tcount\n',
                r"format version 2, but this spacy-spanft .* reads up to version 1. "
                "Upgrade",
            ),
        ],
    )
    def test_not_a_dictionary(self, text, message):
        with pytest.raises(DictionaryError, match=message):
            NgramDictionary.from_bytes(gzip.compress(text.encode()))

    def test_table_of_somebody_else(self):
        rows = "ngram\tcount\nb c\t1\na b\t99\na\t100\nb\t100"
        data = gzip.compress(f'{MAGIC} {{"format_version": 1}}\n{rows}'.encode())
        found = NgramDictionary.from_bytes(data)
        assert list(found.items()) == [("a b", 99), ("b c", 1)]
        assert dict(found.words) == {"a": 100, "b": 100}

    def test_empty_file(self):
        with pytest.raises(DictionaryError, match="is damaged: it is empty"):
            NgramDictionary.from_bytes(b"")

    @pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
    def test_links_and_pipes_stay_what_they_are(self, dictionary, tmp_path):
        real, link = tmp_path / "real.tsv.gz", tmp_path / "link.tsv.gz"
        real.write_text("old")
        link.symlink_to(real)
        dictionary.to_disk(link)
        assert link.is_symlink()
        assert NgramDictionary.from_disk(real) == dictionary
        os.mkfifo(tmp_path / "pipe")
        reader = threading.Thread(
            target=lambda: read.append((tmp_path / "pipe").read_bytes())
        )
        read = []
        reader.start()
        dictionary.to_disk(tmp_path / "pipe")
        reader.join()
        assert read == [dictionary.to_bytes()]
        assert (tmp_path / "pipe").is_fifo()

    def test_not_even_packed(self, tmp_path):
        (tmp_path / "a.txt").write_text("hello")
        with pytest.raises(DictionaryError, match=r"a.txt is not an n-gram dictionary"):
            NgramDictionary.from_disk(tmp_path / "a.txt")
        with pytest.raises(SpanftError, match=r"no file .*missing"):
            NgramDictionary.from_disk(tmp_path / "missing")
        with pytest.raises(SpanftError, match="is a folder, not a file"):
            NgramDictionary.from_disk(tmp_path)

    @pytest.mark.parametrize("failing", ["fsync", "replace"])
    @pytest.mark.parametrize(
        "error", [OSError(28, "No space left on device"), KeyboardInterrupt()]
    )
    def test_failed_write_leaves_the_old_file(
        self, dictionary, tmp_path, monkeypatch, failing, error
    ):
        path = tmp_path / "a.tsv.gz"
        dictionary.to_disk(path)
        before = path.read_bytes()

        def fail(*args):
            raise error

        monkeypatch.setattr(os, failing, fail)
        with pytest.raises(type(error)) as caught:
            dictionary.top(1).to_disk(path)
        if isinstance(error, OSError):
            assert caught.value.filename == str(path)
        assert path.read_bytes() == before
        assert os.listdir(tmp_path) == ["a.tsv.gz"]

    def test_file_mode_is_the_usual_one(self, dictionary, tmp_path):
        dictionary.to_disk(tmp_path / "ours")
        (tmp_path / "usual").write_text("")
        assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_unknown_settings(corpus):
    with pytest.raises(
        DictionaryError,
        match=r"no setting 'lang' .* are: tokenizer, attr, .* mean tokenizer='de'",
    ):
        NgramDictionary.from_files(corpus, lang="de")
    with pytest.raises(
        DictionaryError, match=r"no setting 'n' .*: tokenizer, attr, ma"
    ):
        NgramDictionary.from_texts(["a b"], n=3)


class TestDefault:
    def test_is_in_the_package_and_small(self):
        from importlib import resources

        file = resources.files("spacy_spanft.ngrams") / "data" / "en_wiki2015.tsv.gz"
        assert len(file.read_bytes()) < 3_000_000
        found = default_dictionary()
        assert len(found) == 100_000
        assert found.max_n == 5
        assert found["united states"] > 10_000
        assert "Wikipedia" in found.provenance.sources[0]
        assert found.pmi("new york") > 5
        assert default_dictionary("en") is found

    def test_no_word_without_letter_or_digit(self):
        for ngram in default_dictionary():
            for word in ngram.split(" "):
                assert any(map(str.isalnum, word))

    def test_other_language(self):
        with pytest.raises(DictionaryError, match="no default dictionary for 'de'"):
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
