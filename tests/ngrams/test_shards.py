"""Counting in shards equals counting at once, byte for byte, wherever it runs."""

import errno
import gzip
import os
import random
import signal
import tempfile
import time
import warnings
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from spacy_spanft.ngrams.shards.build import Build, Where, count_text
from spacy_spanft.ngrams.shards.encode import ALL, Share, encode_blocks, part_of_lines
from spacy_spanft.ngrams.shards.sizes import Sizes, parse_memory, sizes_of
from spacy_spanft.ngrams.shards.source import Text
from spacy_spanft.ngrams.shards.store import Store
from spacy_spanft.ngrams.shards.table import write_table

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import CorpusError, DictionaryError
from spacy_spanft.ngrams.counting.settings import Settings
from spacy_spanft.ngrams.provenance import facts_of
from spacy_spanft.ngrams.shards import build, store, table, work
from spacy_spanft.ngrams.text.blocks import blocks_from_texts
from spacy_spanft.util.engines import InProcess

from .. import interpreter
from .spaces import Spaces
from .test_counting import texts

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray")
has_kill = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")


@contextmanager
def cut_into(size, n_parts=3):
    """Have shards of so few bytes as no memory is small enough for."""
    with mock.patch.object(build, "sizes_of", return_value=Sizes(size, n_parts)):
        yield


def at_once(text, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there are no n-grams
        return NgramDictionary.from_texts([text], source="text", **how)


def in_shards(lines, size, n_parts, block_size, where=Where(), **how):  # noqa: B008
    blocks = blocks_from_texts(lines, block_size=block_size)
    chosen = Settings(**how)
    with (
        warnings.catch_warnings(),
        cut_into(size, n_parts),
        count_text(Text(["text"], blocks=blocks), chosen, where) as counted,
    ):
        warnings.simplefilter("ignore")
        return NgramDictionary.from_counted(counted, ["text"], chosen)


@hypothesis_settings(max_examples=40)
@given(
    text=texts,
    size=st.integers(1, 120),
    n_parts=st.integers(1, 5),
    block_size=st.integers(1, 60),
    tokenizer=st.sampled_from(["en", "whitespace"]),
    attr=st.sampled_from(["LOWER", "ORTH"]),
    max_n=st.integers(2, 6),
    min_count=st.integers(1, 3),
)
def test_any_text_in_any_shards(text, size, n_parts, block_size, **how):
    lines = text.split("\n")
    try:
        expected = at_once(text, **how).to_bytes()
    except CorpusError:
        with pytest.raises(CorpusError, match="not a single word was read"):
            in_shards(lines, size, n_parts, block_size, **how)
        return
    assert in_shards(lines, size, n_parts, block_size, **how).to_bytes() == expected


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """Words that repeat, of several scripts, with an empty file's worth of ends."""
    rng = random.Random(0)
    words = [f"w{i}" for i in range(60)] + ["New", "york", "Ünï", "שלום", "don't", "🙂"]
    weights = [1 / (i + 1) for i in range(len(words))]
    path = tmp_path_factory.mktemp("text") / "text.txt"
    lines = [
        " ".join(rng.choices(words, weights, k=rng.randrange(12))) for _ in range(900)
    ]
    path.write_text("\n".join(lines), encoding="utf8")  # the last line has no newline
    return path


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder for temporary files, of which none may stay."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    assert list(folder.glob("*")) == []


HOW = {"min_count": 3, "max_n": 4}


@hypothesis_settings(max_examples=40)
@given(text=texts, min_count=st.integers(1, 3), at_once=st.integers(1, 9))
def test_a_table_is_written_without_strings(tmp_path_factory, text, min_count, at_once):
    path = tmp_path_factory.mktemp("table") / "a.tsv.gz"
    how = {"min_count": min_count}
    lines = [*text.split("\n"), "a b \x01a b", "a a\x01 b"]  # below a space
    expected = NgramDictionary.from_texts(["\n".join(lines * 3)], source="text", **how)
    source = Text(["text"], blocks=blocks_from_texts(lines * 3))
    with (
        mock.patch.object(table, "_ROWS_AT_ONCE", at_once),
        count_text(source, Settings(**how), Where()) as counted,
    ):
        found = write_table(path, counted, ["text"], Settings(**how))
    assert path.read_bytes() == expected.to_bytes()
    assert facts_of(found) == facts_of(expected)


@pytest.fixture(scope="module")
def expected(text):
    found = NgramDictionary.from_files(text, **HOW)
    assert len(found) > 200
    return found.to_bytes()


@pytest.mark.parametrize("size", [1, 1000, 10**9])
def test_files_are_cut_at_lines(text, expected, size, temporary):
    with cut_into(size * 500 if size == 1 else size):
        found = NgramDictionary.from_shards(text, **HOW)
    assert found.to_bytes() == expected


def test_several_processes(text, expected, temporary):
    with cut_into(4000):
        found = NgramDictionary.from_shards(text, n_process=2, **HOW)
    assert found.to_bytes() == expected


@pytest.mark.parametrize("tokenizer", [None, Spaces()])
@pytest.mark.parametrize("n_shares", [2, 3, 50])
def test_workers_that_read_the_same_text(n_shares, tokenizer, text, tmp_path):
    """What is compressed: all read it, and each encodes its share."""

    def encode(folder, *shares):
        found = Store(folder)
        folder.mkdir()
        for share in shares:
            lines = text.read_text("utf8").split("\n")
            blocks = blocks_from_texts(lines, block_size=500)
            encode_blocks(found, "text", blocks, tokenizer, 2000, 3, share)
        return found

    expected = encode(tmp_path / "one", ALL)
    shares = [Share(i, n_shares) for i in reversed(range(n_shares))]
    found = encode(tmp_path / "many", *shares)
    assert expected.read_facts("text") > 5
    for path in (tmp_path / "one").iterdir():
        with expected.read(path.stem) as one, found.read(path.stem) as other:
            assert one.names() == other.names()
            for name in one.names():
                np.testing.assert_array_equal(one[name], other[name])
    assert all(found.has(share.name_of("text")) for share in shares)


def test_a_compressed_file_is_gone_on_with(text, tmp_path, temporary, monkeypatch):
    """With as many shares as it was begun with."""
    path = tmp_path / "text.txt.gz"
    path.write_bytes(gzip.compress(text.read_bytes()))
    expected = NgramDictionary.from_files(path, **HOW).to_bytes()
    encode = build.encode_unit

    def stop(*args):
        if args[-1].number:
            raise KeyboardInterrupt
        encode(*args)

    how = {"work": tmp_path / "work", **HOW}
    with monkeypatch.context() as patch:
        patch.setattr(build, "encode_unit", stop)
        patch.setattr(build, "open_engine", lambda *_, **__: InProcess())
        with pytest.raises(KeyboardInterrupt):
            NgramDictionary.from_shards(path, n_process=3, **how)
    assert not list((tmp_path / "work").glob("done-*"))
    assert NgramDictionary.from_shards(path, **how).to_bytes() == expected
    assert NgramDictionary.from_shards(path, n_process=2, **HOW).to_bytes() == expected


@needs_ray
@pytest.mark.slow
def test_ray(text, expected, tmp_path):
    how = {**HOW, "n_process": 2, "work": tmp_path / "work"}
    with cut_into(4000):
        found = NgramDictionary.from_shards(text, engine="ray", **how)
    assert found.to_bytes() == expected
    assert not (tmp_path / "work").exists()


def test_a_tokenizer_that_needs_whole_lines(text, temporary):
    how = {**HOW, "tokenizer": Spaces()}
    with cut_into(4000):
        found = NgramDictionary.from_shards(text, **how)
    assert found.to_bytes() == NgramDictionary.from_files(text, **how).to_bytes()


@has_kill
def test_a_killed_worker_changes_nothing(text, tmp_path, temporary):
    how = {**HOW, "tokenizer": Spaces(tmp_path / "was_killed")}
    with cut_into(9000):
        found = NgramDictionary.from_shards(text, n_process=2, **how)
    how["tokenizer"] = Spaces()
    assert found.to_bytes() == NgramDictionary.from_files(text, **how).to_bytes()


STEPS = "encode tokens words numbered stream pairs-2 level-2 pairs-3 level-4".split()  # noqa: SIM905


@pytest.mark.parametrize("step", STEPS)
def test_a_build_goes_on_where_it_was_cut_short(
    step, text, expected, tmp_path, monkeypatch, temporary
):
    folder = tmp_path / "work"
    finish, run = Build.finish, Build.run
    begun = []

    def stop(self, name, *args, **how):
        finish(self, name, *args, **how)
        if name == step:
            raise KeyboardInterrupt

    def watch(self, engine, name, function, tasks, shown):
        tasks = list(tasks)
        if not self.is_done(name):
            begun.extend(file for file, _ in tasks if not self.store.has(file))
        run(self, engine, name, function, tasks, shown)

    monkeypatch.setattr(Build, "run", watch)
    with monkeypatch.context() as patch, cut_into(4000):
        patch.setattr(Build, "finish", stop)
        with pytest.raises(KeyboardInterrupt):
            NgramDictionary.from_shards(text, work=folder, **HOW)
    first = set(begun)
    begun.clear()
    # Other sizes would be other shards: those of the first build are gone on with.
    with cut_into(9000, 7):
        found = NgramDictionary.from_shards(text, work=folder, **HOW)
    assert found.to_bytes() == expected
    assert first
    assert not first & set(begun)
    assert not folder.exists()


def test_only_the_tasks_that_are_left_are_done(text, expected, tmp_path, monkeypatch):
    folder = tmp_path / "work"
    count_shard = build.pairs.count_shard

    def stop(store, n, shard, *args):
        if (n, shard) == (3, 4):
            raise KeyboardInterrupt
        count_shard(store, n, shard, *args)

    with monkeypatch.context() as patch, cut_into(4000):
        patch.setattr(build.pairs, "count_shard", stop)
        with pytest.raises(KeyboardInterrupt):
            NgramDictionary.from_shards(text, work=folder, **HOW)
    calls = mock.Mock(side_effect=count_shard)
    monkeypatch.setattr(build.pairs, "count_shard", calls)
    with cut_into(4000):
        found = NgramDictionary.from_shards(text, work=folder, **HOW)
    assert found.to_bytes() == expected
    assert calls.call_args_list[0].args[1:3] == (3, 4)


@pytest.mark.parametrize("change", ["setting", "text", "column"])
def test_another_build_does_not_go_on(change, text, tmp_path):
    folder, copy = tmp_path / "work", tmp_path / "copy.txt"
    copy.write_bytes(text.read_bytes())
    with (
        mock.patch.object(Build, "find_words", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        NgramDictionary.from_shards(copy, work=folder, **HOW)
    how = dict(HOW)
    if change == "setting":
        how["min_count"] = 4
        message = "another min_count: it was 3, and is 4"
    elif change == "text":
        copy.write_bytes(text.read_bytes() + b"\nmore")
        message = "another text: the files"
    else:
        how["column"] = "body"
        message = "another text: the files"
    with pytest.raises(DictionaryError, match=f"unfinished build.*{message}"):
        NgramDictionary.from_shards(copy, work=folder, **how)


def test_a_folder_of_somebody_else_is_left_alone(text, tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(DictionaryError, match="has other files in it, such as 'letter"):
        NgramDictionary.from_shards(text, work=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
    with pytest.raises(DictionaryError, match="is a file"):
        NgramDictionary.from_shards(text, work=tmp_path / "letter.txt")


def test_nothing_stays_of_a_build_that_has_not_begun(tmp_path):
    path = tmp_path / "text.jsonl"
    path.write_text('{"body": "a b"}\n' * 10)
    how = {"work": tmp_path / "work", **HOW}
    with pytest.raises(CorpusError, match="no column 'text'"):
        NgramDictionary.from_shards(path, **how)
    assert not (tmp_path / "work").exists()
    assert len(NgramDictionary.from_shards(path, column="body", **how)) == 1


def test_two_builds_do_not_share_a_folder(text, tmp_path):
    with (
        FileLock(tmp_path / ".lock"),
        pytest.raises(DictionaryError, match="Another build is running in"),
    ):
        NgramDictionary.from_shards(text, work=tmp_path)


def test_litter_of_a_killed_build_is_removed(text, temporary):
    old = temporary / f"{work._START}0"
    old.mkdir()
    (old / ".lock").touch()
    (old / "text-000000.npz").touch()
    NgramDictionary.from_shards(text, **HOW)  # the fixture looks


@pytest.mark.parametrize("is_kept", [False, True])
def test_a_full_disk_is_named(is_kept, text, expected, tmp_path, temporary):
    folder = tmp_path / "work" if is_kept else None
    save, n_files = store.save_arrays, 0

    def full(file, arrays):
        nonlocal n_files
        n_files += 1
        if n_files == 30:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        save(file, arrays)

    with (
        mock.patch.object(store, "save_arrays", full),
        cut_into(4000),
        pytest.raises(DictionaryError, match=r"no room left .*--work FOLDER"),
    ):
        NgramDictionary.from_shards(text, work=folder, **HOW)
    if is_kept:
        with cut_into(4000):
            found = NgramDictionary.from_shards(text, work=folder, **HOW)
        assert found.to_bytes() == expected


def test_a_damaged_file_of_a_build_is_named(text, tmp_path):
    folder = tmp_path / "work"
    with (
        mock.patch.object(Build, "count_levels", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        NgramDictionary.from_shards(text, work=folder, **HOW)
    path = folder / "stream-0.npz"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(DictionaryError, match=r"stream-0\.npz' cannot be read .*CRC"):
        NgramDictionary.from_shards(text, work=folder, **HOW)


# It says when a level is done, and waits there to be killed.
DRIVER = """
import os, sys, tempfile, time
from spacy_spanft import NgramDictionary
from spacy_spanft.ngrams.shards import build
from spacy_spanft.ngrams.shards.sizes import Sizes

tempfile.tempdir = os.environ["TMPDIR"]  # another may be remembered already
finish = build.Build.finish

def wait(self, step, *args, **how):
    finish(self, step, *args, **how)
    if step == sys.argv[3]:
        print("ready", flush=True)
        time.sleep(600)

build.Build.finish = wait
build.sizes_of = lambda *_: Sizes(4000, 3)
NgramDictionary.from_shards(
    sys.argv[1], work=sys.argv[2] or None, n_process=2, min_count=3, max_n=4
)
"""


def start_driver(text, folder, step, stdout):
    args = ("-c", DRIVER, text, folder, step)
    process = interpreter.Interpreter(*args, stdout=stdout)
    deadline = time.monotonic() + 60
    while stdout.read_text() != "ready\n":
        assert process.returncode is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


@has_kill
def test_a_killed_driver_is_gone_on_with(text, expected, tmp_path, temporary):
    folder, stdout = tmp_path / "work", tmp_path / "stdout"
    stdout.touch()
    process = start_driver(text, folder, "level-2", stdout)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert (folder / "done-level-2.npz").exists()
    with mock.patch.object(build.words, "tokenize_part", side_effect=AssertionError):
        found = NgramDictionary.from_shards(text, work=folder, n_process=2, **HOW)
    assert found.to_bytes() == expected


@has_kill
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_litter_of_a_build_that_ends_early(number, text, tmp_path, temporary):
    stdout = tmp_path / "stdout"
    stdout.touch()
    process = start_driver(text, "", "tokens", stdout)
    n_before = len(list(temporary.glob(f"{work._START}*")))
    process.send_signal(number)
    process.communicate(timeout=60)
    assert n_before == 1
    if number == signal.SIGKILL:
        # Nobody could: the next one does.
        NgramDictionary.from_texts(["a b"] * 10)
        NgramDictionary.from_shards(text, **HOW)


def test_the_standard_input_cannot_be_gone_on_with(tmp_path):
    with pytest.raises(DictionaryError, match="can be read once, and in one piece"):
        NgramDictionary.from_shards("-", work=tmp_path)


def test_workers_that_do_not_see_the_folder(tmp_path):
    gone = store.Store(tmp_path / "gone")
    for use in (lambda: gone.read("a"), lambda: gone.write("a", {"b": np.zeros(1)})):
        with pytest.raises(DictionaryError, match=r"no folder .*on a shared disk"):
            use()


def test_shards_are_small_where_memory_is():
    large = sizes_of(None, 2, 10**9)
    small = sizes_of(parse_memory("1GB"), 2, 10**9)
    assert small.size < large.size
    assert small.n_parts > large.n_parts
    assert sizes_of(1, 4, 0) == (1 << 20, 16)


def test_sizes_of_memory_are_read():
    assert parse_memory("2GB") == parse_memory(" 2 gib ") == 2 << 30
    assert parse_memory("0.5MB") == 1 << 19
    for value in ("", "GB", "2", "-1GB", "nanGB", "two MB", "1e30GB"):
        with pytest.raises(DictionaryError, match="is not an amount of memory"):
            parse_memory(value)


def test_lines_are_spread_evenly_and_alike():
    lines = [f"{word}\n" for word in ["", "a", "ab", *map(str, range(20_000))]]
    parts = part_of_lines("".join(lines).encode(), 7)
    assert np.bincount(parts, minlength=7).min() > len(lines) / 7 * 0.9
    # The same line is in the same part, whatever stands around it.
    backward = part_of_lines("".join(lines[::-1]).encode(), 7)
    assert (parts == backward[::-1]).all()


def test_paths_are_checked_before_anything_is_read(tmp_path):
    with pytest.raises(CorpusError, match="paths is empty"):
        NgramDictionary.from_shards([])
    with pytest.raises(CorpusError, match="There is no file"):
        NgramDictionary.from_shards([Path("gone.txt")])
