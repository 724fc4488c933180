"""Builds that are killed at random moments. Slow: run it with --slow."""

import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress

import pytest

from spacy_spanft import NgramDictionary

from ..interpreter import Interpreter

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
    lines = (
        " ".join(f"w{rng.randrange(100_000)}" for _ in range(8)) for _ in range(4_000)
    )
    path.write_text("".join(f"of the {line} in the end\n" for line in lines))
    return path


@pytest.mark.parametrize("memory", [[], ["--memory", "1GB", "--work", "work"]])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_killed_builds(text, tmp_path, number, memory):
    folder, work = tmp_path / "output", tmp_path / "work"
    folder.mkdir()
    output = folder / "a.tsv.gz"
    command = ("-m", "spacy", "spanft", "dictionary", "build", text, "-o", output)
    how = ("--quiet", "--min-count", 2, "--n-process", 2, *memory)

    def build(killed_after=None):
        """Return the exit code of a build, and what it and its workers printed."""
        process = Interpreter(*command, *how, cwd=tmp_path)
        if killed_after is not None:
            time.sleep(killed_after)
            with suppress(ProcessLookupError):  # it has ended
                process.send_signal(number)
        _, errors = process.communicate()
        return process.returncode, errors

    assert build() == (0, "")  # the first waits for the server
    begin = time.monotonic()
    assert build() == (0, "")
    takes = time.monotonic() - begin
    new, old = output.read_bytes(), NgramDictionary({"a b": 1}).to_bytes()
    rng, codes = random.Random(number), Counter()
    for _ in range(N_MOMENTS):
        output.write_bytes(old)
        code, errors = build(killed_after=rng.uniform(0.2, 0.9) * takes)
        codes[code] += 1
        assert output.read_bytes() in (old, new)
        if number != signal.SIGKILL:
            assert os.listdir(folder) == [output.name]
        if code == 128 + number:
            assert errors.endswith("✘ Stopped.\n")
        assert code in (0, 128 + number, -number)
    killed = codes[-number] + codes[128 + number]
    assert killed > N_MOMENTS // 3
    assert build() == (0, "")
    assert output.read_bytes() == new
    assert os.listdir(folder) == [output.name]
    assert not work.exists() or os.listdir(work) == []
