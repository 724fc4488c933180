"""A killed experiment leaves no process behind, and resumes as if nothing happened."""

import signal
import sys
import time
from pathlib import Path

import pytest

from ..processes import start

COMMAND = ["-m", "spacy", "spanft", "experiment", "arms.yml", "-d", "data/one"]
COMMAND += ["-o", "out", "--train-only"]
# How long it may take until nothing is left of a killed experiment.
SECONDS = 5

if sys.platform != "linux":
    pytest.skip("looks into /proc", allow_module_level=True)


def processes_with(mark):
    processes = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes()
            is_dead = ") Z" in (folder / "stat").read_text()
        except OSError:  # it is gone, or another user's
            continue
        if f"SPANFT_TEST={mark}\0".encode() in variables and not is_dead:
            processes.append((int(folder.name), (folder / "cmdline").read_text()[:200]))
    return processes


def check_gone(mark):
    end = time.monotonic() + SECONDS
    while processes := processes_with(mark):
        assert time.monotonic() < end, processes
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("number", "jobs", "moment"),
    [(signal.SIGKILL, 1, "Training pipeline"), (signal.SIGTERM, 2, "")],
)
def test_a_killed_experiment_leaves_no_process(place, number, jobs, moment):
    """Neither while it trains nor as soon as the processes have begun."""
    args = ("--seeds", "1", "--jobs", str(jobs), "--epochs", "5000")
    mark = str(place)  # which its processes inherit in their environment
    process = start(*COMMAND, *args, SPANFT_TEST=mark)

    def has_begun():
        logs = place.glob("out/*/*/*/log*")
        return any(moment in log.read_text() for log in logs) and processes_with(mark)

    while not has_begun():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(number)
    _, output = process.communicate()
    check_gone(mark)
    assert "Traceback" not in output
    if number != signal.SIGKILL:
        assert "Stopped" in output
        files = {path.name for path in (place / "out").rglob("*") if path.is_file()}
        assert files == {".lock"}
