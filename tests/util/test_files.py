"""Files that are written whole or not at all."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from spacy_spanft.errors import SpanftError
from spacy_spanft.util.files import check_folder, check_target, write_whole


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize("name", ["a", "中" * 80])
def test_the_mode_of_a_file_stays_and_its_name_may_be_long(tmp_path, name):
    path = tmp_path / name
    for mode in (0o600, 0o664):
        path.write_text("old")
        path.chmod(mode)
        write_whole(path, b"new")
        assert stat.S_IMODE(path.stat().st_mode) == mode
        assert path.read_bytes() == b"new"
        assert os.listdir(tmp_path) == [name]


def test_an_interrupted_writer_and_a_full_disk_leave_the_old_file(
    tmp_path, monkeypatch
):
    def write(file):
        file.write(b"half")
        raise KeyboardInterrupt

    def fail(*args):
        raise OSError(28, "No space left on device")

    write_whole(tmp_path / "a", b"old")
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "a", write)
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left") as caught:
        write_whole(tmp_path / "a", b"new")
    assert caught.value.filename == str(tmp_path / "a")
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="there is no /dev/fd")
def test_a_pipe_is_written_directly():
    source, target = os.pipe()
    write_whole(f"/dev/fd/{target}", b"new")
    assert os.read(source, 9) == b"new"
    os.close(source)
    os.close(target)


def test_of_many_writers_one_wins(tmp_path):
    texts = [str(i).encode() * 1000 for i in range(8)] * 5
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: write_whole(tmp_path / "a", text), texts))
    assert (tmp_path / "a").read_bytes() in texts
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("name", ["a", "new/folder/a"])
def test_a_folder_that_may_not_be_written_to_is_an_error(tmp_path, monkeypatch, name):
    """Root may write anywhere, so the permission is patched."""
    check_target(os.devnull)
    for check in (check_target, check_folder):
        check(tmp_path / name)
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    for check in (check_target, check_folder):
        with pytest.raises(SpanftError, match="is no folder that you may"):
            check(tmp_path / name)
