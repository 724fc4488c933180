"""The configs of all pipelines, as files such as textcat_spanft.cfg."""

import atexit
import shutil
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp

from spacy_spanft.configs import TASKS, task_config

CONFIGS = Path(mkdtemp(prefix="configs-"))
atexit.register(shutil.rmtree, CONFIGS, ignore_errors=True)
_ENCODER = "spacy-transformers" if find_spec("spacy_transformers") else "spanft"
_ARMS = {
    "baseline": {"spans": False},
    "spanft": {"segmentation": "spans"},
    "windows": {"segmentation": "none"},
    "one_phase": {"segmentation": "spans", "regime": "everything"},
    "two_phase": {"segmentation": "spans", "regime": "head-first"},
}

for _task in TASKS:
    for _arm, _settings in _ARMS.items():
        if "regime" in _settings and _task not in ("textcat", "ner"):
            continue
        _encoder = "spanft" if _task in ("pair", "score") else _ENCODER
        _config = task_config(_task, encoder=_encoder, **_settings)
        _text = _config.to_str(interpolate=False)
        (CONFIGS / f"{_task}_{_arm}.cfg").write_text(_text, encoding="utf8")
