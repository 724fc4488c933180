"""What the files of a pipeline say about its encoder, its spans and its data."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from spacy.util import walk_dict

from ..errors.visible import visible
from ..ngrams.dictionary import NgramDictionary
from ..ngrams.provenance import facts_of
from ..ngrams.readers import default_dictionary
from .saved import Saved

UNKNOWN = "not recorded"
_DEFAULT_LICENSE = (
    "MIT: the default dictionary of spacy-spanft, n-grams and counts only"
)
_DICTIONARY = "segmenter/dictionary.tsv.gz"
# On the hub: bert-base-uncased, nyu-mll/glue.
_HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")


class Segmentation(NamedTuple):
    """What segments the texts.

    component (str): The component.
    segmenter (str): The registered name of its segmenter.
    rows (list[tuple[str, str]]): Where its dictionary comes from, if it has one.
    """

    component: str
    segmenter: str
    rows: list[tuple[str, str]]


class Data(NamedTuple):
    """What a corpus reads.

    name (str): Its name, in words.
    dataset (Optional[str]): Its name on the hub, if it is from there.
    """

    name: str
    dataset: str | None


def encoders_of(saved: Saved) -> dict[str, str]:
    """Find the encoders that a pipeline was made of.

    RETURNS (dict[str, str]): Their names or folders, by component.
    """
    return {
        component: value
        for component, block in saved.components.items()
        for path, value in walk_dict(block)
        if path[-1] == "name" and isinstance(value, str) and _has_model(block, path)
    }


def _has_model(block: dict[str, Any], path: list[str]) -> bool:
    """Say whether a setting is one of an architecture."""
    for key in path[:-1]:
        block = block[key]
    return "@architectures" in block


def is_on_hub(name: str) -> bool:
    """Say whether a name may be one on the hub: it looks so, and is not a path."""
    return _HUB_NAME.fullmatch(name) is not None and not Path(name).exists()


def place(path: str) -> str:
    """Name a file without the folders that it is in on the machine of whoever trained.

    path (str): The path.
    RETURNS (str): The path; of one that is absolute, its last part.
    """
    return visible(Path(path).name if Path(path).is_absolute() else path)


def segmentations_of(saved: Saved) -> list[Segmentation]:
    """Find out how a pipeline segments texts.

    RETURNS (list[Segmentation]): One for each span_segmenter.
    """
    return [
        Segmentation(
            name,
            block["segmenter"]["@segmenters"],
            _dictionary_rows(saved.folder / name / _DICTIONARY),
        )
        for name, block in saved.components.items()
        if block.get("factory") == "span_segmenter"
    ]


def _dictionary_rows(path: Path) -> list[tuple[str, str]]:
    if not path.is_file():
        return []
    dictionary = NgramDictionary.from_disk(path)
    is_default = dictionary == default_dictionary()
    license = _DEFAULT_LICENSE if is_default else UNKNOWN
    return [*facts_of(dictionary), ("license", license)]


def data_of(saved: Saved, part: str) -> Data:
    """Find out what a pipeline was trained or evaluated on.

    part (str): "train" or "dev".
    RETURNS (Data): What its config says.
    """
    block: Any = saved.config
    for key in str(saved.config["training"].get(f"{part}_corpus")).split("."):
        block = block.get(key) if isinstance(block, Mapping) else None
    found = list(_data_in(block)) if isinstance(block, Mapping) else []
    return found[0] if found else Data(UNKNOWN, None)


def _data_in(block: Mapping[str, Any]) -> Iterator[Data]:
    """Look for a path or the name of a dataset in the block of a corpus."""
    inner = block.get("corpus")
    if isinstance(inner, Mapping):
        for data in _data_in(inner):
            share, which = block.get("share"), block.get("part")
            if which == "dev" and isinstance(share, float):
                data = data._replace(name=f"{share:.0%} of {data.name}, held out")
            elif isinstance(share, float):
                data = data._replace(name=f"{1 - share:.0%} of {data.name}")
            yield data
        return
    name = block.get("name", block.get("path"))
    if not isinstance(name, str):
        return
    dataset = name if "name" in block and is_on_hub(name) else None
    more = [f"{key} {block[key]}" for key in ("config", "split") if block.get(key)]
    yield Data(visible(", ".join([place(name), *more])), dataset)
