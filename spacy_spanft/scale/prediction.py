"""Predict all rows of a file, part by part, and resume what was interrupted."""

import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import cycle
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, TypeAlias, get_args

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import import_file
from tqdm import tqdm

from ..errors import SpanftError, listed, shown
from ..ml.pairs import SEPARATOR
from ..util import SEGMENTER, WRITER
from ..util.cluster import connect_ray
from ..util.files import check_source, check_target, write_whole
from ..util.gpu import CPU
from ..util.pipelines import load
from ..util.threads import obey_parent, results_in_order
from . import row_files
from .parts import Parts, digest_of
from .row_files import InputFormat, Row, Source, read_parts
from .saved_pipeline import Saved, read_saved

# The predictions for a text by column, in the words of `Doc.to_json`.
Annotations: TypeAlias = dict[str, Any]
# The columns of all predictions, and the labels or groups in those that are objects.
Shape: TypeAlias = dict[str, list[str] | None]
# Annotates batches of texts, in their order.
Run: TypeAlias = Callable[[Iterable[list[str]]], Iterator[list[Annotations | str]]]


class Predicted(NamedTuple):
    """The number of rows, and those without a prediction.

    failures (Optional[Path]): The file with these and the reasons, if there are any.
    """

    n_rows: int
    n_failures: int
    failures: Path | None


class Pipeline(NamedTuple):
    """A pipeline to load, a Python file that registers what it needs, and its GPU."""

    name: str
    code: str | None
    gpu_id: int


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
    for path in filter(None, (input_path, code)):
        check_source(path)
    for written in (target, failures):
        check_target(written, [input_path], force=force or parts.is_begun)
    if target.suffix not in (".parquet", ".jsonl"):
        raise SpanftError(f"The output {str(target)!r} must end in .parquet or .jsonl.")
    format = format or _format_of(input_path)
    source = Source(input_path, format, text, text_pair, separator, errors)
    saved = read_saved(model)
    _check_pairs(saved, source)
    gpus = list(gpu_ids)
    if gpus == [CPU] or engine == "ray":
        gpus = gpus[:1] * max(n_process, len(gpus))
    pipelines = [Pipeline(model, code, gpu_id) for gpu_id in gpus]
    facts = {
        "the pipeline": digest_of(saved.folder),
        "the input": digest_of(Path(input_path)),
        "--code": code and digest_of(Path(code)),
        **source._replace(path="")._asdict(),
    }
    with parts.opened(facts, force):
        schema = row_files.schema_of(source) if target.suffix == ".parquet" else None
        try:
            with _workers(engine, pipelines, address) as run:
                n_rows, shape = _predict_parts(source, run, parts, prefix, progress)
        finally:
            load_once.cache_clear()  # the next run may have another of that name
        if digest_of(Path(input_path)) != facts["the input"]:
            raise SpanftError(
                f"{shown(input_path)} was changed while it was predicted. Start over "
                "with --force."
            )
        write: Any = row_files.write_jsonl
        if schema is not None:
            examples = {f"{prefix}{key}": v for key, v in _examples(shape).items()}
            schema = row_files.extended(schema, examples)
            write = partial(row_files.write_parquet, schema=schema)
        with tempfile.TemporaryFile() as failed:
            joined = _join(source, parts, shape, prefix, failed)
            write_whole(target, partial(write, parts=joined))
            failed.seek(0)
            n_failures = sum(1 for _ in failed)
            failed.seek(0)
            failures.unlink(missing_ok=True)  # those of an output that was overwritten
            if n_failures:
                write_whole(failures, partial(shutil.copyfileobj, failed))
        parts.remove()
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


# The work in a process


def annotate(pipeline: Pipeline, texts: Sequence[str]) -> list[Annotations | str]:
    """Return the annotations of each text, or the reason why there are none."""
    nlp = load_once(pipeline)
    with nlp.memory_zone():
        return _annotate(nlp, texts)


@lru_cache(maxsize=1)
def load_once(pipeline: Pipeline) -> Language:
    """Load a pipeline and keep it in this process."""
    if pipeline.code is not None:
        import_file("python_code", pipeline.code)
    return load(pipeline.name, pipeline.gpu_id)


def _annotate(nlp: Language, texts: Sequence[str]) -> list[Annotations | str]:
    try:
        return [_annotations_of(doc, nlp) for doc in nlp.pipe(texts)]
    except Exception as error:
        if len(texts) == 1:
            return [f"{type(error).__name__}: {' '.join(str(error).split())}"]
    # One text is to blame, or there are too many for the memory.
    half = len(texts) // 2
    return [*_annotate(nlp, texts[:half]), *_annotate(nlp, texts[half:])]


def _annotations_of(doc: Doc, nlp: Language) -> Annotations:
    factories = {name: nlp.get_pipe_meta(name).factory for name in nlp.pipe_names}
    exclusive = [name for name, factory in factories.items() if factory == "textcat"]
    annotations: Annotations = {}
    if len(exclusive) == 1:
        labels = nlp.get_pipe(exclusive[0]).labels  # type: ignore[attr-defined]
        annotations["label"] = max(labels, key=lambda label: doc.cats[label])
    if doc.cats:
        annotations["cats"] = {label: float(doc.cats[label]) for label in doc.cats}
    if doc.has_annotation("ENT_IOB"):
        annotations["ents"] = _spans(doc.ents)
    groups = {
        key: _spans(group)
        for key, group in sorted(doc.spans.items())
        # What a segmenter wrote is no prediction.
        if factories.get(group.attrs.get(WRITER)) != SEGMENTER
    }
    return {**annotations, "spans": groups} if groups else annotations


def _spans(spans: Any) -> list[dict[str, Any]]:
    """Return offsets in characters and labels, with scores if they are stored."""
    rows: list[dict[str, Any]] = [
        {"start": span.start_char, "end": span.end_char, "label": span.label_}
        for span in spans
    ]
    scores = getattr(spans, "attrs", {}).get("scores", ())
    if len(scores) == len(rows):
        for row, score in zip(rows, scores, strict=True):
            row["score"] = float(score)
    return rows


@contextmanager
def _workers(
    engine: Literal["local", "ray"], pipelines: list[Pipeline], address: str | None
) -> Iterator[Run]:
    """Annotate in this process, in one for each of several pipelines, or on Ray."""
    n_ahead = 2 * len(pipelines) - 2  # each worker has one batch, and one waits
    if engine == "ray":
        uses_gpu = pipelines[0].gpu_id != CPU
        # Ray shows each task its own GPU only, as number 0.
        pipeline = pipelines[0]._replace(gpu_id=0 if uses_gpu else CPU)
        with connect_ray(address, len(pipelines)) as ray:
            # With max_calls=0, a worker keeps its GPU and the pipeline on it.
            task = ray.remote(num_gpus=int(uses_gpu), max_calls=0)(annotate)
            yield lambda batches: results_in_order(
                lambda texts: task.remote(pipeline, texts).future(), batches, n_ahead
            )
        return
    if len(pipelines) == 1:
        yield lambda batches: map(partial(annotate, pipelines[0]), batches)
        return
    context, others = get_context("spawn"), set(active_children())
    pools = [ProcessPoolExecutor(1, context, obey_parent) for _ in pipelines]
    workers = cycle(zip(pools, pipelines, strict=True))

    def submit(texts: list[str]) -> "Future[list[Annotations | str]]":
        pool, pipeline = next(workers)
        return pool.submit(annotate, pipeline, texts)

    try:
        yield lambda batches: results_in_order(submit, batches, n_ahead)
    except BaseException as error:
        for process in set(active_children()) - others:
            process.terminate()
        if isinstance(error, BrokenProcessPool):
            raise SpanftError(
                "A process was killed, perhaps for lack of memory. Run the command "
                "again to resume, with fewer processes."
            ) from error
        raise
    finally:
        for pool in pools:
            pool.shutdown(cancel_futures=True)


# The work in this process


def _predict_parts(
    source: Source, run: Run, parts: Parts, prefix: str, progress: bool
) -> tuple[int, Shape]:
    """Predict the parts that are missing or damaged.

    RETURNS (tuple[int, Shape]): The number of rows, and the columns of predictions.
    """
    n_rows, shape = 0, Shape()
    started: deque[tuple[int, list[Row]]] = deque()
    with tqdm(desc="Predicting", unit=" rows", disable=not progress) as bar:

        def missing() -> Iterator[list[str]]:
            nonlocal n_rows, shape
            for number, part in enumerate(read_parts(source)):
                n_rows += len(part)
                results = parts.read(number, len(part))
                if results is None:
                    started.append((number, part))
                    yield [row.text for row in part if not row.problem]
                    continue
                if number == 0:
                    shape = _shape_of(part, results, source, prefix)
                bar.update(len(part))

        for predicted in run(missing()):
            number, part = started.popleft()
            remaining = iter(predicted)
            results = [row.problem or next(remaining) for row in part]
            if number == 0:
                shape = _shape_of(part, results, source, prefix)
            parts.write(number, results)
            bar.update(len(part))
    if not n_rows:
        raise SpanftError(f"{shown(source.path)} has no rows.")
    return n_rows, shape


def _shape_of(
    part: list[Row], results: list[Any], source: Source, prefix: str
) -> Shape:
    """Return the columns that the pipeline predicts, by the first row that it can."""
    for row, result in zip(part, results, strict=True):
        if isinstance(result, dict):
            if not result:
                raise SpanftError(
                    "The pipeline predicts no categories, entities or spans. To see "
                    "the spans of a span_segmenter, use `spanft segment`."
                )
            shape = _shape(result)
            if problem := _problem(row, result, shape, prefix):
                where = f"Row {row.number} of {shown(source.path)}"
                raise SpanftError(f"{where}: {problem}")
            return shape
    raise SpanftError(
        f"None of the first {len(results)} rows of {shown(source.path)} can be "
        f"predicted. Row {part[0].number}: {results[0]}"
    )


def _shape(annotations: Annotations) -> Shape:
    return {
        name: sorted(value) if isinstance(value, dict) else None
        for name, value in annotations.items()
    }


def _examples(shape: Shape) -> Annotations:
    """Return a value of each column, for its type in Parquet."""
    span = {"start": 0, "end": 0, "label": ""}
    examples = {
        "label": "",
        "cats": dict.fromkeys(shape.get("cats") or (), 0.0),
        "ents": [span],
        "spans": {key: [{**span, "score": 0.0}] for key in shape.get("spans") or ()},
    }
    return {name: examples[name] for name in shape}


def _join(
    source: Source, parts: Parts, shape: Shape, prefix: str, failed: BinaryIO
) -> Iterator[list[dict[str, Any]]]:
    """Put predictions beside their rows; write the rows without one to `failed`."""
    for number, part in enumerate(read_parts(source)):
        results = parts.read(number, len(part))
        if results is None:
            raise SpanftError(
                f"Part {number} in {parts.folder} is damaged. Run the same command "
                f"again to redo it."
            )
        rows = []
        for row, result in zip(part, results, strict=True):
            if problem := _problem(row, result, shape, prefix):
                failure = {"row": row.number, "reason": problem, "cells": row.cells}
                failed.write(row_files.json_line(failure))
            else:
                added = {f"{prefix}{key}": result[key] for key in shape}
                rows.append({**row.cells, **added})
        yield rows


def _problem(
    row: Row, result: Annotations | str, shape: Shape, prefix: str
) -> str | None:
    """Return why a row cannot be in the output."""
    if isinstance(result, str):
        return result
    if _shape(result) != shape:
        return f"It got {_shape(result)}, and the first row {shape}."
    taken = sorted({f"{prefix}{name}" for name in shape} & set(row.cells))
    if taken:
        return f"It already has columns of these names: {listed(taken)}. Set --prefix."
    return None
