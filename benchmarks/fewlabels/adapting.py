"""Encoders whose pre-training went on with a task's own texts, without their labels."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from filelock import FileLock

from spacy_spanft.pretraining import Settings, pretrain

# What is masked in each arm: spans of random lengths, or n-grams of the dictionary.
MASKINGS = {"own-spans": "spans", "own-ngrams": "ngrams"}
# As many texts as a core reads a few times in five minutes.
MOST_TEXTS = 5000
EPOCHS = 3


def adapted(encoder: Path, arm: str, texts: Sequence[str]) -> Path:
    """Give the encoder that an arm begins with; it is made once.

    encoder (Path): The folder of the encoder.
    arm (str): The arm.
    texts (Sequence[str]): The texts that a task has, with labels or without.
    RETURNS (Path): Its folder: the same for arms that adapt nothing.
    """
    if arm not in MASKINGS:
        return encoder
    own = [" ".join(text.split()) for text in texts[:MOST_TEXTS]]
    settings = settings_of(arm)
    what = json.dumps([str(encoder.resolve()), settings.to_json(), own])
    name = hashlib.sha256(what.encode()).hexdigest()[:32]
    folder = Path(tempfile.gettempdir()) / "spanft-encoders"
    folder.mkdir(exist_ok=True)
    made = folder / name
    with FileLock(f"{made}.lock"):
        if not made.exists():
            _make(encoder, own, settings, made)
    return made


def settings_of(arm: str) -> Settings:
    """Say how an arm's encoder is trained: each text is a sequence by itself."""
    settings: dict[str, Any] = {
        **{"masking": MASKINGS[arm], "pack": False, "epochs": EPOCHS},
        **{"batch_size": 32, "accumulate": 1, "eval_share": 0.0},
        **{"save_every": 10**6, "log_every": 10**6},
    }
    return Settings(**settings)


def _make(encoder: Path, texts: Sequence[str], settings: Settings, made: Path) -> None:
    part = made.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    file = part / "texts.txt"
    # An empty line ends a text.
    file.write_text("\n\n".join(texts) + "\n", "utf8")
    with ExitStack() as stack:
        nowhere = stack.enter_context(open(os.devnull, "w"))
        stack.enter_context(redirect_stdout(nowhere))
        stack.enter_context(redirect_stderr(nowhere))
        pretrain(encoder, file, part / "encoder", settings)
    (part / "encoder").rename(made)
    shutil.rmtree(part)
