"""What the tests' server of processes imports before it forks any off."""

import importlib
from contextlib import suppress
from importlib.util import find_spec

# Importing these takes seconds, and starts nothing that a fork would break.
NAMES = ["torch", "transformers", "pyarrow", "datasets", "nltk"]
NAMES += ["matplotlib.figure", "scipy.stats", "scipy.optimize"]
# thinc asks CuPy for the GPUs as soon as it is imported, and no process that is forked
# off after that could use one.
if find_spec("cupy") is None:
    NAMES += ["spacy", "spacy.cli", "spacy_transformers", "spacy_spanft.experiments"]
    NAMES += ["spacy_spanft.experiments.matrix"]

for name in NAMES:
    with suppress(ImportError):
        importlib.import_module(name)
with suppress(ImportError):
    from transformers import MODEL_MAPPING

    # Three hundred modules, imported as soon as a process makes its first encoder.
    MODEL_MAPPING.keys()
