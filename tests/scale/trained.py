"""Pipelines on disk, untrained, and the wheels of packages."""

import spacy

from .. import interpreter


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
    done = interpreter.run("setup.py", "--quiet", "bdist_wheel", cwd=package)
    assert done.returncode == 0, done.stderr
    (wheel,) = (package / "dist").iterdir()
    return wheel
