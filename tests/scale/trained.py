"""Pipelines on disk, untrained, and the wheels of packages."""

import subprocess
import sys

import spacy


def save(folder, *components, config=None, **meta):
    """Save an untrained pipeline: names of factories, and their settings."""
    nlp = spacy.blank("en", config=config or {}, meta=meta)
    for name, settings in components:
        pipe = nlp.add_pipe(name, config=settings)
        if name not in ("span_segmenter", "spanft_encoder", "transformer"):
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
