"""The configs of all pipelines, as files such as textcat_spanft.cfg."""

import atexit
import shutil
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from tempfile import mkdtemp

from spacy_spanft.configs import TASKS, task_config

CONFIGS = Path(mkdtemp(prefix="configs-"))
atexit.register(shutil.rmtree, CONFIGS, ignore_errors=True)
_TWO_PHASE = "head-first"
_ENCODER = "spacy-transformers" if find_spec("spacy_transformers") else "spanft"


def _write(name: str, task: str, **settings) -> None:
    encoder = "spanft" if task in ("pair", "score") else _ENCODER
    text = task_config(task, encoder=encoder, **settings).to_str(interpolate=False)
    (CONFIGS / f"{name}.cfg").write_text(text, encoding="utf8")


_ARMS = {
    "baseline": {"spans": False},
    "spanft": {"segmentation": "spans"},
    "windows": {"segmentation": "none"},
}
for _task, _arm in product(TASKS, _ARMS):
    _write(f"{_task}_{_arm}", _task, **_ARMS[_arm])
for _task in ("textcat", "ner"):
    _write(f"{_task}_one_phase", _task, segmentation="spans", regime="everything")
    _write(f"{_task}_two_phase", _task, segmentation="spans", regime=_TWO_PHASE)
