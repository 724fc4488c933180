"""Reading text: whole lines, whatever the packing, and clear words when it is none."""

import bz2
import gzip
import io
import os
import sys

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import CorpusError
from spacy_spanft.ngrams.text.blocks import blocks_from_files, blocks_from_texts


def zstd(data):
    return pa.compress(data, codec="zstd", asbytes=True)


def read(*paths, **how):
    return b"".join(blocks_from_files(paths, **how))


@given(
    text=st.binary(max_size=60).map(lambda b: b.replace(b"\0", b"").hex() + "\n"),
    size=st.integers(1, 20),
)
def test_blocks_are_whole_lines(tmp_path_factory, text, size):
    path = tmp_path_factory.mktemp("blocks") / "text.txt"
    path.write_text(text * 3 + "tail", encoding="utf8")
    blocks = list(blocks_from_files([path], block_size=size))
    assert b"".join(blocks).decode() == text * 3 + "tail\n"
    assert all(block.endswith(b"\n") for block in blocks)


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [("txt", bytes), ("txt.gz", gzip.compress), ("bz2", bz2.compress), ("zst", zstd)],
)
def test_packed_files(tmp_path, suffix, pack):
    path = tmp_path / f"text.{suffix}"
    path.write_bytes(pack("naïve\nlines".encode()))
    assert read(path).decode() == "naïve\nlines\n"


def test_several_files_and_the_standard_input(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b\n")
    stdin = io.TextIOWrapper(io.BytesIO(b"in"))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert read(tmp_path / "a", "-", tmp_path / "b") == b"a\nin\nb\n"


def test_byte_order_mark_is_no_word(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbfa b")
    assert read(path) == b"a b\n"


def test_broken_utf8_names_file_and_offset(tmp_path):
    path = tmp_path / "latin1.txt"
    path.write_bytes(b"first\n" * 100 + b"na\xefve\n")
    with pytest.raises(
        CorpusError, match=r"latin1.txt' is not valid UTF-8 at byte 602"
    ):
        read(path, block_size=64)
    with pytest.raises(CorpusError, match="--errors replace"):
        read(path)
    assert read(path, errors="replace").decode().endswith("na�ve\n")


def test_offset_counts_the_byte_order_mark(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbfok\n\xff")
    with pytest.raises(CorpusError, match="at byte 6 "):
        read(path)


def test_nul_bytes(tmp_path):
    path = tmp_path / "utf16.txt"
    path.write_bytes("a b".encode("utf-16-le"))
    with pytest.raises(CorpusError, match=r"NUL byte at byte 1 \(line 1\), .* UTF-16"):
        read(path)
    assert read(path, errors="replace").decode() == "a�\x20�b�\n"


def test_offset_in_packed_text(tmp_path):
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress(b"abc\xff"))
    with pytest.raises(CorpusError, match="at byte 3 of the decompressed text"):
        read(path)


@pytest.mark.parametrize(
    ("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("zst", zstd)]
)
def test_packed_file_cut_short(tmp_path, suffix, pack):
    path = tmp_path / f"text.{suffix}"
    path.write_bytes(pack(os.urandom(5000).hex().encode())[:2000])
    with pytest.raises(CorpusError, match="cannot be decompressed"):
        read(path)


def test_wrong_ending(tmp_path):
    path = tmp_path / "text.gz"
    path.write_text("not packed at all\n" * 99)
    with pytest.raises(
        CorpusError, match=r"cannot be decompressed .* its ending \(.gz\)"
    ):
        read(path)


def test_missing_file_is_found_out_before_reading(tmp_path):
    (tmp_path / "a").write_text("a\n")
    blocks = blocks_from_files([tmp_path / "a", tmp_path / "missing"])
    with pytest.raises(CorpusError, match=r"no file .*missing"):
        next(blocks)
    with pytest.raises(CorpusError, match="is a folder"):
        read(tmp_path)


def test_errors_must_be_known(tmp_path):
    with pytest.raises(CorpusError, match="errors is 'ignore'"):
        read(tmp_path, errors="ignore")


def test_closed_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(CorpusError, match="no standard input"):
        read("-")


@pytest.mark.skipif(
    os.name == "nt" or os.geteuid() == 0, reason="everything can be read here"
)
@pytest.mark.parametrize("name", ["secret.txt", "secret.gz"])
def test_file_that_may_not_be_read(tmp_path, name):
    (tmp_path / name).write_text("a")
    (tmp_path / name).chmod(0)
    with pytest.raises(CorpusError, match="you are not allowed to"):
        read(tmp_path / name)


def test_texts_with_surrogates_and_nul():
    assert b"".join(blocks_from_texts(["a\ud800b", "c\0d"])).decode() == "a?b\nc�d\n"


class TestDatasets:
    """What the hub gives, from local folders of the same format."""

    rows = ("new york city", "", "in new york")

    @pytest.fixture
    def saved(self, tmp_path):
        from datasets import Dataset

        folder = tmp_path / "saved"
        Dataset.from_dict({"text": self.rows, "id": [1, 2, 3]}).save_to_disk(folder)
        return str(folder)

    @pytest.fixture
    def jsonl(self, tmp_path, monkeypatch):
        folder = tmp_path / "jsonl"
        folder.mkdir()
        lines = [f'{{"sentence": "{row}"}}' for row in self.rows]
        (folder / "train.jsonl").write_text("\n".join(lines))
        return str(folder)

    def test_saved_dataset(self, saved):
        found = NgramDictionary.from_dataset(saved, min_count=2)
        assert dict(found) == {"new york": 2}
        assert found.provenance.sources == (f"{saved}/train",)

    @pytest.mark.parametrize("streaming", [True, False])
    def test_folder_of_files(self, jsonl, streaming, tmp_path, monkeypatch):
        import datasets

        monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
        found = NgramDictionary.from_dataset(
            jsonl, column="sentence", streaming=streaming, min_count=2
        )
        assert dict(found) == {"new york": 2}

    def test_wrong_column(self, saved):
        with pytest.raises(CorpusError, match=r"no column 'body'.*'text', 'id'"):
            NgramDictionary.from_dataset(saved, column="body")

    def test_missing_dataset(self, tmp_path):
        with pytest.raises(CorpusError, match="There is no folder"):
            NgramDictionary.from_dataset(str(tmp_path / "nothing"))
        (tmp_path / "file.txt").write_text("a b")
        with pytest.raises(CorpusError, match="is a file, not a dataset"):
            NgramDictionary.from_dataset(str(tmp_path / "file.txt"))

    def test_wrong_split(self, saved, tmp_path):
        from datasets import Dataset, DatasetDict

        with pytest.raises(CorpusError, match=r"no split 'test' .* It has: 'train'"):
            NgramDictionary.from_dataset(saved, split="test")
        rows = Dataset.from_dict({"text": ["a b", "a b"]})
        both = DatasetDict({"train": rows, "dev": rows})
        both.save_to_disk(tmp_path / "both")
        with pytest.raises(CorpusError, match="It has: 'train', 'dev'"):
            NgramDictionary.from_dataset(str(tmp_path / "both"), split="test")
        found = NgramDictionary.from_dataset(
            str(tmp_path / "both"), split="dev", min_count=2
        )
        assert dict(found) == {"a b": 2}

    def test_column_that_is_no_text(self, saved):
        with pytest.raises(
            CorpusError, match=r"'id' of dataset .* holds int, not text"
        ):
            NgramDictionary.from_dataset(saved, column="id")
