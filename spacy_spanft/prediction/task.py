"""What is done with a part, in whatever process."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout
from spacy.language import Language
from spacy.util import import_file

from ..configs.adding import PAIR_TOKENIZER
from ..errors import (
    Errors,
    ReaderError,
    SpanftError,
    check_setting,
    shown,
    without_code,
)
from ..errors.shortening import listed
from ..ml.pairs import SEPARATOR
from ..training.readers.columns import text_of
from ..training.readers.rows import Row, check_length
from ..util.gpu import CPU
from ..util.pipelines import load
from . import json_lines, parquet
from .annotations import Shape, annotations_of, shape_of
from .parts import MOST_TRIED, Failure, Part, Source, read_parts


class Setup(NamedTuple):
    """What is the same for all parts.

    model (str): The pipeline, by name or path.
    source (Source): What is read.
    is_parquet (bool): Whether Parquet is written, or JSON lines.
    prefix (str): What the names of predicted columns begin with.
    gpu_ids (tuple[int, ...]): The GPUs, each for one process; (-1,) for the CPU.
    folder (str): Where processes lock the GPU that they have; "" if each sees its own
        alone, as under Ray.
    code (Optional[str]): A Python file that registers what the pipeline needs.
    """

    model: str
    source: Source
    is_parquet: bool
    prefix: str
    gpu_ids: tuple[int, ...]
    folder: str
    code: str | None = None


class Done(NamedTuple):
    """A part that is done.

    number (int): Which part it is.
    data (bytes): What is written of it.
    failures (bytes): The rows without a prediction, as JSON lines.
    n_rows (int): How many rows it has.
    n_failures (int): How many of them have no prediction.
    """

    number: int
    data: bytes
    failures: bytes
    n_rows: int
    n_failures: int


_loaded: dict[Setup, Language] = {}
# What a process holds until it ends.
_held = ExitStack()


def pipeline_of(setup: Setup) -> Language:
    """Load the pipeline, once in a process.

    setup (Setup): What it is.
    RETURNS (Language): The pipeline.
    """
    if setup not in _loaded:
        forget()
        if setup.code is not None:
            import_file("python_code", setup.code)
        _loaded[setup] = load(setup.model, _free_gpu(setup))
    return _loaded[setup]


def forget() -> None:
    """Let go of the pipeline, and of its GPU."""
    _loaded.clear()
    _held.close()


def predict_part(setup: Setup, shape: Shape, part: Part) -> Done:
    """Predict the rows of a part.

    setup (Setup): How.
    shape (Shape): What the pipeline says of each text.
    part (Part): The part.
    RETURNS (Done): What is to be written.
    """
    nlp = pipeline_of(setup)
    failures = list(part.failures)
    texts: list[tuple[str, int]] = []
    for number, row in enumerate(part.rows):
        try:
            text = _text_of(row, setup.source)
            check_length(nlp, text, row.place)
            _check_free(row, shape, setup)
        except SpanftError as error:
            failures.append(_failure(row, error))
        else:
            texts.append((text, number))
    found: dict[int, Mapping[str, Any]] = {}
    with nlp.memory_zone():
        for number, one in _annotate(nlp, shape, texts):
            if isinstance(one, Exception):
                failures.append(_failure(part.rows[number], one))
            else:
                found[number] = one
    n_rows = len(part.rows) + len(part.failures)
    failures.sort(key=lambda one: int(one.place.split()[-1]))
    lines = json_lines.encode(_to_line(failure) for failure in failures)
    return Done(
        part.number, _encode(setup, shape, part, found), lines, n_rows, len(failures)
    )


def find_shape(setup: Setup) -> Shape:
    """Find out what the pipeline says of a text, with the first that it can predict.

    setup (Setup): How.
    RETURNS (Shape): What it says.
    """
    nlp = pipeline_of(setup)
    _check_pairs(nlp, setup)
    first: Failure | None = None
    for row in islice(_first_rows(setup.source), MOST_TRIED):
        if isinstance(row, Failure):
            first = first or row
            continue
        try:
            text = _text_of(row, setup.source)
            check_length(nlp, text, row.place)
            doc = nlp(text)
        except Exception as error:  # of one text, it may be the text's fault
            first = first or _failure(row, error)
        else:
            return shape_of(nlp, doc, setup.model)
    path = shown(setup.source.path)
    if first is None:
        raise SpanftError(Errors.NO_ROWS.format(source=path))
    place = {"place": first.place, "path": path, "reason": first.reason}
    raise SpanftError(Errors.NONE_PREDICTED.format(**place))


def _text_of(row: Row, source: Source) -> str:
    """Read the text of a row, or join the two of a pair."""
    text = text_of(row, repr(source.path), source.columns)
    names = (source.columns.text, source.columns.text_pair)
    if not any(row.cells[name].strip() for name in names if name is not None):
        place = {"place": row.place, "path": source.path}
        raise ReaderError(Errors.EMPTY_TEXT.format(**place))
    return text


def has_text(row: Row, source: Source) -> bool:
    """Say whether a row has a text to predict.

    row (Row): The row.
    source (Source): Where it is from.
    RETURNS (bool): Whether it has one.
    """
    try:
        _text_of(row, source)
    except SpanftError:
        return False
    return True


def _check_pairs(nlp: Language, setup: Setup) -> None:
    """Raise if a pipeline is for pairs and there are single texts, or vice versa."""
    tokenizer = nlp.config["nlp"]["tokenizer"]
    is_for_pairs = tokenizer["@tokenizers"] == PAIR_TOKENIZER
    columns = setup.source.columns
    if not is_for_pairs:
        if columns.text_pair is not None:
            raise SpanftError(Errors.NOT_FOR_PAIRS.format(name=setup.model))
        return
    own = tokenizer.get("separator", SEPARATOR)
    is_own = columns.separator == own
    if columns.text_pair is None:
        also = "" if is_own else f", and give --separator {own}"
        text = {"name": setup.model, "also": also}
        raise SpanftError(Errors.FOR_PAIRS.format(**text))
    expected = f"that of the pipeline, {own!r}"
    check_setting("--separator", columns.separator, is_own, expected)


def _first_rows(source: Source) -> Iterator[Row | Failure]:
    """Give the rows, and of each part one that could not be read."""
    for part in read_parts(source):
        yield from part.failures[:1]
        yield from part.rows


def taken_names(names: Iterable[str], shape: Shape, prefix: str) -> list[str]:
    """Find the columns of the input whose names predictions would have, too.

    names (Iterable[str]): The columns of the input.
    shape (Shape): What the pipeline says of each text.
    prefix (str): What the names of predicted columns begin with.
    RETURNS (list[str]): The names.
    """
    return sorted({f"{prefix}{name}" for name in shape.columns} & set(names))


def _annotate(
    nlp: Language, shape: Shape, texts: Sequence[tuple[str, int]]
) -> Iterator[tuple[int, Any]]:
    """Give the annotations of texts; where there are none, the exception."""
    try:
        docs = list(nlp.pipe((text for text, _ in texts)))
    except Exception as error:
        if len(texts) == 1:
            yield texts[0][1], error
            return
        # One of them is to blame, or there are too many for the memory.
        half = len(texts) // 2
        yield from _annotate(nlp, shape, texts[:half])
        yield from _annotate(nlp, shape, texts[half:])
        return
    for doc, (_, number) in zip(docs, texts, strict=True):
        try:
            yield number, annotations_of(nlp, doc, shape)
        except SpanftError as error:
            yield number, error


def _check_free(row: Row, shape: Shape, setup: Setup) -> None:
    """Raise for a JSON object with a key that earlier ones did not have."""
    if taken := taken_names(row.cells, shape, setup.prefix):
        place = {"path": setup.source.path, "names": listed(taken)}
        raise SpanftError(Errors.COLUMN_IS_THERE.format(**place))


def _encode(
    setup: Setup, shape: Shape, part: Part, found: Mapping[int, Mapping[str, Any]]
) -> bytes:
    numbers = sorted(found)
    annotations = [found[number] for number in numbers]
    if setup.is_parquet:
        if part.table is None:
            cells: Any = [part.rows[number].cells for number in numbers]
        else:
            cells = part.table.take(numbers)
        return parquet.encode(cells, annotations, shape, setup.prefix)
    return json_lines.encode(
        {**part.rows[number].cells, **_named(setup.prefix, found[number])}
        for number in numbers
    )


def _named(prefix: str, annotations: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{prefix}{name}": value for name, value in annotations.items()}


def _failure(row: Row, error: Exception) -> Failure:
    reason = " ".join(without_code(error).split())
    if not isinstance(error, SpanftError):
        reason = f"{type(error).__name__}: {reason}"
    return Failure(row.place, reason, row.cells)


def _to_line(failure: Failure) -> dict[str, Any]:
    return {
        name: value for name, value in failure._asdict().items() if value is not None
    }


def _free_gpu(setup: Setup) -> int:
    """Take a GPU that no other process of this run has."""
    if setup.gpu_ids == (CPU,) or not setup.folder:
        return setup.gpu_ids[0]
    for number, gpu_id in enumerate(setup.gpu_ids):
        lock = FileLock(Path(setup.folder) / f".gpu{number}.lock")
        try:
            _held.enter_context(lock.acquire(timeout=0))
        except Timeout:
            continue
        return gpu_id
    raise SpanftError(Errors.NO_FREE_GPU.format(gpus=",".join(map(str, setup.gpu_ids))))
