"""Workers end when the process that started them does, however that ends."""

import os
import subprocess
import sys
from multiprocessing import get_all_start_methods
from pathlib import Path

import pytest

import spacy_spanft

from .. import interpreter

# It is run on its own, so that it begins in a moment.
POOL = """
import os, sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from processes import end_with_parent

if __name__ == "__main__":
    method = get_context(sys.argv[1])
    pool = ProcessPoolExecutor(3, mp_context=method, initializer=end_with_parent)
    jobs = [pool.submit(time.sleep, 0.01) for _ in range(9)]
    for job in jobs:
        job.result()
    pool.submit(time.sleep, 600)
    print("ready", flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
@pytest.mark.parametrize("method", get_all_start_methods())
def test_workers_end_with_a_killed_parent(method):
    folder = str(Path(spacy_spanft.__file__).parent / "util")
    with subprocess.Popen(
        [sys.executable, "-c", POOL, method],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": folder},
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        process.kill()
        # They have the same output: it ends when the last of them does.
        process.communicate(timeout=20)


# Without a guard, as a notebook or a short script has it.
SCRIPT = """
import os
from spacy_spanft.util.processes import fresh_pool

print("begun")
with fresh_pool() as pool:
    print(pool.submit(os.getppid).result() != os.getpid(), __file__, __spec__)
"""


def test_a_script_is_not_run_again_by_its_processes(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = interpreter.run(tmp_path / "script.py")
    assert done.stdout.split() == ["begun", "True", f"{tmp_path}/script.py", "None"]
    assert done.returncode == 0
