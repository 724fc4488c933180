"""Predicts part by part, and puts together what is there when all parts are."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from ..errors import Errors, ReaderError, SpanftError
from ..errors.shortening import listed
from ..ml.pairs import SEPARATOR
from ..ngrams.text.blocks import ErrorHandling
from ..training.readers.columns import Columns, check_columns
from ..util.engines import Engine, EngineName, open_engine
from ..util.files import check_source, check_target
from ..util.gpu import CPU
from .annotations import Shape
from .parquet import common_schema
from .parts import Source, columns_in, count_rows, format_of, read_parts
from .task import Setup, find_shape, forget, has_text, predict_part, taken_names
from .work import Work, facts_of

_ENDINGS = (".parquet", ".jsonl")


class Predicted(NamedTuple):
    """What came of it.

    n_rows (int): How many rows there are.
    n_failures (int): How many of them have no prediction.
    failures (Optional[Path]): Where these are, with reasons; None if there are none.
    """

    n_rows: int
    n_failures: int
    failures: Path | None


def predict(
    model: str,
    input_path: str,
    output: str | Path,
    *,
    text: str = "text",
    text_pair: str | None = None,
    separator: str = SEPARATOR,
    format: str | None = None,
    errors: ErrorHandling = "strict",
    prefix: str = "",
    force: bool = False,
    engine: EngineName = "local",
    n_process: int = 1,
    address: str | None = None,
    gpu_ids: Sequence[int] = (CPU,),
    code: str | None = None,
    progress: bool = False,
) -> Predicted:
    """Predict all rows of a file, in their order.

    What is done is kept in the folder OUTPUT.parts until all is. After whatever end,
    the same call goes on from there.

    model (str): The pipeline, by name or path.
    input_path (str): Parquet, JSONL, CSV, TSV, or text with one text a line.
    output (Union[str, Path]): The file to write: .parquet or .jsonl.
    text (str): The column of the text, or of the first of two.
    text_pair (Optional[str]): The column of the second text of a pair.
    separator (str): Stands between the texts of a pair; that of the pipeline.
    format (Optional[str]): The input's format; None goes by its ending.
    errors (str): What to do about bytes that are not text: "strict" or "replace".
    prefix (str): What the names of predicted columns begin with.
    force (bool): Whether an output that is there is written over.
    engine (str): "local" or "ray".
    n_process (int): How many processes predict.
    address (Optional[str]): Where the Ray cluster is.
    gpu_ids (Sequence[int]): The GPUs, one for each process; (-1,) for the CPU.
    code (Optional[str]): A Python file that registers what the pipeline needs.
    progress (bool): Whether a bar shows how far it is.
    RETURNS (Predicted): What came of it.
    """
    if text_pair is None and separator != SEPARATOR:
        raise ReaderError(Errors.SEPARATOR_ALONE.format(separator=separator))
    columns = Columns(text, text_pair, None, None, None, separator, "error")
    check_columns(columns)
    for path in (input_path, *([code] if code is not None else [])):
        check_source(path)
    target = Path(output)
    is_parquet = _check_output(target, input_path, force)
    format_in = format_of(input_path, format)
    source = Source(input_path, format_in, columns, errors, keeps_table=is_parquet)
    work = Work(target)
    has_gpus, uses_ray = tuple(gpu_ids) != (CPU,), engine == "ray"
    setup = Setup(
        model=model,
        source=source,
        is_parquet=is_parquet,
        prefix=prefix,
        gpu_ids=(0,) if has_gpus and uses_ray else tuple(gpu_ids),
        folder="" if uses_ray else str(work.folder.absolute()),
        code=code,
    )
    n_workers = len(gpu_ids) if has_gpus else n_process
    with work.own(facts_of(setup), force):
        names = columns_in(source)
        shape = find_shape(setup)
        _check_names(names, shape, setup)
        if is_parquet and format_in == "jsonl":
            _check_types(source)
        with open_engine(
            engine, n_workers, address=address, n_gpus=int(has_gpus)
        ) as tasks:
            if uses_ray or n_workers > 1:
                forget()  # each worker has a pipeline of its own
            n_rows = _predict_parts(tasks, setup, shape, work, progress)
        forget()
        n_failures = work.finish()
    return Predicted(n_rows, n_failures, work.failures if n_failures else None)


def _predict_parts(
    engine: Engine, setup: Setup, shape: Shape, work: Work, progress: bool
) -> int:
    """Predict the parts that are not done; say how many rows there are."""
    n_rows = 0
    total = count_rows(setup.source)
    off = None if progress else True
    with tqdm(desc="Predicting", unit=" rows", total=total, disable=off) as bar:

        def tasks() -> Iterator[tuple[Any, ...]]:
            nonlocal n_rows
            for part in read_parts(setup.source):
                n_own = len(part.rows) + len(part.failures)
                n_rows += n_own
                if work.has(part.number):
                    bar.update(n_own)
                else:
                    yield setup, shape, part

        for done in engine.run(predict_part, tasks()):
            work.add(done)
            bar.update(done.n_rows)
    return n_rows


def _check_output(target: Path, input_path: str, force: bool) -> bool:
    """Say whether Parquet is written; raise for what cannot be."""
    if target.suffix not in _ENDINGS:
        raise SpanftError(Errors.NO_OUTPUT_FORMAT.format(path=str(target)))
    work = Work(target)
    # What was begun is gone on with, whatever there is already of its output.
    for path in (target, work.failures):
        check_target(path, [input_path], force=force or work.is_begun)
    return target.suffix == ".parquet"


def _check_types(source: Source) -> None:
    """Raise for JSON that no Parquet file can hold, before hours of predicting."""
    schema: Any = None
    for part in read_parts(source):
        cells = [row.cells for row in part.rows if has_text(row, source)]
        schema = common_schema(schema, cells)


def _check_names(names: Iterable[str], shape: Shape, setup: Setup) -> None:
    """Raise if predictions would have the name of a column that is there."""
    taken = taken_names(names, shape, setup.prefix)
    if taken:
        place = {"path": setup.source.path, "names": listed(taken)}
        raise SpanftError(Errors.COLUMN_IS_THERE.format(**place))
