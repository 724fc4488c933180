"""What the tests' server of processes imports before it forks any off."""

import importlib
import json
from contextlib import suppress
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

from tests import quick
from tests.interpreter import Interpreter

quick.before_imports()
# Importing these takes seconds, and starts nothing that a fork would break.
NAMES = ["torch", "transformers", "pyarrow", "datasets", "nltk"]
NAMES += ["matplotlib.figure", "scipy.stats", "scipy.optimize"]
# thinc asks CuPy for the GPUs as soon as it is imported, and no process that is forked
# off after that could use one.
if find_spec("cupy") is None:
    NAMES += ["spacy", "spacy.cli", "spacy_transformers", "spacy_spanft.experiments"]

for name in NAMES:
    with suppress(ImportError):
        importlib.import_module(name)
with suppress(ImportError):
    from transformers import MODEL_MAPPING

    # Three hundred modules, imported as soon as a process makes its first encoder.
    MODEL_MAPPING.keys()
quick.after_imports()


def train_in_process(arguments, stopped=None):
    program = "import json, sys\nfrom spacy_spanft.experiments.running import train_run"
    program += "\ntrain_run(**json.loads(sys.argv[1]))"
    log = Path(arguments["folder"]) / "log.txt"
    log.touch()
    begun = Interpreter("-c", program, json.dumps(arguments), stdout=str(log))
    _, errors = begun.communicate()
    with open(log, "a", encoding="utf8") as file:
        file.write(errors)
    return begun.returncode


if find_spec("cupy") is None:
    from spacy_spanft.experiments import measuring, running

    train_anew = running.train_in_process
    running.train_in_process = train_in_process
    # Measured in processes of this server, too.
    measuring.get_context = lambda method: get_context("forkserver")
