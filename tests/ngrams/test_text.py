"""Reading text: whole lines, whatever the format, and clear words when it is none."""

import bz2
import gzip
import io
import json
import os
import sys

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import SpanftError
from spacy_spanft.ngrams.text import blocks_from_texts, blocks_of
from spacy_spanft.util.text_files import blocks_from_files

LINES = ["new york", "", "naïve \u2028 🙂 text", "two\nlines", "end"]
JSONL = "".join(f"{json.dumps({'text': line})}\n" for line in LINES)
PACKED = gzip.compress(b"ab\xff", mtime=0)
PACKERS = [
    (".gz", gzip.compress),
    (".bz2", bz2.compress),
    (".zst", lambda data: pa.compress(data, codec="zstd", asbytes=True)),
]


def read(*paths, **settings):
    return b"".join(blocks_from_files(paths, **settings))


def text_of(path, **settings):
    return b"".join(blocks_of([path], **settings)).decode()


def write_parquet(path, cells, name="text"):
    table = pa.table({"id": range(len(cells)), name: cells})
    pq.write_table(table, path, row_group_size=2)


@given(
    text=st.binary(max_size=60).map(lambda b: b.hex() + "\n"), size=st.integers(1, 20)
)
def test_blocks_are_whole_lines(tmp_path_factory, text, size):
    path = tmp_path_factory.mktemp("blocks") / "text.txt"
    path.write_text(text * 3 + "tail", encoding="utf8")
    blocks = list(blocks_from_files([path], block_size=size))
    assert b"".join(blocks).decode() == text * 3 + "tail\n"
    assert all(block.endswith(b"\n") for block in blocks)


@pytest.mark.parametrize(
    ("suffix", "pack"), [("", bytes), *PACKERS, (".GZ", gzip.compress)]
)
def test_compressed_text_and_jsonl(suffix, pack, tmp_path):
    for name, data in (("a.txt", "\n".join(LINES)), ("a.jsonl", JSONL)):
        path = tmp_path / f"{name}{suffix}"
        path.write_bytes(pack(data.encode()))
        assert text_of(path) == "\n".join(LINES) + "\n"
    path.write_bytes(pack(JSONL.replace("text", "body").encode()))
    dictionary = NgramDictionary.from_files(path, column="body", min_count=1)
    assert dict(dictionary) == {"new york": 1}
    if suffix:
        path.write_bytes(pack(os.urandom(5000).hex().encode())[:2000])
        with pytest.raises(SpanftError, match="cannot be decompressed"):
            read(path)
        path.write_text("not packed at all\n" * 99)
        with pytest.raises(SpanftError, match=rf"its ending \({suffix}\) is not that"):
            read(path)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), None])
def test_parquet(kind, tmp_path):
    cells = pa.array(LINES, kind) if kind else pa.array(LINES).dictionary_encode()
    write_parquet(tmp_path / "text.parquet", cells)
    assert text_of(tmp_path / "text.parquet") == "\n".join(LINES) + "\n"


def test_several_files_and_the_standard_input(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_bytes(b"\xef\xbb\xbfb\n")  # a byte order mark is not a word
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"in")))
    assert read(tmp_path / "a", "-", tmp_path / "b") == b"a\nin\nb\n"
    # What is missing is noticed before reading.
    with pytest.raises(SpanftError, match=r"no file .*missing"):
        next(blocks_from_files([tmp_path / "a", tmp_path / "missing"]))
    with pytest.raises(SpanftError, match="is a folder"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("name", "data", "message", "replaced"),
    [
        ("a", b"a\nb\xef\n", r"at byte 3 \(line 2\)", "a\nb\ufffd\n"),
        ("a", b"a\0 \0", r"holds a NUL byte at byte 1 \(line 1\)", "a\ufffd \ufffd\n"),
        ("a.gz", PACKED, "byte 2 of the decompressed", "ab\ufffd\n"),
    ],
)
def test_bytes_that_are_not_text(name, data, message, replaced, tmp_path):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SpanftError, match=f"{name}' is not .*UTF-8.* {message}"):
        read(tmp_path / name)
    assert read(tmp_path / name, errors="replace").decode() == replaced


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"text": "a"', "is not a JSON object: Expecting .* column 13"),
        ("[" * 10**5, "is not a JSON object: "),
        ('{"body": "a"}', "has no column 'text', but: 'body'.*--column"),
        ('{"text": null}', "has None in column 'text'.*replace"),
    ],
)
def test_wrong_lines_of_jsonl(row, message, tmp_path):
    path = tmp_path / "a.jsonl"
    text = '\ufeff{"text": "a"}\n\n{"text": "b"}\n' + row + "\n"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(SpanftError, match=rf"Line 4 of .*a\.jsonl' {message}"):
        text_of(path)
    path.write_bytes(b'{"text": null}\n{"text": "caf\xe9"}\n')
    assert text_of(path, errors="replace") == "caf\ufffd\n"


def test_wrong_cells_of_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    write_parquet(path, ["a", "b", "c", None])
    with pytest.raises(SpanftError, match=r"Row 4 of .*has None in column 'text'"):
        text_of(path)
    assert text_of(path, errors="replace") == "a\nb\nc\n"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(SpanftError, match=r"a\.parquet' cannot be read as a Parquet"):
        text_of(path)


ROWS = ("new york city", "", "in new york")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "dataset"
    rows = datasets.Dataset.from_dict({"text": ROWS, "id": [1, 2, 3]})
    datasets.DatasetDict({"train": rows, "dev": rows}).save_to_disk(folder)
    rows.save_to_disk(folder.parent / "rows")
    return str(folder)


def test_saved_datasets(saved):
    rows = saved.replace("dataset", "rows")
    for name, split in ((saved, "train"), (saved, "dev"), (rows, "train")):
        ngrams = NgramDictionary.from_dataset(name, split=split, min_count=2)
        assert dict(ngrams) == {"new york": 2}
        assert ngrams.provenance.sources == (f"{name}/{split}",)


def test_the_current_folder_is_a_dataset(tmp_path, monkeypatch):
    (tmp_path / "train.jsonl").write_text('{"text": "a b"}\n' * 2)
    monkeypatch.chdir(tmp_path)
    assert dict(NgramDictionary.from_dataset(".", min_count=2)) == {"a b": 2}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"column": "body"}, r"no column 'body'.*'text', 'id'"),
        ({"split": "test"}, r"no split 'test' .* It has: 'train'"),
        ({"name": __file__}, "is a file, not a dataset"),
    ],
)
def test_wrong_settings_of_datasets(saved, settings, message):
    with pytest.raises(SpanftError, match=message):
        NgramDictionary.from_dataset(**{"name": saved, **settings})


def test_wrong_arguments():
    with pytest.raises(SpanftError, match="texts is a single string"):
        NgramDictionary.from_texts("a b c")
    with pytest.raises(SpanftError, match="Text 1 is nan, not a string"):
        NgramDictionary.from_texts(["a", float("nan")])
    blocks = blocks_from_texts(["a\ud800b", "c\0d"])  # which are replaced
    assert b"".join(blocks).decode() == "a?b\nc\ufffdd\n"
