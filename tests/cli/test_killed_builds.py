"""Builds that are killed at random moments. Slow: run it with --slow."""

import os
import random
import signal
import sys
import time
from collections import Counter

import pytest

from spacy_spanft import NgramDictionary
from spacy_spanft.cli.dictionaries import build_cli
from spacy_spanft.cli.util import short_errors

N_MOMENTS = 20

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals"),
]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """Enough different chunks that several processes tokenize them."""
    rng = random.Random(0)
    path = tmp_path_factory.mktemp("text") / "corpus.txt"
    with path.open("w", encoding="utf8") as file:
        for _ in range(4_000):
            words = (f"w{rng.randrange(100_000)}" for _ in range(8))
            file.write(f"of the {' '.join(words)} in the end\n")
    return path


def start(text, output, **how):
    """Fork off a build, which begins in a moment; return its id and its output."""
    read, write = os.pipe()
    # Not before the child is where it exits whatever happens.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    child = os.fork()
    if child:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        os.close(write)
        return child, os.fdopen(read, "rb")
    os.dup2(write, 1)
    os.dup2(write, 2)
    os.close(write)
    code = 99
    try:
        sys.stdout, sys.stderr = (os.fdopen(n, "w", 1) for n in (1, 2))
        # pytest has its own for Ctrl-C.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        with short_errors():
            build_cli([str(text)], output=output, quiet=True, min_count=2, **how)
        code = 0
    except SystemExit as end:
        code = end.code
    except KeyboardInterrupt:  # before or after the command
        code = 100
    finally:
        os._exit(code)


def wait(child, printed):
    """Wait for a build and its workers: they have the same output."""
    errors = printed.read()
    printed.close()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), errors.decode()


@pytest.mark.parametrize("memory", [None, "1GB"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_killed_builds(text, tmp_path, number, memory):
    folder, work = tmp_path / "output", tmp_path / "work"
    folder.mkdir()
    output = folder / "a.tsv.gz"
    how = {"memory": memory, "work": work if memory else None, "n_process": 2}
    assert wait(*start(text, output, **how)) == (0, "")  # the first imports a lot
    begin = time.monotonic()
    assert wait(*start(text, output, **how)) == (0, "")
    takes = time.monotonic() - begin
    new = output.read_bytes()
    old = NgramDictionary({"a b": 1}).to_bytes()
    rng = random.Random(number)
    codes = Counter()
    for _ in range(N_MOMENTS):
        output.write_bytes(old)
        child, printed = start(text, output, **how)
        time.sleep(rng.uniform(0.0, takes))
        os.kill(child, number)
        code, errors = wait(child, printed)
        codes[code] += 1
        assert output.read_bytes() in (old, new)
        if number != signal.SIGKILL:
            assert os.listdir(folder) == [output.name]
        if code == 128 + number:
            assert errors == "✘ Stopped. No file is half written.\n"
        assert code in (0, 100, 128 + number, -number)
    stopped = codes[-number if number == signal.SIGKILL else 128 + number]
    assert stopped > N_MOMENTS // 3
    assert wait(*start(text, output, **how)) == (0, "")
    assert output.read_bytes() == new
    assert os.listdir(folder) == [output.name]
    assert not work.exists() or os.listdir(work) == []
