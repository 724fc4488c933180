"""Counting in bounded memory equals counting at once, wherever it runs."""

import errno
import os
import random
import signal
import tempfile
from types import SimpleNamespace

import numpy as np
import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import SpanftError
from spacy_spanft.ngrams.counting import count
from spacy_spanft.ngrams.text import blocks_from_texts

from .. import processes
from .test_counting import texts

has_kill = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
HOW = {"min_count": 3, "max_n": 4}


class Spaces:
    """A tokenizer that is none of spaCy's: it splits whole lines, or fails."""

    def __init__(self, fails=False):
        self.fails = fails

    def __call__(self, text):
        if self.fails:
            raise ZeroDivisionError
        return [SimpleNamespace(text=word) for word in text.split()]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """Words that repeat, of several scripts; the last line has no newline."""
    rng = random.Random(0)
    words = [f"w{i}" for i in range(60)] + ["New", "york", "Ünï", "שלום", "don't", "🙂"]
    weights = [1 / (i + 1) for i in range(len(words))]
    path = tmp_path_factory.mktemp("text") / "text.txt"
    lines = [
        " ".join(rng.choices(words, weights, k=rng.randrange(12))) for _ in range(400)
    ]
    path.write_text("\n".join(lines), encoding="utf8")
    return path


@pytest.fixture(scope="module")
def expected(text):
    dictionary = NgramDictionary.from_files(text, **HOW)
    assert len(dictionary) > 100
    return dictionary.to_bytes()


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder for temporary files, which must be empty in the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def count_lines(lines, block_size=2000, source="text", **how):
    blocks = blocks_from_texts(lines, block_size=block_size)
    return NgramDictionary.from_blocks(blocks, [str(source)], memory=2 << 30, **how)


@pytest.mark.filterwarnings("ignore:N")  # that there are no n-grams
@given(
    text=texts,
    n_parts=st.integers(1, 5),
    block_size=st.integers(1, 120),
    tokenizer=st.sampled_from(["en", "whitespace"]),
    attr=st.sampled_from(["LOWER", "ORTH"]),
    max_n=st.integers(2, 6),
    min_count=st.integers(1, 3),
)
def test_any_text_in_any_shards(text, n_parts, block_size, **how):
    lines = text.split("\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(count, "_MOST_PARTS", n_parts)
        try:
            whole = NgramDictionary.from_texts([text], source="text", **how)
        except SpanftError:
            with pytest.raises(SpanftError, match="text"):
                count_lines(lines, block_size, **how)
            return
        dictionary = count_lines(lines, block_size, **how)
    assert dictionary.to_bytes() == whole.to_bytes()


def test_many_shards_on_several_threads(text, expected, temporary):
    lines = text.read_text("utf8").split("\n")
    dictionary = count_lines(lines, source=text, n_process=3, **HOW)
    assert dictionary.to_bytes() == expected
    how = {**HOW, "tokenizer": Spaces()}
    dictionary = count_lines(lines, source=text, **how)
    assert dictionary.to_bytes() == NgramDictionary.from_files(text, **how).to_bytes()


@pytest.mark.slow
def test_ray(text, expected, tmp_path):
    pytest.importorskip("ray")
    lines = text.read_text("utf8").split("\n")
    how = {"engine": "ray", "work": tmp_path / "work", "n_process": 2, **HOW}
    assert count_lines(lines, source=text, **how).to_bytes() == expected
    assert list((tmp_path / "work").iterdir()) == []
    with pytest.raises(ZeroDivisionError):
        count_lines(lines, **how, tokenizer=Spaces(fails=True))


def test_a_full_disk_is_named(text, temporary, monkeypatch):
    n_files, save = 0, np.save

    def save_until_full(file, array):
        nonlocal n_files
        n_files += 1
        if n_files > 12:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        save(file, array)

    monkeypatch.setattr(np, "save", save_until_full)
    with pytest.raises(SpanftError, match=r"No space left in .*temporary.*--work"):
        NgramDictionary.from_files(text, memory=1, **HOW)


def test_the_folder_of_a_running_build_stays(text, temporary):
    folder = temporary / "spanft-build-other"
    folder.mkdir()
    with FileLock(f"{folder}.lock"):
        NgramDictionary.from_files(text, memory=1, **HOW)
        assert folder.exists()
    (temporary / "spanft-build-other.lock").touch()
    NgramDictionary.from_files(text, memory=1, **HOW)


# It waits in the middle of a level to be killed.
DRIVER = """
import signal, sys, time
from spacy_spanft import NgramDictionary
from spacy_spanft.ngrams.counting import count

def wait(*args):
    print("ready", flush=True)
    time.sleep(600)

signal.signal(signal.SIGINT, signal.default_int_handler)
count.sum_pairs = wait
NgramDictionary.from_files(sys.argv[1], work=sys.argv[2], min_count=3, max_n=4)
"""


@has_kill
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_killed_build_starts_again(number, text, expected, tmp_path):
    work = tmp_path / "work"
    process = processes.start("-c", DRIVER, text, work)
    assert process.stdout.readline() == "ready\n", process.communicate()
    process.send_signal(number)
    process.communicate(timeout=60)
    assert bool(list(work.iterdir())) == (number == signal.SIGKILL)
    dictionary = NgramDictionary.from_files(text, work=work, **HOW)
    assert dictionary.to_bytes() == expected
    assert list(work.iterdir()) == []
