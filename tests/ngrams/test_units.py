"""Files in pieces: together they are the file, whatever its kind and their size."""

import bz2
import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import CorpusError
from spacy_spanft.ngrams.text.units import kind_of, read_unit, units_of

LINES = ["new york", "", "naïve \u2028 🙂 text", "two\nlines", "end"]
JSONL = "".join(
    json.dumps({"id": i, "text": line}) + "\n" for i, line in enumerate(LINES)
)


def zstd(data):
    return pa.compress(data, codec="zstd", asbytes=True)


def read(path, size=None, **how):
    units = units_of([path], size=size, **how)
    return [b"".join(read_unit(unit)).decode() for unit in units]


def write_parquet(path, cells, kind=None, rows=2, name="text"):
    table = pa.table({"id": range(len(cells)), name: pa.array(cells, kind)})
    pq.write_table(table, path, row_group_size=rows)


@given(
    lines=st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
        max_size=12,
    ),
    size=st.integers(1, 40),
    is_closed=st.booleans(),
)
def test_pieces_of_text_are_the_text(tmp_path_factory, lines, size, is_closed):
    path = tmp_path_factory.mktemp("units") / "text.txt"
    data = ("\n".join(lines) + "\n" * is_closed).encode().removeprefix(b"\xef\xbb\xbf")
    path.write_bytes(data)
    pieces = read(path, size)
    whole = data.decode()
    assert "".join(pieces) == whole + "\n" * (not whole.endswith("\n") and bool(whole))
    assert all(piece.endswith("\n") for piece in pieces)


@given(size=st.integers(1, 200))
def test_pieces_of_jsonl_are_all_of_it(tmp_path_factory, size):
    path = tmp_path_factory.mktemp("units") / "text.jsonl"
    path.write_text(JSONL)
    assert "".join(read(path, size)) == "\n".join(LINES) + "\n"


@pytest.mark.parametrize(
    ("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("zst", zstd)]
)
def test_compressed_files_are_one_piece(suffix, pack, tmp_path):
    for name, data in (("a.txt", "\n".join(LINES)), ("a.jsonl", JSONL)):
        path = tmp_path / f"{name}.{suffix}"
        path.write_bytes(pack(data.encode()))
        assert read(path, 10) == ["\n".join(LINES) + "\n"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), "dictionary"])
def test_parquet_is_cut_between_row_groups(kind, tmp_path):
    cells = pa.array(LINES).dictionary_encode() if kind == "dictionary" else LINES
    path = tmp_path / "text.parquet"
    write_parquet(path, cells, None if kind == "dictionary" else kind)
    pieces = read(path, 1)
    assert len(pieces) == 3
    assert "".join(pieces) == "\n".join(LINES) + "\n"
    assert read(path, 10**9) == read(path) == ["".join(pieces)]


def test_kinds_are_told_by_the_name():
    names = ["a.txt", "a", "a.parquet", "a.jsonl", "b.ndjson.gz", "a.jsonl.zst", "a.gz"]
    kinds = ["text", "text", "parquet", "jsonl", "jsonl", "jsonl", "text"]
    assert list(map(kind_of, names)) == kinds


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_dictionaries_of_tables(name, tmp_path):
    texts = ["the new york times", "new york city"] * 3
    path = tmp_path / name
    if name == "a.jsonl":
        rows = (json.dumps({"body": text}) + "\n\n" for text in texts)
        path.write_text("".join(rows))
    else:
        write_parquet(path, texts, name="body")
    expected = dict(NgramDictionary.from_texts(texts, min_count=2))
    assert len(expected) == 8
    how = {"column": "body", "min_count": 2}
    assert dict(NgramDictionary.from_files(path, **how)) == expected
    assert dict(NgramDictionary.from_shards(path, **how)) == expected


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"text": "a"', r"Line 4 of .*a\.jsonl is not a JSON object: Expecting"),
        ("[1]", r"Line 4 .*is not a JSON object: it is \[1\]"),
        ('{"text": "\udc80"}', "Line 4 .*is not a JSON object: 'utf-8' codec"),
        ("[" * 10**5, "Line 4 .*is not a JSON object: "),
        ('{"body": "a"}', "Line 4 .*has no column 'text', but: 'body'.*--column"),
        ('{"text": null}', "Line 4 .*has None in column 'text'.*replace"),
        ('{"text": 3}', "Line 4 .*has 3 in column 'text'"),
    ],
)
@pytest.mark.parametrize("size", [None, 30])
def test_what_is_wrong_with_a_line_of_jsonl(row, message, size, tmp_path):
    path = tmp_path / "a.jsonl"
    text = '{"text": "a"}\n\n{"text": "b"}\n' + row + "\n"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(CorpusError, match=message):
        read(path, size)


@pytest.mark.parametrize("size", [None, 1])
def test_what_is_wrong_with_parquet(size, tmp_path):
    path = tmp_path / "a.parquet"
    write_parquet(path, ["a", "b", "c", None])
    with pytest.raises(CorpusError, match=r"Row 4 of .*has None in column 'text'"):
        read(path, size)
    assert "".join(read(path, size, errors="replace")) == "a\nb\nc\n"
    with pytest.raises(CorpusError, match="has no column 'body', but: 'id', 'text'"):
        read(path, size, column="body")
    with pytest.raises(CorpusError, match=r"Column 'id' of .* holds int64, not text"):
        read(path, size, column="id")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(CorpusError, match=r"a\.parquet' cannot be read as a Parquet"):
        read(path, size)


def test_null_is_passed_over_if_wanted(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": null}\n{"text": "a"}\n')
    assert read(path, errors="replace") == ["a\n"]


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"c\0\n", "NUL byte at byte 7 "), (b"c\xff\n", "UTF-8 at byte 7 ")],
)
def test_what_is_no_text_is_found_in_its_piece(data, message, tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\nb\nb\n" + data + b"d\n")
    with pytest.raises(CorpusError, match=rf"{message}\(line 4"):
        read(path, 2)
    assert "".join(read(path, 2, errors="replace")) == "a\nb\nb\nc\ufffd\nd\n"


def test_damage_in_compressed_jsonl_is_named(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(JSONL.encode())[:-10])
    with pytest.raises(CorpusError, match="cannot be decompressed"):
        read(path)


def test_jsonl_with_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "text.jsonl"
    path.write_bytes('\ufeff{"text": "a"}\n'.encode() + b'{"text": "caf\xe9"}\n')
    with pytest.raises(CorpusError, match="Line 2"):
        read(path)
    assert read(path, errors="replace") == ["a\ncaf\ufffd\n"]
