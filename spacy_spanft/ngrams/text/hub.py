"""Texts from a `datasets` dataset: by its name on the hub, or from a local folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...errors import CorpusError, listed


def texts_from_dataset(
    name: str,
    config: str | None = None,
    *,
    split: str = "train",
    column: str = "text",
    streaming: bool = True,
) -> Iterator[str]:
    """Read one column of a dataset, row by row; see `load_split`.

    column (str): The column that holds the text.
    YIELDS (str): The texts; empty cells are skipped.
    """
    dataset = load_split(name, config, split, streaming)
    columns = list(dataset.column_names or dataset.features or ())
    if columns and column not in columns:
        raise CorpusError(
            f"There is no column {column!r} in dataset {name!r}. It has: "
            f"{listed(columns)}. Choose one with column=... (--column)."
        )
    for row in dataset:
        text = row[column]
        if not isinstance(text, str | None):
            raise CorpusError(
                f"Column {column!r} of dataset {name!r} holds {type(text).__name__}, "
                "not text. Choose another one with column=... (--column)."
            )
        if text:
            yield text


def load_split(name: str, config: str | None, split: str, streaming: bool) -> Any:
    """Load one split of a dataset.

    name (str): The dataset's name on the hub ("wikitext"), or a local folder: one
        that `Dataset.save_to_disk` wrote, or one of JSONL, CSV, Parquet or text files.
    config (Optional[str]): The dataset's configuration ("wikitext-103-raw-v1").
    split (str): The split.
    streaming (bool): Read while downloading, without keeping a copy.
    RETURNS (Union[Dataset, IterableDataset]): The split.
    """
    import datasets

    folder = Path(name)
    if folder.is_file():
        raise CorpusError(
            f"{name!r} is a file, not a dataset. Files are read by "
            "NgramDictionary.from_files (name them without --dataset)."
        )
    is_saved = any((folder / f).exists() for f in ("dataset_dict.json", "state.json"))
    try:
        if not is_saved:
            return datasets.load_dataset(name, config, split=split, streaming=streaming)
        saved = datasets.load_from_disk(name)
    except Exception as error:  # whatever YAML, Arrow and the network raise
        raise CorpusError(f"Dataset {name!r} cannot be loaded: {error}") from error
    if not isinstance(saved, dict):
        saved = {str(saved.split or "train"): saved}
    if split not in saved:
        raise CorpusError(
            f"There is no split {split!r} in dataset {name!r}. It has: "
            f"{listed(saved)}. Choose one with split=... (--split)."
        )
    return saved[split]
