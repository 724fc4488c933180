"""Files that are written whole or not at all."""

import os
import stat
import threading

import pytest

from spacy_spanft import files
from spacy_spanft.files import write_whole

LITTER = "0123456789abcdef" * 2

posix = pytest.mark.skipif(
    os.name == "nt", reason="Windows has no such modes, or locks"
)


@posix
def test_who_may_read_a_file_stays(tmp_path):
    path = tmp_path / "a"
    for mode in (0o600, 0o664):
        path.write_text("old")
        path.chmod(mode)
        write_whole(path, b"new")
        assert stat.S_IMODE(path.stat().st_mode) == mode
        assert path.read_bytes() == b"new"


@pytest.mark.parametrize("name", ["a" * 230, "ü" * 120, "中" * 80])
def test_long_names(tmp_path, name):
    write_whole(tmp_path / name, b"new")
    assert os.listdir(tmp_path) == [name]
    assert (tmp_path / name).read_bytes() == b"new"


@posix
def test_litter_of_the_dead_is_removed(tmp_path):
    others = [f".b.{LITTER}", f".a.{LITTER}0", f"a.{LITTER}", ".a.txt"]
    for name in [f".a.{LITTER}", *others]:
        (tmp_path / name).write_text("half")
    write_whole(tmp_path / "a", b"new")
    assert sorted(os.listdir(tmp_path)) == sorted(["a", *others])


@posix
def test_files_of_the_living_stay(tmp_path, monkeypatch):
    """A writer that is half way is not disturbed by another one."""
    fsync = os.fsync

    def write_another(file):
        monkeypatch.setattr(os, "fsync", fsync)
        write_whole(tmp_path / "a", b"second")
        assert len(os.listdir(tmp_path)) == 2
        fsync(file)

    monkeypatch.setattr(os, "fsync", write_another)
    write_whole(tmp_path / "a", b"first")
    assert (tmp_path / "a").read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["a"]


@posix
def test_removed_before_it_is_locked(tmp_path, monkeypatch):
    lock = files._lock

    def remove(file, wait=False):
        monkeypatch.setattr(files, "_lock", lock)
        os.unlink(next(tmp_path.glob(".a.*")))
        return True

    monkeypatch.setattr(files, "_lock", remove)
    write_whole(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"


def test_many_writers(tmp_path):
    texts = [str(i).encode() * 1000 for i in range(8)]

    def write(text):
        for _ in range(5):
            write_whole(tmp_path / "a", text)

    writers = [threading.Thread(target=write, args=(text,)) for text in texts]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert (tmp_path / "a").read_bytes() in texts
    assert os.listdir(tmp_path) == ["a"]
