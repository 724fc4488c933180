"""What an arm leaves open until its data, and this machine, are known."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc

from ...training.readers.textcat import table_corpus
from ..hook import NLTK_SEGMENTER, RANDOM_SEGMENTER, has_phrase_data, lengths_of_ngrams
from .arms import ArmConfig
from .data import Data, docs_of

# In a folder of data for NLTK: what must be said of those who learn from it.
NOTE = "note.txt"


def resolve_arms(
    arms: list[ArmConfig],
    data: Data,
    dictionary: str | Path | None = None,
    nltk_data: Path | None = None,
) -> list[ArmConfig]:
    """Fill in what arms leave open.

    A random segmenter without lengths gets spans as long as those of the n-grams, so
    that the two differ in where they cut alone. NLTK's chunker, where NLTK has no data
    on this machine, gets a folder of data in the same format; if that has a note, the
    arm has it too. {data} in the name of a dictionary is the folder of the task.

    arms (list[ArmConfig]): The arms.
    data (Data): The data of a task.
    dictionary (Optional[Union[str, Path]]): That of the arms; None is the default one.
    nltk_data (Optional[Path]): The folder of data for NLTK.
    RETURNS (list[ArmConfig]): The arms as they are for this task.
    """
    found = []
    lengths: list[float] = []
    for arm in arms:
        segmenter = arm.segmenter or {}
        kind = segmenter.get("@segmenters")
        if kind == RANDOM_SEGMENTER and "lengths" not in segmenter:
            lengths = lengths or lengths_of_ngrams(list(_docs(data)), dictionary)
            arm = _with(arm, lengths=lengths)
        elif kind == NLTK_SEGMENTER and nltk_data is not None and not has_phrase_data():
            arm = _with(arm, data_dir=nltk_data.resolve().as_posix())
            if (note := nltk_data / NOTE).exists():
                arm = arm._replace(note=note.read_text("utf8").strip())
        found.append(arm._replace(dictionary=_in_folder(arm.dictionary, data.folder)))
    return found


def _with(arm: ArmConfig, **settings: Any) -> ArmConfig:
    return arm._replace(segmenter={**(arm.segmenter or {}), **settings})


def _in_folder(dictionary: Any, folder: Path) -> Any:
    if isinstance(dictionary, str):
        return dictionary.replace("{data}", folder.as_posix())
    if isinstance(dictionary, dict) and "path" in dictionary:
        return {**dictionary, "path": _in_folder(dictionary["path"], folder)}
    return dictionary


def _docs(data: Data) -> Iterator[Doc]:
    """Read the training texts, the two of a pair one after the other."""
    file = data.files["train"]
    if file.suffix == ".spacy":
        yield from docs_of(file)
        return
    nlp = spacy.blank("xx")
    columns = {"label": None, **data.columns, "score": None, "labels": None}
    pair = columns.pop("text_pair", None)
    for text in filter(None, (columns.pop("text", "text"), pair)):
        corpus = table_corpus(file, **{**columns, "text": text, "label": None})
        yield from (example.reference for example in corpus(nlp))
