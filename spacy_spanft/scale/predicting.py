"""Predict all rows of a file, part by part, and resume what was interrupted."""

import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, get_args

from tqdm import tqdm

from ..errors import SpanftError, listed, shown
from ..ml.pairs import SEPARATOR
from ..util.files import check_source, check_target, write_whole
from ..util.gpu import CPU
from . import output as out
from .annotations import Annotations, Pipeline, annotate, load_once
from .input_rows import InputFormat, Part, Row, Source, read_parts
from .parts import Parts, digest_of
from .saved_pipeline import Saved, read_saved
from .workers import Submit, processes, ray_tasks

# If none of so many rows can be predicted, the columns or the pipeline are wrong.
_MOST_TRIED = 100


class Predicted(NamedTuple):
    """The number of rows, and those without a prediction.

    failures (Optional[Path]): The file with these and the reasons, if there are any.
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
    format: InputFormat | None = None,
    errors: Literal["strict", "replace"] = "strict",
    prefix: str = "",
    force: bool = False,
    engine: Literal["local", "ray"] = "local",
    n_process: int = 1,
    address: str | None = None,
    gpu_ids: Sequence[int] = (CPU,),
    code: str | None = None,
    progress: bool = False,
) -> Predicted:
    """Predict all rows of a file, in their order.

    Finished parts stay in the folder OUTPUT.parts until all are done, so that the same
    call resumes after any interruption. With several processes, a script must call this
    below `if __name__ == "__main__":`.

    model (str): The pipeline, by name or path.
    input_path (str): Parquet, JSONL, CSV, TSV, or text with one text a line.
    output (Union[str, Path]): The file to write: .parquet or .jsonl.
    text (str): The column of the texts, or of the first texts of pairs.
    separator (str): The pipeline's separator between the texts of a pair.
    prefix (str): A prefix for the names of predicted columns.
    force (bool): Whether to overwrite an output, or the parts of another run.
    address (Optional[str]): The address of a Ray cluster, HOST:PORT.
    gpu_ids (Sequence[int]): The GPUs, for one process each; (-1,) for the CPU.
    code (Optional[str]): A Python file that registers what the pipeline needs.
    RETURNS (Predicted): The number of rows, and those without a prediction.
    """
    target, parts = Path(output), Parts(Path(output))
    failures = target.with_name(f"{target.name}.failed.jsonl")
    for path in (input_path, *([code] if code is not None else [])):
        check_source(path)
    for written in (target, failures):
        check_target(written, [input_path], force=force or parts.is_begun)
    if target.suffix not in (".parquet", ".jsonl"):
        raise SpanftError(f"The output {str(target)!r} must end in .parquet or .jsonl.")
    format = format or _format_of(input_path)
    source = Source(input_path, format, text, text_pair, separator, errors)
    saved = read_saved(model)
    _check_pairs(saved, source)
    uses_gpus = tuple(gpu_ids) != (CPU,)
    gpus = list(gpu_ids) if uses_gpus else [CPU] * n_process
    if engine == "ray":  # which shows each task its own GPU only
        workers = ray_tasks(annotate, len(gpus), address, uses_gpus)
        pipeline = Pipeline(model, code, 0 if uses_gpus else CPU)
    else:
        workers = processes(annotate, gpus)
        pipeline = Pipeline(model, code, gpus[0])
    facts = {
        "the pipeline": digest_of(saved.folder),
        "the input": digest_of(Path(input_path)),
        "--code": code and digest_of(Path(code)),
        **source._replace(path="")._asdict(),
    }
    with parts.opened(facts, force):
        schema = out.schema_of(source) if target.suffix == ".parquet" else None
        try:
            with workers as submit:
                call = partial(submit, pipeline)
                shape = _shape_of(source, call, prefix)
                n_rows = _predict_parts(source, call, parts, len(gpus), progress)
        finally:
            load_once.cache_clear()  # the next run may have another of that name
        if digest_of(Path(input_path)) != facts["the input"]:
            raise SpanftError(
                f"{shown(input_path)} was changed while it was predicted. Start over "
                "with --force."
            )
        join = partial(_join, source, parts, shape, prefix)
        write: Any = out.write_jsonl
        if schema is not None:
            added = out.added_columns(shape, prefix)
            write = partial(out.write_parquet, columns=schema, added=added)
        n_failures = _write(target, failures, join, write)
        parts.finish()
    return Predicted(n_rows, n_failures, failures if n_failures else None)


def _format_of(path: str) -> InputFormat:
    for suffix in reversed(Path(path).suffixes):  # .gz may come after it
        for format in get_args(InputFormat):
            if suffix.lower() == f".{format}":
                return format  # type: ignore[no-any-return]
    raise SpanftError(
        f"The name of {path!r} does not tell its format. Set it with --format: "
        f"{listed(get_args(InputFormat))}."
    )


def _check_pairs(saved: Saved, source: Source) -> None:
    """Raise if a pipeline for pairs gets single texts, or the other way around."""
    separator = source.separator if source.text_pair is not None else None
    if separator != saved.separator:
        options = f"--text-pair COLUMN --separator {saved.separator}"
        right = "without --text-pair" if saved.separator is None else f"with {options}"
        kind = "single texts" if saved.separator is None else "pairs of texts"
        raise SpanftError(f"{saved.name!r} is a pipeline for {kind}: run it {right}.")


def _shape_of(source: Source, call: Submit, prefix: str) -> out.Shape:
    """Return the columns that the pipeline predicts, using the first few rows."""
    rows = next(read_parts(source), Part([])).rows[:_MOST_TRIED]
    if not rows:
        raise SpanftError(f"{shown(source.path)} has no rows.")
    results = _merge(rows, call([row.text for row in rows if not row.problem])())
    for row, result in zip(rows, results, strict=True):
        if isinstance(result, dict):
            shape = out.shape_of(result)
            if not shape:
                raise SpanftError(
                    "The pipeline predicts no categories, entities or spans. To see "
                    "the spans of a span_segmenter, use `spanft segment`."
                )
            if problem := _problem(row, result, shape, prefix):
                raise SpanftError(
                    f"Row {row.number} of {shown(source.path)}: {problem}"
                )
            return shape
    raise SpanftError(
        f"None of the first {len(rows)} rows of {shown(source.path)} can be predicted. "
        f"Row {rows[0].number}: {results[0]}"
    )


def _merge(rows: list[Row], results: list[Any]) -> list[Annotations | str]:
    """Return the result of each row, or its problem."""
    predicted = iter(results)
    return [row.problem or next(predicted) for row in rows]


def _predict_parts(
    source: Source, call: Submit, parts: Parts, n_workers: int, progress: bool
) -> int:
    """Predict the parts that are missing or damaged; return the number of rows."""
    n_rows = 0
    started: deque[tuple[int, Part, Callable[[], Any]]] = deque()
    with tqdm(desc="Predicting", unit=" rows", disable=not progress) as bar:

        def finish(n_left: int) -> None:
            while len(started) > n_left:
                number, part, result = started.popleft()
                parts.write(number, _merge(part.rows, result()))
                bar.update(len(part.rows))

        for number, part in enumerate(read_parts(source)):
            n_rows += len(part.rows)
            if parts.read(number, len(part.rows)) is not None:
                bar.update(len(part.rows))
                continue
            texts = [row.text for row in part.rows if not row.problem]
            started.append((number, part, call(texts)))
            # Each worker has one part in progress and one that waits.
            finish(2 * n_workers - 2)
        finish(0)
    return n_rows


def _write(
    target: Path, failures: Path, join: Callable[..., Any], write: Callable[..., None]
) -> int:
    """Write the output, and the failures if there are any; return their number."""
    with tempfile.TemporaryFile() as failed:
        write_whole(target, partial(write, predictions=join(failed)))
        failed.seek(0)
        n_failures = sum(1 for _ in failed)
        failed.seek(0)
        if n_failures:
            write_whole(failures, partial(shutil.copyfileobj, failed))
        else:  # those of an output that was overwritten
            failures.unlink(missing_ok=True)
    return n_failures


def _join(
    source: Source, parts: Parts, shape: out.Shape, prefix: str, failed: BinaryIO
) -> Iterator[out.Predictions]:
    """Put predictions beside their rows; write the rows without one to `failed`."""
    for number, part in enumerate(read_parts(source)):
        results = parts.read(number, len(part.rows))
        if results is None:
            raise SpanftError(
                f"Part {number} in {parts.folder} is damaged. Run the same command "
                f"again to redo it."
            )
        indices = []
        for i, (row, result) in enumerate(zip(part.rows, results, strict=True)):
            if problem := _problem(row, result, shape, prefix):
                failure = {"row": row.number, "reason": problem, "cells": row.cells}
                failed.write(out.json_line(failure))
            else:
                indices.append(i)
        table = None if part.table is None else part.table.take(indices)
        yield (
            Part([part.rows[i] for i in indices], table),
            [{f"{prefix}{key}": results[i][key] for key in shape} for i in indices],
        )


def _problem(
    row: Row, result: Annotations | str, shape: out.Shape, prefix: str
) -> str | None:
    """Return why a row cannot be in the output."""
    if isinstance(result, str):
        return result
    if out.shape_of(result) != shape:
        return f"It got {out.shape_of(result)}, and the first row {shape}."
    taken = sorted({f"{prefix}{name}" for name in shape} & set(row.cells))
    if taken:
        return f"It already has columns of these names: {listed(taken)}. Set --prefix."
    return None
