"""One training, in a process that ends with the one that started it."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from threading import Event
from typing import Any

from ...util.files import write_whole
from .run_folder import LOG, MODEL, RESULT, SCORES

# A process first watches its standard input, which closes when its parent ends, even
# if that is killed; only then it imports libraries, which takes seconds.
_PROGRAM = f"""
import json, os, signal, sys, threading
threading.Thread(target=lambda: os.read(0, 1) or os._exit(1), daemon=True).start()
signal.signal(signal.SIGINT, signal.SIG_IGN)  # of Ctrl-C: the parent ends it
from {__name__} import train_run
train_run(**json.loads(sys.argv[1]))
"""


def train_in_process(arguments: dict[str, Any], stopped: Event | None = None) -> int:
    """Train in a process of its own; what it prints goes to FOLDER/log.txt.

    arguments (dict[str, Any]): The arguments of `train_run`.
    stopped (Optional[Event]): Ends the process when it is set.
    RETURNS (int): The exit code, negative for a signal.
    """
    command = [sys.executable, "-u", "-X", "utf8", "-c", _PROGRAM]
    with (
        open(Path(arguments["folder"]) / LOG, "ab") as log,
        subprocess.Popen(
            [*command, json.dumps(arguments)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        while stopped is not None and process.poll() is None:
            if stopped.wait(0.1):
                process.kill()
                break
        return process.wait()


def train_run(
    folder: str,
    facts: dict[str, Any],
    n_words: int,
    gpu_id: int,
    n_threads: int,
    working_dir: str,
) -> None:
    """Train FOLDER/config.cfg to FOLDER/model, then write FOLDER/run.json.

    folder (str): The folder of the run.
    facts (dict[str, Any]): Facts for run.json.
    n_words (int): The number of words that it is trained on.
    gpu_id (int): The GPU; -1 for the CPU.
    n_threads (int): The number of PyTorch's threads.
    working_dir (str): Where relative paths in the config begin.
    """
    os.chdir(working_dir)
    import torch
    from spacy.cli.train import train

    from ..cost import peak_memory

    torch.set_num_threads(n_threads)
    path, start = Path(folder), time.perf_counter()
    # The config has the folder's final name.
    overrides = {"training.logger.output_file": str(path / SCORES)}
    train(path / "config.cfg", path, use_gpu=gpu_id, overrides=overrides)
    seconds = time.perf_counter() - start
    shutil.rmtree(path / "model-last", ignore_errors=True)
    os.replace(path / "model-best", path / MODEL)
    facts |= {
        "seconds": seconds,
        "words_per_second": n_words / max(seconds, 1e-9),
        "peak_memory": peak_memory(gpu_id),
    }
    write_whole(path / RESULT, (json.dumps(facts, indent=2) + "\n").encode())
