"""Files that are written whole or not at all."""

import os
import stat
import threading

import pytest

from spacy_spanft.errors import SpanftError
from spacy_spanft.util import files
from spacy_spanft.util.files import check_folder, check_target, write_whole

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


@pytest.mark.parametrize("name", ["file/x.tsv.gz", "file/new/x.tsv.gz"])
class TestFileInThePlaceOfAFolder:
    def test_is_found_early(self, tmp_path, name):
        (tmp_path / "file").write_text("old")
        expected = r"x\.tsv\.gz' cannot be written: '.*file' is a file"
        for check in (check_target, check_folder):
            with pytest.raises(SpanftError, match=expected):
                check(tmp_path / name)

    def test_is_said_when_written(self, tmp_path, name):
        (tmp_path / "file").write_text("old")
        with pytest.raises(NotADirectoryError) as found:
            write_whole(tmp_path / name, b"new")
        assert found.value.filename == str(tmp_path / name)
        assert (tmp_path / "file").read_text() == "old"


@pytest.mark.parametrize("name", ["a", "new/folder/a"])
def test_folder_that_may_not_be_written_to(tmp_path, monkeypatch, name):
    """Whoever is root may write anywhere, so it is only said that they may not."""
    for check in (check_target, check_folder):
        check(tmp_path / name)
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    for check in (check_target, check_folder):
        with pytest.raises(
            SpanftError, match=r"not allowed to write to the folder '.*'"
        ):
            check(tmp_path / name)
    assert not (tmp_path / "new").exists()


@posix
def test_devices_are_targets():
    check_target("/dev/null")
