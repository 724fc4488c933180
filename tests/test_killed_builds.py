"""Builds that are killed at random moments. Slow: run it with --slow."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from spacy_spanft import NgramDictionary

N_MOMENTS = 20

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals"),
]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """Enough different chunks that several processes tokenise them."""
    rng = random.Random(0)
    path = tmp_path_factory.mktemp("text") / "corpus.txt"
    with path.open("w", encoding="utf8") as file:
        for _ in range(60_000):
            words = (f"w{rng.randrange(100_000)}" for _ in range(8))
            file.write(f"of the {' '.join(words)} in the end\n")
    return path


def start(text, output):
    command = [sys.executable, "-m", "spacy", "spanft", "dictionary", "build"]
    options = ["-o", str(output), "--n-process", "2", "--quiet"]
    return subprocess.Popen(
        [*command, str(text), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Where the tests run in the background, the shell has them ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_killed_builds(text, tmp_path, number):
    output = tmp_path / "a.tsv.gz"
    begin = time.monotonic()
    with start(text, output) as process:
        process.communicate()
    takes = time.monotonic() - begin
    new = output.read_bytes()
    old = NgramDictionary({"a b": 1}).to_bytes()
    rng = random.Random(number)
    slowest = 0.0
    for _ in range(N_MOMENTS):
        output.write_bytes(old)
        with start(text, output) as process:
            time.sleep(rng.uniform(0.0, takes))
            process.send_signal(number)
            begin = time.monotonic()
            # Its workers have the same output, which ends with the last of them.
            _, errors = process.communicate(timeout=60)
        slowest = max(slowest, time.monotonic() - begin)
        assert output.read_bytes() in (old, new)
        litter = [name for name in os.listdir(tmp_path) if name != output.name]
        if number != signal.SIGKILL:
            assert not litter
        if process.returncode in (130, 143):
            assert errors.decode() == "✘ Stopped. No file is half written.\n"
        # Else before our code runs, or after it.
        assert process.returncode in (0, 1, 130, 143, -number)
    print(
        f"{signal.Signals(number).name}: the last process ended after {slowest:.1f} s"
    )
    with start(text, output) as process:
        process.communicate()
    assert output.read_bytes() == new
    assert os.listdir(tmp_path) == [output.name]
