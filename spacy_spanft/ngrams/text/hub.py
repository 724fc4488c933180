"""Texts from a `datasets` dataset: by its name on the hub, or from a local folder."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import CorpusError, Errors


def texts_from_dataset(
    name: str,
    config: str | None = None,
    *,
    split: str = "train",
    column: str = "text",
    streaming: bool = True,
) -> Iterator[str]:
    """Read one column of a dataset, row by row.

    name (str): The dataset's name on the hub ("wikitext"), or a local folder: one
        that `Dataset.save_to_disk` wrote, or one of JSONL, CSV, Parquet or text files.
    config (Optional[str]): The dataset's configuration ("wikitext-103-raw-v1").
    column (str): The column that holds the text.
    streaming (bool): Read while downloading, without keeping a copy.
    YIELDS (str): The texts; empty cells are passed over.
    """
    dataset = load_split(name, config, split, streaming)
    columns = list(dataset.column_names or dataset.features or ())
    if columns and column not in columns:
        names = ", ".join(map(repr, columns))
        raise CorpusError(
            Errors.NO_COLUMN.format(column=column, name=name, columns=names)
        )
    for row in dataset:
        text = row[column]
        if not isinstance(text, str | None):
            kind = type(text).__name__
            raise CorpusError(
                Errors.COLUMN_OF_OTHERS.format(column=column, name=name, type=kind)
            )
        if text:
            yield text


def load_split(name: str, config: str | None, split: str, streaming: bool) -> Any:
    """Load one split of a dataset.

    name (str): Its name on the hub, or a local folder.
    config (Optional[str]): Its configuration.
    streaming (bool): Read while downloading, without keeping a copy.
    RETURNS (Union[Dataset, IterableDataset]): The split.
    """
    import datasets

    folder = Path(name)
    if folder.is_file():
        raise CorpusError(Errors.DATASET_IS_FILE.format(name=name))
    is_path = name.startswith((".", "~")) or folder.is_absolute()
    if is_path and not folder.exists():
        raise CorpusError(Errors.NO_DATASET_FOLDER.format(name=name))
    try:
        if (folder / "dataset_dict.json").exists():
            return _choose(name, split, datasets.load_from_disk(name))
        if (folder / "state.json").exists():
            saved = datasets.load_from_disk(name)
            return _choose(name, split, {str(saved.split or "train"): saved})
        return datasets.load_dataset(name, config, split=split, streaming=streaming)
    except CorpusError:
        raise
    except Exception as error:  # whatever YAML, Arrow and others say of what is there
        raise CorpusError(
            Errors.NO_DATASET.format(name=name, reason=str(error))
        ) from error


def _choose(name: str, split: str, splits: Mapping[str, Any]) -> Any:
    if split not in splits:
        there = ", ".join(map(repr, splits))
        raise CorpusError(Errors.NO_SPLIT.format(split=split, name=name, splits=there))
    return splits[split]
