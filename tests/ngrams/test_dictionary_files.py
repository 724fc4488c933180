"""The dictionary's file: it comes back as it was, or is refused in one line."""

import gzip
import os
import random
import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given

from spacy_spanft import NgramDictionary, Provenance, default_dictionary
from spacy_spanft.errors import SpanftError
from spacy_spanft.ngrams import format as file_format
from spacy_spanft.ngrams.format import MAGIC

from .strategies import counted, dictionaries

HEADER = f'{MAGIC} {{"format_version": 1, "attr": "LOWER"}}\nngram\tcount\n'


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


def test_disk(corpus, tmp_path):
    path = tmp_path / "new" / "folder" / "a.tsv.gz"
    ngrams = NgramDictionary.from_files(corpus)
    ngrams.to_disk(path)
    # Other tools read it, too.
    header, columns, *rows = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert (header.startswith(f"{MAGIC} {{"), columns) == (True, "ngram\tcount")
    table = dict(row.split("\t") for row in rows)
    assert {k: int(v) for k, v in table.items()} == {**ngrams, **ngrams.words}
    again = NgramDictionary.from_disk(path)
    assert again == ngrams
    assert again.provenance.sources == (str(corpus),)
    assert again.provenance.tokenizer == "en"
    assert "spacy-spanft" in again.provenance.made_with


def test_table_of_somebody_else():
    header = f'{MAGIC} {{"format_version": 1}}\nngram\tcount\n'
    ngrams = read("b c\t1\na b\t99\na\t100\nb\t100", header)
    assert list(ngrams.items()) == [("a b", 99), ("b c", 1)]
    assert dict(ngrams.words) == {"a": 100, "b": 100}


def test_source_names_that_are_not_text():
    """A file may have a name that is not UTF-8, which Python shows as half a pair."""
    origin = Provenance(sources=("caf\udce9.txt",))
    ngrams = NgramDictionary({"a b": 1}, provenance=origin)
    assert NgramDictionary.from_bytes(ngrams.to_bytes()).provenance == origin


def test_every_flipped_byte_is_noticed_or_harmless():
    ngrams = counted("new york city is big\nnew york is new")
    data = ngrams.to_bytes()
    for i in range(len(data)):
        for mask in (0x01, 0x80, 0xFF):
            broken = bytearray(data)
            broken[i] ^= mask
            # A few bits mean nothing: the header's date, the last padding.
            with suppress(SpanftError):
                assert NgramDictionary.from_bytes(bytes(broken)) == ngrams


def test_every_cut_is_noticed():
    data = counted("new york city").to_bytes()
    for size in range(len(data)):
        with pytest.raises(SpanftError, match="or damaged"):
            NgramDictionary.from_bytes(data[:size])


def test_damage_is_one_clear_error(tmp_path):
    path = tmp_path / "a.tsv.gz"
    data = bytearray(default_dictionary().to_bytes())
    data[300_000] ^= 0x10
    path.write_bytes(data)
    with pytest.raises(SpanftError, match=r"a\.tsv\.gz is not .* damaged: .*Copy it"):
        NgramDictionary.from_disk(path)
    path.write_text("hello")
    with pytest.raises(SpanftError, match=r"a\.tsv\.gz is not an n-gram dictionary"):
        NgramDictionary.from_disk(path)
    with pytest.raises(SpanftError, match=r"no file .*missing"):
        NgramDictionary.from_disk(tmp_path / "missing")
    with pytest.raises(SpanftError, match="is a folder"):
        NgramDictionary.from_disk(tmp_path)


@pytest.mark.parametrize(
    ("first", "message"),
    [
        ("hello", "does not begin with"),
        (f"{MAGIC} nonsense", "damaged: Expecting value"),
        (f"{MAGIC} {{}}", "does not begin with"),
        (f"{MAGIC} {'[' * 200_000}", "damaged: maximum recursion"),
        (f'{MAGIC} {{"format_version": 1}}\nfoo', "second line is 'foo'"),
        (f'{MAGIC} {{"format_version": 1, "attr": "X"}}', "attr is 'X'"),
        (f'{MAGIC} {{"format_version": 1, "provenance": 3}}', "header of x is wrong"),
        (
            f'{MAGIC} {{"format_version": 2}}',
            "format version is 2, and spacy-spanft .* reads version 1; .*--upgrade",
        ),
    ],
)
def test_headers_that_are_refused(first, message):
    with pytest.raises(SpanftError, match=message):
        read("", f"{first}\nngram\tcount\n")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a b\t1\na\xa0b c\t2\n", r"line 4, 'a\\xa0b c\\t2', is not an n-gram, a tab"),
        ("a b\t1\na b\u2028\t2\n", "line 4"),
        ("a b\t1\na  b\t2\n", "line 4"),
        ("a b\t-1\n", "line 3"),
        ("a b\t1\n\nc d\t2\n", "line 4"),
        (" a b\t1\n", "line 3"),
        ("a b\t" + "9" * 20 + "\n", "line 3"),
        ("a b\t0\n", "counts is 0"),
        ("a b\t1\nc d\t2\na b\t3\n", "stands in it twice"),
        ("a b\t1\nNew York\t2\n", "has capital letters"),
        ("a \ud800b\t1\n", "can't decode byte"),
    ],
)
def test_rows_that_are_refused(rows, message):
    with pytest.raises(SpanftError, match=message) as caught:
        read(rows)
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


def edited(text, rng):
    """Edit a text as somebody might who does not know the format."""
    for _ in range(rng.randrange(1, 3)):
        at = rng.randrange(len(text))
        more = ["", " ", "\t", "\n", "A", "a", "7", "0", "-", "\xa0", "\r", "\0", '"']
        more = [*more, "\u2028", "}", text[:at]]
        text = text[:at] + rng.choice(more) + text[at + rng.randrange(2) :]
    return text


def test_edited_rows_are_read_as_they_are_or_refused():
    rng = random.Random(1)
    table = "new york\t30\nthe united states\t7\nüber uns\t5\n中 文\t4\nnew\t40\n"
    n_read = 0
    for _ in range(400):
        text = edited(table, rng)
        with suppress(SpanftError):
            ngrams = read(text)
            n_read += 1
            rows = [row.split("\t") for row in text.removesuffix("\n").split("\n")]
            assert {**ngrams, **ngrams.words} == {k: int(v) for k, v in rows}
            assert NgramDictionary(ngrams, words=ngrams.words) == NgramDictionary(
                {k: int(v) for k, v in rows if " " in k},
                words={k: int(v) for k, v in rows if " " not in k},
            )
    assert 20 < n_read < 300


def test_bombs_stay_small(monkeypatch):
    monkeypatch.setattr(file_format, "ALWAYS_ALLOWED", 1 << 22)
    data = gzip.compress(HEADER.encode() + b"\0" * 100_000_000, compresslevel=1)
    tracemalloc.start()
    try:
        with pytest.raises(SpanftError, match="50 times as large"):
            NgramDictionary.from_bytes(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 26


def test_large_and_regular_is_not_a_bomb(monkeypatch):
    """What a program has made up is packed five to one."""
    monkeypatch.setattr(file_format, "ALWAYS_ALLOWED", 0)
    ngrams = NgramDictionary({f"word{i} word{i + 1}": 1 for i in range(50_000)})
    assert NgramDictionary.from_bytes(ngrams.to_bytes()) == ngrams


def test_failed_write_leaves_the_old_file(dictionary, tmp_path, monkeypatch):
    path = tmp_path / "a.tsv.gz"
    dictionary.to_disk(path)
    before = path.read_bytes()

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left") as caught:
        dictionary.top(1).to_disk(path)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.tsv.gz"]
