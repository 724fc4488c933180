"""Texts from a `datasets` dataset: by its name on the hub, or from a local folder."""

from collections.abc import Iterator

from ..errors import CorpusError, Errors


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
    split (str): The split.
    column (str): The column that holds the text.
    streaming (bool): Read while downloading, without keeping a copy.
    YIELDS (str): The texts; empty cells are passed over.
    """
    dataset = _load(name, config, split, streaming)
    columns = list(dataset.column_names or dataset.features or ())
    if columns and column not in columns:
        raise CorpusError(
            Errors.NO_COLUMN.format(
                column=column, name=name, columns=", ".join(map(repr, columns))
            )
        )
    for row in dataset:
        text = row[column]
        if text:
            yield text


def _load(name, config, split, streaming):  # type: ignore[no-untyped-def]
    import datasets

    try:
        if _is_saved(name):
            saved = datasets.load_from_disk(name)
            return saved[split] if isinstance(saved, dict) else saved
        return datasets.load_dataset(name, config, split=split, streaming=streaming)
    except (OSError, ValueError, KeyError) as error:
        raise CorpusError(
            Errors.NO_DATASET.format(name=name, reason=str(error))
        ) from error


def _is_saved(name: str) -> bool:
    from pathlib import Path

    folder = Path(name)
    return (folder / "state.json").exists() or (folder / "dataset_dict.json").exists()
