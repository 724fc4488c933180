"""The data of a task: its files, what task.json says of it, how a config reads it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import srsly
from confection import Config
from spacy.language import Language
from spacy.training import Corpus, Example
from spacy.util import registry

from ..errors import ComparisonError, SpanftError, shown
from ..util.files import is_there

_ENDINGS = (".spacy", ".tsv", ".csv", ".jsonl")
_TABLE_CORPUS = "spacy-spanft.TableCorpus.v1"
_DOC_BINS = "spacy.Corpus.v1"
# Arguments of a config's reader that belong to its own file.
_NOT_COLUMNS = ("@readers", "path", "format", "limit")


class Data(NamedTuple):
    """The data of a task, and what task.json says of it.

    files (dict[str, Path]): The files of "train" and "dev".
    tests (list[Path]): The test sets: test.csv, test_mismatched.spacy; perhaps none.
    pipeline (Optional[str]): The pipeline to train: "textcat".
    columns (dict[str, Any]): The columns of tables, as arguments of TableCorpus.v1.
    metric (Optional[str]): The metric that the arms are compared by.
    positive_label (Optional[str]): The positive label of F1.
    """

    files: dict[str, Path]
    tests: list[Path]
    pipeline: str | None = None
    columns: dict[str, Any] = {}  # noqa: RUF012 (never written to)
    metric: str | None = None
    positive_label: str | None = None

    @property
    def folder(self) -> Path:
        """The folder of the task."""
        return self.files["train"].parent

    @property
    def name(self) -> str:
        """The name of the task, which is that of its folder."""
        return self.folder.resolve().name


def find_data(folder: str | Path) -> Data:
    """Return the data of a task, without reading it.

    folder (Union[str, Path]): A folder with train and dev data: .spacy files, or tables
        (.tsv, .csv or .jsonl). A task.json in it may have the other fields of `Data`.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise SpanftError(f"There is no folder {str(folder)!r} in {str(Path.cwd())!r}.")
    files: dict[str, Path] = {}
    for path in sorted(folder.glob("*.*")):
        is_data = path.stem in ("train", "dev") or path.stem.startswith("test")
        if not is_data or path.suffix not in _ENDINGS:
            continue
        if other := files.get(path.stem):
            raise SpanftError(
                f"Both {other.name} and {path.name} are in '{folder}'. Remove one."
            )
        files[path.stem] = path
    for split in ("train", "dev"):
        if split not in files:
            raise SpanftError(
                f"There is no {split}.spacy, {split}.tsv, {split}.csv or {split}.jsonl "
                f"in the folder {str(folder)!r}. A task needs train and dev data."
            )
    facts = _read_facts(folder / "task.json")
    needed = {split: files.pop(split) for split in ("train", "dev")}
    return Data(needed, list(files.values()), **facts)


def _read_facts(path: Path) -> dict[str, Any]:
    """Return the fields of `Data` in task.json; other keys are for people."""
    if not path.exists():
        return {}
    try:
        facts = dict(srsly.read_json(path))
    except (ValueError, TypeError) as error:
        raise SpanftError(f"{path} is not a JSON object: {error}") from error
    return {key: facts[key] for key in Data._field_defaults if key in facts}


def readers_of(config: Config, data: Data) -> dict[str, dict[str, Any]]:
    """Return the blocks that read the data of a task, for each split.

    config (Config): The config. The columns of its own tables are kept.
    """
    readers = {}
    for split, file in data.files.items():
        reader = {"@readers": _DOC_BINS, "path": f"${{paths.{split}}}"}
        if file.suffix != ".spacy":
            block = config.get("corpora", {}).get(split)
            if isinstance(block, dict) and block.get("@readers") == _TABLE_CORPUS:
                reader |= {k: v for k, v in block.items() if k not in _NOT_COLUMNS}
            reader |= {"@readers": _TABLE_CORPUS, **data.columns}
        readers[split] = reader
    return readers


def read_examples(
    nlp: Language, data: str, config: Config | None = None, split: str = "dev"
) -> Iterator[Example]:
    """Read DocBins, or whatever the pipeline's own corpus reads.

    config (Optional[Config]): The config of a pipeline that is not trained yet.
    split (str): The corpus: "train", or "dev" for test data, too.
    YIELDS (Example): Texts without annotations, and with the right ones.
    """
    check_data(data)
    corpora = (config or nlp.config).interpolate().get("corpora", {})
    corpus = _corpus(corpora.get(split, {}), data)
    is_empty = True
    try:
        for example in corpus(nlp):
            is_empty = False
            yield example
    except Exception as error:  # zlib and msgpack raise various ones
        if not isinstance(corpus, Corpus):
            raise
        raise ComparisonError(
            f"{data!r} cannot be read: it is no DocBin, or damaged."
        ) from error
    if is_empty:
        raise ComparisonError(f"There are no rows in {data!r}.")


def _corpus(block: dict[str, Any], data: str) -> Any:
    if Path(data).is_dir() or Path(data).suffix == ".spacy":
        return Corpus(data)
    block = block.get("corpus", block)  # of which the dev data is a part
    if block.get("@readers", _DOC_BINS) == _DOC_BINS:
        raise ComparisonError(
            f"{data!r} does not end in .spacy, and the pipeline reads only DocBins. "
            f"Convert it with `spacy spanft convert`."
        )
    return registry.resolve({"corpus": {**block, "path": data}})["corpus"]


def check_data(data: str) -> None:
    """Raise for test data that does not exist."""
    if not data or not is_there(data):
        raise ComparisonError(f"There is no file {shown(data)}.")
