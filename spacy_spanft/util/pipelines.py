"""Pipelines by their names or paths, and batches of their Docs."""

import os
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
        return load_model(path)


def check_pipeline(path: str) -> None:
    """Raise for what is neither the folder of a pipeline nor an installed package."""
    name, folder = str(path), Path(path)
    # Python 3.10 finds a package without a name.
    if name and (is_package(name) or name.startswith("blank:")):
        return
    if not os.path.exists(name):
        reason = "there is no such folder, and no such package is installed."
    elif not folder.is_dir():
        reason = "it is a file. A pipeline is a folder, such as training/model-best."
    elif missing := {"meta.json", "config.cfg"} - {*os.listdir(folder)}:
        best = folder / "model-best"
        hint = f" Is '{best}' meant?" if best.is_dir() else ""
        reason = (
            f"the folder has no {' and no '.join(sorted(missing, reverse=True))}.{hint}"
        )
    else:
        return
    raise SpanftError(f"The pipeline {shown(name)} cannot be loaded: {reason}")


def blank(lang: str, config: dict[str, Any] | None = None) -> Language:
    """Make an empty pipeline of a language, or raise for one that spaCy cannot."""
    try:
        return spacy.blank(lang, config=config or {})
    except ImportError as error:
        reason = str(error).partition("\n")[0]
        if "[E048]" in reason:
            reason = "it is not the code of a language that spaCy knows, such as 'en'."
        raise SpanftError(
            f"There is no tokenizer of the language {shown(lang)}: {reason}"
        ) from error


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
