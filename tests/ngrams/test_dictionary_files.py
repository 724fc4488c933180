"""Dictionary files that nobody should have made: a clear error, and soon."""

import gzip
import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_spanft import NgramDictionary, Provenance
from spacy_spanft.errors import DictionaryError
from spacy_spanft.ngrams import gunzip
from spacy_spanft.ngrams.format import MAGIC
from spacy_spanft.ngrams.rows import Rows

HEADER = f'{MAGIC} {{"format_version": 1, "attr": "LOWER"}}\nngram\tcount\n'


def read(text, header=HEADER):
    data = text if isinstance(text, bytes) else text.encode("utf8", "surrogatepass")
    return NgramDictionary.from_bytes(gzip.compress(header.encode() + data), name="x")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a b\t1\nNew York\t2\n", "line 4: 'New York' has capitals, but case is folde"),
        ("a b\t1\nYork\t2\n", "line 4: 'York' has capitals"),
        ("a b\t1\nc d\t2\na b\t3\n", "line 5: 'a b' is there twice"),
        ("a b\t1\nb\t2\nb\t2\n", "line 5: 'b' is there twice"),
        ("a b\t1\na\xa0b c\t2\n", r"line 4: 'a\\xa0b c' is not an n-gram"),
        ("a b\t1\na b\u2028\t2\n", r"line 4: 'a b\\u2028' is not an n-gram"),
        ("a b\t1\na b\rc\t2\n", r"line 4: 'a b\\rc' is not an n-gram"),
        ("a b\t1\na\x1cb\t2\n", r"line 4: 'a\\x1cb' is not a word"),
        ("a b\t-1\n", r"line 3: 'a b\\t-1' is not an n-gram, a tab and a count"),
        ("a b\t1\t2\nc d\n", "line 3: "),
        ("a b\t٣\n", "line 3: "),
        ("a b\t1\n\nc d\t2\n", "line 4: '' is not an n-gram"),
        (" a b\t1\n", "line 3: ' a b' is not an n-gram"),
        ("\t1\n", "line 3: '' is not a word"),
        ("a b\t" + "9" * 20 + "\n", "line 3: "),
        ("a b\t1\n" + "a " * 299_999 + "b\t1\n", "line 4: .*of 300,000 words, but the"),
        ("a " * 255 + "b\t1\n", "n-gram of 256 words, but the largest n is 255"),
        ("a \ud800b\t1\n", "can't decode byte"),
        ("a b" * (1 << 23), "lines is longer than 16,777,216 bytes"),
    ],
)
def test_rows_that_are_none(rows, message):
    with pytest.raises(DictionaryError, match=message) as caught:
        read(rows)
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


def test_the_longest_ngram_is_read():
    longest = "a " * 254 + "b"
    assert read(f"{longest}\t1\n") == NgramDictionary({longest: 1})


@pytest.mark.parametrize(
    ("ngram", "count", "message"),
    [
        ("a \ud800", 1, r"'a \\ud800' is not an n-gram"),
        ("a\xa0b c", 1, "is not an n-gram"),
        ("a b\rc", 1, "is not an n-gram"),
        ("a " * 255 + "b", 1, "n-gram of 256 words, but the largest n is 255"),
        ("a b", 10**19, "is 10000000000000000000, but it must be a whole number > 0"),
        pytest.param(
            "a b", 10**5000, "The count of 'a b' is a number of thousands", id="huge"
        ),
    ],
)
def test_what_no_file_can_hold_is_refused_before(ngram, count, message):
    with pytest.raises(DictionaryError, match=message):
        NgramDictionary({ngram: count})


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"format_version": "9" * 5000}, "does not begin with"),
        ({"format_version": "9" * 3000}, "format version 99999999999999999999, but"),
        ({"provenance": '{"n_tokens": -5}'}, "n_tokens is -5"),
        ({"provenance": '{"max_n": true}'}, "max_n is True"),
        ({"provenance": '{"n_tokens": ' + "9" * 3000 + "}"}, "n_tokens is 99"),
    ],
)
def test_headers_that_are_none(header, message):
    settings = {"format_version": "1", **header}
    line = ", ".join(f'"{name}": {value}' for name, value in settings.items())
    with pytest.raises(DictionaryError, match=message) as caught:
        read("a b\t1\n", f"{MAGIC} {{{line}}}\nngram\tcount\n")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (lambda: b"\0" * 10_000_000, "times as large"),
        (lambda: b"a b\t1\n" * 1_000_000, "there twice|times as large"),
        (
            lambda: b"".join(b"w" * 6_000 + b" %d\t1\n" % i for i in range(1500)),
            "times",
        ),
    ],
    ids=["one line", "one row", "long rows"],
)
def test_bombs_stay_small(monkeypatch, rows, message):
    monkeypatch.setattr(gunzip, "ALWAYS_ALLOWED", 1 << 22)
    monkeypatch.setattr(gunzip, "LONGEST_LINE", 1 << 21)
    data = gzip.compress(HEADER.encode() + rows(), compresslevel=1)
    tracemalloc.start()
    try:
        with pytest.raises(DictionaryError, match=message):
            NgramDictionary.from_bytes(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 26


def test_large_and_regular_is_no_bomb(monkeypatch):
    """What a program has made up is packed five to one."""
    monkeypatch.setattr(gunzip, "ALWAYS_ALLOWED", 0)
    rows = {f"word{i} word{i + 1}": 1 for i in range(50_000)}
    found = NgramDictionary(rows)
    assert NgramDictionary.from_bytes(found.to_bytes()) == found


def test_lines_too_long_are_not_written(monkeypatch):
    monkeypatch.setattr("spacy_spanft.ngrams.format.LONGEST_LINE", 1000)
    with pytest.raises(DictionaryError, match="has 303 characters, but the longest li"):
        NgramDictionary({"a " + "b" * 299: 1}).to_bytes()


def test_file_names_that_are_no_text():
    """A source may have a name that is no UTF-8, which Python shows as half a pair."""
    origin = Provenance(sources=("caf\udce9.txt",))
    found = NgramDictionary({"a b": 1}, provenance=origin)
    assert NgramDictionary.from_bytes(found.to_bytes()).provenance == origin


@given(
    text=st.text(st.sampled_from(" \t\n\r\xa0aBé012"), max_size=12),
    size=st.integers(0, 4),
    is_folded=st.booleans(),
)
def test_all_rows_at_once_are_as_one_by_one(text, size, is_folded):
    text = "".join(f"a {i}\t{i + 1}\n" for i in range(size)) + text + "\n"
    rows = Rows(is_folded=is_folded)
    at_once = rows._all_at_once(text)
    if at_once is not None:
        assert at_once == rows._one_by_one(text)
    elif size and not text[:-1].endswith("\n"):
        with pytest.raises(DictionaryError):
            rows._one_by_one(text)


@pytest.fixture(scope="module")
def original():
    return NgramDictionary(
        {"new york": 30, "the united states": 7, "über uns": 5, "中 文": 4},
        words={"new": 40, "york": 31, "über": 9},
        provenance=Provenance(sources=("a.txt",), n_tokens=100),
    )


def read_if_fine(data):
    """Read a file; None where it is refused, in one line."""
    try:
        return NgramDictionary.from_bytes(data)
    except DictionaryError as error:
        message = str(error)
    assert "\n" not in message
    return None


def test_broken_bytes(original):
    """gzip's checksum finds all that changes the content."""
    rng = random.Random(0)
    data = original.to_bytes()
    for _ in range(500):
        broken = bytearray(data[: rng.randrange(len(data) // 2, len(data) + 1)])
        for _ in range(rng.randrange(3)):
            broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
        assert read_if_fine(bytes(broken)) in (None, original)


def edited(text, rng, first):
    """Edit a text as somebody might who does not know what it must look like."""
    for _ in range(rng.randrange(1, 3)):
        place = rng.randrange(first, len(text))
        more = ["", " ", "\t", "\n", "A", "a", "7", "0", "-", "\xa0", "\r", "\0", '"']
        more = [*more, "\u2028", "}", text[first:place]]
        text = text[:place] + rng.choice(more) + text[place + rng.randrange(2) :]
    return text


def test_broken_rows(original):
    """The checksum is right, as if somebody had repacked it."""
    rng = random.Random(1)
    text = gzip.decompress(original.to_bytes()).decode()
    head = text.index("ngram\tcount\n") + len("ngram\tcount\n")
    n_read = 0
    for _ in range(400):
        table = edited(text, rng, first=head)
        found = read_if_fine(gzip.compress(table.encode(), compresslevel=1))
        if found is not None:
            n_read += 1
            rows = [row.split("\t") for row in table[head:].split("\n") if row]
            said = {name: int(count) for name, count in rows}
            assert len(said) == len(rows)
            assert {**found, **found.words} == said
            assert NgramDictionary(found, words=found.words).items() == found.items()
    assert 20 < n_read < 300


def test_broken_headers(original):
    rng = random.Random(2)
    text = gzip.decompress(original.to_bytes()).decode()
    end = text.index("\n") + 1
    for _ in range(200):
        table = edited(text[:end], rng, first=0) + text[end:]
        found = read_if_fine(gzip.compress(table.encode(), compresslevel=1))
        if found is not None:
            assert dict(found) == dict(original)
            assert NgramDictionary.from_bytes(found.to_bytes()) == found
