"""What an arm leaves open until its data, and this machine, are known."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc

from ...training.readers.classification import table_corpus
from ..hook import NLTK_SEGMENTER, RANDOM_SEGMENTER, has_phrase_data, lengths_of_ngrams
from .arms import ArmConfig
from .data import Data, docs_of

_COLUMNS = ("text", "text_pair")
# In a folder of data for NLTK: what must be said of those who learn from it.
NOTE = "note.txt"


class Resolver:
    """Fills in what arms leave open."""

    def __init__(self, dictionary: str | Path | None, nltk_data: Path | None) -> None:
        """Remember what all arms share.

        dictionary (Optional[Union[str, Path]]): The n-grams; None takes the default
            ones.
        nltk_data (Optional[Path]): The folder of data for NLTK.
        """
        self._dictionary = dictionary
        self._nltk_data = nltk_data
        self._lengths: dict[str, list[float]] = {}

    def __call__(self, arm: ArmConfig, data: Data, reader: dict[str, Any]) -> ArmConfig:
        """Fill in an arm.

        A random segmenter without lengths gets spans as long as those of the n-grams,
        so that the two differ in where they cut alone. NLTK's chunker, where NLTK has
        no data on this machine, gets a folder of data in the same format; if that has
        a note, the arm has it too. {data} in the name of a dictionary is the folder of
        the task.

        data (Data): The data of a task.
        reader (dict[str, Any]): The block that reads its training data.
        RETURNS (ArmConfig): The arm as it is for this task.
        """
        segmenter, nltk_data = arm.segmenter or {}, self._nltk_data
        kind = segmenter.get("@segmenters")
        if kind == RANDOM_SEGMENTER and "lengths" not in segmenter:
            arm = _with(arm, lengths=self._lengths_of(data.files["train"], reader))
        elif kind == NLTK_SEGMENTER and nltk_data and not has_phrase_data():
            arm = _with(arm, data_dir=nltk_data.resolve().as_posix())
            if (note := nltk_data / NOTE).exists():
                arm = arm._replace(note=note.read_text("utf8").strip())
        return arm._replace(dictionary=_in_folder(arm.dictionary, data.folder))

    def _lengths_of(self, file: Path, reader: dict[str, Any]) -> list[float]:
        """Measure spans once for all arms that read the same texts."""
        columns = [reader[key] for key in _COLUMNS if reader.get(key)]
        key = f"{file}: {columns}"
        if key not in self._lengths:
            docs = list(_docs(file, columns))
            self._lengths[key] = lengths_of_ngrams(docs, self._dictionary)
        return self._lengths[key]


def _with(arm: ArmConfig, **settings: Any) -> ArmConfig:
    return arm._replace(segmenter={**(arm.segmenter or {}), **settings})


def _in_folder(dictionary: Any, folder: Path) -> Any:
    if isinstance(dictionary, str):
        return dictionary.replace("{data}", folder.as_posix())
    if isinstance(dictionary, dict) and "path" in dictionary:
        return {**dictionary, "path": _in_folder(dictionary["path"], folder)}
    return dictionary


def _docs(file: Path, columns: list[str]) -> Iterator[Doc]:
    """Read texts, the two of a pair one after the other."""
    if file.suffix == ".spacy":
        yield from docs_of(file)
        return
    nlp = spacy.blank("xx")
    for text in columns:
        corpus = table_corpus(file, text=text, label=None)
        yield from (example.reference for example in corpus(nlp))
