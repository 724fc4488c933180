"""Fits arms to a task: what can only be known from its data, or on this machine."""

from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import DocBin

from spacy_spanft import NgramDictionary, default_dictionary
from spacy_spanft.experiments.matrix import ArmConfig
from spacy_spanft.segmenters.coverage import piece_lengths

RANDOM = "spacy-spanft.RandomSegmenter.v1"
NLTK = "spacy-spanft.NltkChunkSegmenter.v1"
# What NLTK calls the data of its phrases.
NLTK_DATA = ("taggers/averaged_perceptron_tagger_eng", "corpora/conll2000")
# In a folder of data for NLTK: what must be said of those who learn from it.
NOTE = "note.txt"


def fit_arms(
    arms: list[ArmConfig],
    data: Path,
    dictionary: Path | None = None,
    nltk_data: Path | None = None,
) -> list[ArmConfig]:
    """Fit arms to the data of a task.

    The random segmenter gets spans as long as those of the n-grams, so that the two
    differ in where they cut alone. NLTK's chunker, where NLTK has no data on this
    machine, gets a folder of data in the same format; if that has a note, so has the
    arm. {data} in the name of a dictionary is the folder of the task.

    arms (list[ArmConfig]): The arms.
    data (Path): The folder of the task.
    dictionary (Optional[Path]): The dictionary of the arms; None is the default one.
    nltk_data (Optional[Path]): The folder of data for NLTK.
    RETURNS (list[ArmConfig]): The arms as they are for this task.
    """
    found = []
    for arm in arms:
        kind = (arm.segmenter or {}).get("@segmenters")
        if kind == RANDOM:
            arm = _with(arm, lengths=_measure(data / "train.spacy", dictionary))
        elif kind == NLTK and nltk_data is not None and not has_nltk_data():
            arm = _with(arm, data_dir=nltk_data.resolve().as_posix())
            note = nltk_data / NOTE
            if note.exists():
                arm = arm._replace(note=note.read_text("utf8").strip())
        found.append(arm._replace(dictionary=_in_folder(arm.dictionary, data)))
    return found


def _with(arm: ArmConfig, **settings: Any) -> ArmConfig:
    return arm._replace(segmenter={**(arm.segmenter or {}), **settings})


def _in_folder(dictionary: Any, data: Path) -> Any:
    if isinstance(dictionary, str):
        return dictionary.replace("{data}", data.as_posix())
    if isinstance(dictionary, dict) and "path" in dictionary:
        return {**dictionary, "path": _in_folder(dictionary["path"], data)}
    return dictionary


def _measure(train: Path, dictionary: Path | None) -> list[float]:
    """Measure how long the pieces are into which the n-grams cut the texts."""
    ngrams = (
        NgramDictionary.from_disk(dictionary) if dictionary else default_dictionary()
    )
    docs = list(DocBin().from_disk(train).get_docs(spacy.blank("xx").vocab))
    return [round(share, 4) for share in piece_lengths(docs, ngrams)]


def has_nltk_data(*more: Path) -> bool:
    """Say whether NLTK finds what its phrases need.

    *more (Path): Folders to look into, beside NLTK's own.
    RETURNS (bool): Whether all of it is there.
    """
    import nltk

    paths = [*nltk.data.path, *map(str, more)]
    try:
        for resource in NLTK_DATA:
            nltk.data.find(resource, paths)
    except LookupError:
        return False
    return True
