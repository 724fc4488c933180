"""Pipelines by their names or paths, and batches of their Docs."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import is_package, load_model

from ..errors import SpanftError, reported, shown
from .gpu import select_gpu


def load(path: str, gpu_id: int) -> Language:
    """Load a pipeline, by name or path, on a GPU or (-1) on the CPU."""
    select_gpu(gpu_id)
    check_pipeline(path)
    message = f"The pipeline {path!r} cannot be loaded (are all its files whole?)"
    with reported(message, OSError, ImportError, ValueError):
        # Of a name alone, spaCy would take an installed package.
        return load_model(Path(path) if Path(path).is_dir() else path)


def check_pipeline(path: str) -> None:
    """Raise for what is neither the folder of a pipeline nor an installed package."""
    name, folder = str(path), Path(path)
    is_folder = all((folder / file).is_file() for file in ("meta.json", "config.cfg"))
    # Python 3.10 finds a package without a name.
    if is_folder or name.startswith("blank:") or (name and is_package(name)):
        return
    best = folder / "model-best"
    hint = f" Is '{best}' meant?" if best.is_dir() else ""
    raise SpanftError(
        f"The pipeline {shown(name)} cannot be loaded: there is no such folder with "
        f"meta.json and config.cfg, and no such package is installed.{hint}"
    )


def blank(lang: str, config: dict[str, Any] | None = None) -> Language:
    """Make an empty pipeline of a language, or raise for one that spaCy cannot."""
    message = f"There is no tokenizer of the language {shown(lang)}"
    with reported(message, ImportError):
        return spacy.blank(lang, config=config or {})


def batches_of(
    stream: Iterable[Doc], n_tokens: int, n_docs: int | None = None
) -> Iterator[list[Doc]]:
    """Cut a stream into batches that end with so many tokens, or so many Docs."""
    docs: list[Doc] = []
    length = 0
    for doc in stream:
        docs.append(doc)
        length += len(doc)
        if len(docs) == n_docs or length >= n_tokens:
            yield docs
            docs, length = [], 0
    if docs:
        yield docs
