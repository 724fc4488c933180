"""A matrix that is killed leaves no process behind, and goes on as if it were not."""

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from spacy_spanft.experiments.matrix import run_matrix

from .matrix_place import plan

COMMAND = [sys.executable, "-m", "spacy", "spanft", "matrix", "arms.yml"]
COMMAND += ["-c", "configs/tiny", "-d", "data/one", "-o", "out"]
COMMAND += ["--jobs", "2", "--seeds", "2", "--epochs", "2"]
# How long it takes until nothing is left of a matrix that was killed.
SECONDS = 2
SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT] if os.name != "nt" else []

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="It looks into /proc")


def begin(mark):
    """Start a matrix, with a mark in the environment that its processes inherit."""
    with open("said.txt", "w") as said:
        return subprocess.Popen(
            COMMAND,
            stdout=said,
            stderr=said,
            env={**os.environ, "SPANFT_TEST": mark},
            # Shells let what they start in the background ignore it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )


def left_of(mark):
    """Find the processes with a mark that are alive."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_marked = (
                f"SPANFT_TEST={mark}\0".encode() in (folder / "environ").read_bytes()
            )
            is_dead = ") Z" in (folder / "stat").read_text()
        except OSError:  # it is gone, or another user's
            continue
        if is_marked and not is_dead:
            found.append((int(folder.name), (folder / "cmdline").read_text()[:200]))
    return found


def check_gone(mark):
    """Raise if processes are left after a while; say how long it took."""
    begun = time.monotonic()
    while left := left_of(mark):
        assert time.monotonic() - begun < SECONDS, left
        time.sleep(0.02)
    return time.monotonic() - begun


def weights_in(folder):
    """Read the weights of runs that are done; others are in a folder N.going."""
    files = folder.glob("one/*/[0-9]/model/**/*")
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in files
        if path.name == "model" and path.is_file()
    }


def test_a_killed_matrix_leaves_nothing_behind(place):
    """Killed while it trains, it is begun again at once."""
    process = begin(mark := str(place))
    with process:
        while not [*place.glob("out/one/*/*.going-*/log.txt")]:
            assert process.poll() is None, Path("said.txt").read_text()
            time.sleep(0.02)
        assert len(left_of(mark)) > 1
        process.kill()
        process.wait()
    with ThreadPoolExecutor() as pool:
        is_gone = pool.submit(check_gone, mark)
        # At once: it does not wait for those that are left.
        runs = plan("data/one", seeds=[0], epochs=1)[:1]
        assert run_matrix(runs) == []
        is_gone.result()
    assert runs[0].state == "done"
    assert not [*place.glob("out/one/*/*.going*")]


SERVER = """
import time
from multiprocessing import forkserver
from spacy_spanft.util.processes import fresh_context

fresh_context()
forkserver.ensure_running()
print("begun", flush=True)
time.sleep(600)
"""


def test_a_server_that_imports_ends_with_its_parent(tmp_path):
    mark = str(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "SPANFT_TEST": mark},
    ) as process:
        assert process.stdout.readline() == b"begun\n"
        while not any("forkserver" in line for _, line in left_of(mark)):
            time.sleep(0.01)
        time.sleep(0.3)  # it has begun to import, and is seconds from the end of that
        process.kill()
    check_gone(mark)


@pytest.mark.slow
@pytest.mark.parametrize("number", SIGNALS)
def test_killed_at_any_moment(place, number):
    """Twenty times, then whole: the weights are those of one that was not."""
    n_kills = int(os.environ.get("SPANFT_KILLS", "20"))
    begun = time.monotonic()
    with begin("whole") as process:
        assert process.wait() == 0, Path("said.txt").read_text()
    usual = time.monotonic() - begun
    expected = weights_in(place / "out")
    assert len(expected) == 6
    (place / "out").rename(place / "expected")
    chance = random.Random(int(number))
    longest, n_killed = 0.0, 0
    for i in range(n_kills):
        with begin(mark := f"{place}-{i}") as process:
            try:
                process.wait(chance.uniform(0, usual))
            except subprocess.TimeoutExpired:
                process.send_signal(number)
                n_killed += 1
            process.wait()
            longest = max(longest, check_gone(mark))
        assert "OSError" not in Path("said.txt").read_text()
        if len(weights_in(place / "out")) == len(expected):
            (place / "out").rename(place / f"out{i}")
            assert weights_in(place / f"out{i}") == expected
    with begin("again") as process:
        assert process.wait() == 0, Path("said.txt").read_text()
    assert weights_in(place / "out") == expected
    assert not [*place.glob("out/one/*/*.going*")]
    print(f"{n_killed} killed by {number!r}, gone after {longest:.2f} s at most")
