"""Where the data of a task is, and how it is read: on the hub, or in files."""

import os
from pathlib import Path
from typing import Any

from tasks import WHOLE, Layout, Task

from spacy_spanft.errors import SpanftError, shown

# How many rows must be read so that a tenth of them is as many as are to be kept.
ROWS_A_KEPT_ONE = 11
# Where `spancat` finds its spans.
SPANS_KEY = "sc"

Source = dict[str, Any]
# Parts, and what makes Examples of them for a pipeline.
Corpora = dict[str, Any]


def from_hub(task: Task, limit: int) -> tuple[Source, Corpora]:
    """Return where a task's dataset is, and how each part of it is read."""
    from spacy_spanft.training.readers.classification import dataset_corpus
    from spacy_spanft.training.readers.entities import ner_dataset_corpus

    name, config = task.hub
    layout = task.layouts[0]
    corpora: Corpora = {}
    for part, split in task.splits.items():
        n = rows_to_read(task, part, limit)
        if task.kind == "ner":
            corpora[part] = ner_dataset_corpus(
                name, config, split, layout.text, layout.label, SPANS_KEY, n
            )
        else:
            settings = settings_of(task, layout)
            corpora[part] = dataset_corpus(name, config, split, **settings, limit=n)
    return {"dataset": name, "config": config, "splits": task.splits}, corpora


def from_files(
    name: str, task: Task, folder: Path, limit: int
) -> tuple[Source, Corpora]:
    """Return where a task's files are, and how each of them is read."""
    from spacy_spanft.training.readers.classification import table_corpus
    from spacy_spanft.training.readers.entities import conll_corpus

    paths = find_files(name, task, folder)
    corpora: Corpora = {}
    for part, path in paths.items():
        n = rows_to_read(task, part, limit)
        if task.kind == "ner":
            corpora[part] = conll_corpus(path, spans_key=SPANS_KEY, limit=n)
        else:
            layout = layout_of(name, task, path)
            settings = settings_of(task, layout)
            corpora[part] = table_corpus(
                path, **settings, header=layout.header, limit=n
            )
    return {"files": {part: str(path) for part, path in paths.items()}}, corpora


def no_dataset(name: str, task: Task, error: SpanftError) -> str:
    """Return what to do where there is no network."""
    return (
        f"{str(error).removesuffix('.')}. Where the data of {name} cannot be "
        "downloaded, name a folder that has it: --data-dir FOLDER, with "
        f"{names_of_files(task)} in it or in FOLDER/{task.folders[0]}."
    )


def rows_to_read(task: Task, part: str, limit: int) -> int:
    """Return how many rows of a part are needed; more of one that will be divided."""
    is_divided = part == WHOLE or (part == "train" and "dev" not in task.splits)
    return limit * ROWS_A_KEPT_ONE if is_divided else limit


def settings_of(task: Task, layout: Layout) -> dict[str, Any]:
    """Return the settings of a corpus of texts."""
    settings: dict[str, Any] = {"text": layout.text, "text_pair": layout.text_pair}
    settings["incomplete"] = "skip" if task.has_gaps else "error"
    if task.kind == "score":
        return {**settings, "score": layout.label}
    # Some have numbers, and some the names themselves.
    labels = {str(i): label for i, label in enumerate(task.labels)}
    labels.update({label: label for label in task.labels})
    return {**settings, "label": layout.label, "labels": labels}


def find_files(name: str, task: Task, folder: Path) -> dict[str, Path]:
    """Find the files of a task, in its own folder or beside those of others."""
    if not folder.is_dir():
        raise SpanftError(
            f"There is no folder {shown(str(folder))} (seen from {os.getcwd()})."
        )
    folders = [*(folder / own for own in task.folders), folder]
    for place in folders:
        for files in task.files:
            paths = {part: place / file for part, file in files.items()}
            if all(path.is_file() for path in paths.values()):
                return paths
    raise SpanftError(
        f"The data of {name} is not in {shown(str(folder))}. Looked for "
        f"{names_of_files(task)}, in "
        f"{' and '.join(repr(str(place)) for place in folders)}."
    )


def names_of_files(task: Task) -> str:
    """Name the files of a task, for messages."""
    return ", or ".join(", ".join(files.values()) for files in task.files)


def layout_of(name: str, task: Task, path: Path) -> Layout:
    """Find out in which columns a file has what."""
    from spacy_spanft.util.tables import columns_of

    there = columns_of(path)
    for layout in task.layouts:
        if layout.header is None:
            fits = set(filter(None, layout[:3])) <= set(there)
        else:
            fits = len(layout.header) == len(there)
        if fits:
            return layout
    known = [filter(None, layout[:3]) for layout in task.layouts if not layout.header]
    raise SpanftError(
        f"{shown(str(path))} has the columns {', '.join(map(repr, there)) or 'none'}, "
        f"but for {name} must have "
        f"{', or '.join(', '.join(map(repr, names)) for names in known)}."
    )
