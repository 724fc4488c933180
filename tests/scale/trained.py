"""Pipelines of all kinds, trained for a moment as a user trains them."""

import subprocess
import sys

import spacy
from spacy.tokens import DocBin, Span

from spacy_spanft.configs import make_config

from ..commands import run

TEXTS = ("a very good film", "new york was bad")
PAIRED = "sentence1\tsentence2\tlabel\n" + "a good film\tit is bad\t0\na\ta\t1\n" * 8
OPTIONS = {
    "training.max_epochs": 0,
    "training.max_steps": 4,
    "training.optimizer.learn_rate.max_steps": 4,
    "training.eval_frequency": 2,
    "training.optimizer.learn_rate.initial_rate": 0.01,
}


def save(folder, *components, config=None, **meta):
    """Save an untrained pipeline: names of factories, and their settings."""
    nlp = spacy.blank("en", config=config or {}, meta=meta)
    for name, settings in components:
        pipe = nlp.add_pipe(name, config=settings)
        if name not in ("span_segmenter", "transformer"):
            pipe.add_label("A")
            pipe.add_label("B")
    nlp.initialize()
    nlp.to_disk(folder)
    return folder


def wheel_of(package):
    """Build a wheel, as `spacy package` does, but in this environment."""
    command = [sys.executable, "setup.py", "--quiet", "bdist_wheel"]
    done = subprocess.run(command, cwd=package, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = (package / "dist").iterdir()
    return wheel


def train(folder, task, transformer, **settings):
    data = folder / "data.spacy"
    if task in ("pair", "score"):
        data = folder / "data.tsv"
        data.write_text(PAIRED, encoding="utf8")
    else:
        docs = [spacy.blank("en")(text) for text in TEXTS * 8]
        for i, doc in enumerate(docs):
            doc.cats = {"A": float(i % 2 == 0), "B": float(i % 2)}
            doc.ents = [Span(doc, 0, 2, "GPE")] if i % 2 else []
            for token in doc:
                token.tag_ = "X" if token.i else "Y"
        DocBin(docs=docs).to_disk(data)
    settings |= {"transformer": str(transformer)}
    files = {"train": str(data), "dev": str(data)}
    config = folder / "config.cfg"
    config.write_text(make_config(task, files=files, **settings), encoding="utf8")
    overrides = [word for key, value in OPTIONS.items() for word in (f"--{key}", value)]
    run("train", config, "--output", folder / "training", *overrides, cwd=folder)
    return folder / "training" / "model-best"
