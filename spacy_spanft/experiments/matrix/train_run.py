"""One training, in a process of its own."""

import json
import os
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from ...util.files import write_whole
from ...util.processes import take_over
from .result import MODEL, RESULT, SCORES, sizes_in

LOG = "log.txt"


def train_run(
    folder: Path,
    facts: dict[str, Any],
    n_words: int,
    gpu_id: int,
    n_threads: int,
    environment: dict[str, str],
) -> None:
    """Train FOLDER/config.cfg to FOLDER/model, and write what it took to run.json.

    Whatever is printed goes to FOLDER/log.txt, the traceback of an error too.

    folder (Path): The folder of the run.
    facts (dict[str, Any]): What else to write to run.json.
    n_words (int): How many words it is trained on.
    gpu_id (int): The GPU; -1 for the CPU.
    n_threads (int): How many threads PyTorch has.
    environment (dict[str, str]): The environment of the process that asks for it.
    """
    # Ctrl-C is heard by all processes of a terminal; the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    take_over(environment)
    with open(folder / LOG, "w", encoding="utf8", buffering=1) as log:
        sys.stdout = sys.stderr = log
        try:
            found = _train(folder, n_words, gpu_id, n_threads)
        except BaseException as error:
            # spaCy says what is wrong before it exits.
            if not isinstance(error, KeyboardInterrupt | SystemExit):
                traceback.print_exc()
            log.flush()
            os._exit(1)
        # The last file: a run that has it is whole.
        text = json.dumps({**facts, **found}, indent=2) + "\n"
        write_whole(folder / RESULT, text.encode())


def _train(folder: Path, n_words: int, gpu_id: int, n_threads: int) -> dict[str, Any]:
    import torch
    from spacy.cli.train import train

    from ..cost import peak_memory

    torch.set_num_threads(n_threads)
    begin = time.perf_counter()
    # The folder gets its name, which stands in the config, when all is done.
    log = {"training.logger.output_file": str(folder / SCORES)}
    train(folder / "config.cfg", folder, use_gpu=gpu_id, overrides=log)
    seconds = time.perf_counter() - begin
    shutil.rmtree(folder / "model-last", ignore_errors=True)
    os.replace(folder / "model-best", folder / MODEL)
    return {
        "seconds": seconds,
        "words_per_second": n_words / max(seconds, 1e-9),
        "peak_memory": peak_memory(gpu_id),
        # What was there when it was done: see `state_of`.
        "files": sizes_in(folder / MODEL),
    }
