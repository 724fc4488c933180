"""Predict all rows of a file, part by part, and resume what was interrupted."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from functools import lru_cache, partial
from hashlib import sha256
from itertools import chain, cycle, islice
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import import_file
from tqdm import tqdm

from ..configs.sources import table_columns
from ..errors import SpanftError, shown
from ..ml.pairs import SEPARATOR
from ..util import SEGMENTER, WRITER
from ..util.columns import find_columns
from ..util.files import check_source, check_target, digest_of
from ..util.gpu import CPU
from ..util.pipelines import load
from ..util.tables import Format, columns_of, format_of
from ..util.threads import connect_ray, obey_parent, results_in_order
from . import row_files
from .parts import Parts
from .row_files import PREFIX, Shape, Source, read_parts
from .saved_pipeline import Saved, read_saved

# The predictions for a text by column, in the words of `Doc.to_json`, or the "error".
Annotations: TypeAlias = dict[str, Any]
# The number of a part, and of each row its text, and why it has none.
Batch: TypeAlias = tuple[int, list[tuple[str, str]]]
# Annotates parts, in their order.
Run: TypeAlias = Callable[[Iterable[Batch]], Iterator[tuple[int, list[Annotations]]]]
_NOTHING = "The pipeline predicts no categories, entities or spans."


class Predicted(NamedTuple):
    """The number of rows, and of those without a prediction."""

    n_rows: int
    n_failures: int


def find_source(
    model: str,
    path: str,
    *,
    text: str | None = None,
    text_pair: str | None = None,
    separator: str | None = None,
    prefix: str = "",
    format: Format | None = None,
    **how: Any,
) -> Source:
    """Return how to read the input of `predict`; columns that are not named are found.

    separator (Optional[str]): Between the texts of a pair; None takes the pipeline's.
    prefix (str): A prefix for the names of predicted columns; by default "", or
        "predicted_" if the input has such columns itself.
    """
    check_source(path)
    saved = read_saved(model)
    given = {"text": text, "text_pair": text_pair}
    typed = {key: name for key, name in given.items() if name is not None}
    usual = table_columns(saved.config)
    if saved.separator is None:
        usual.pop("text_pair", None)
    else:
        usual.setdefault("text_pair", "")
    is_text = ".txt" in Path(path.lower()).suffixes  # compressed or not
    format = format or format_of(path) or ("txt" if is_text else None)
    how |= {"format": format, "broken": "keep"}
    columns = find_columns(path, typed, usual, **how)
    text, text_pair = columns["text"], columns.get("text_pair")
    separator = separator or saved.separator or SEPARATOR
    _check_pairs(saved, None if text_pair is None else separator)
    names = columns_of(path, **how)
    if not prefix and any(map(row_files.is_own, names)):
        prefix = PREFIX
    source = Source(path, text, text_pair, separator, prefix, how)
    row_files.check_names(names, source)
    return source


def predict(
    model: str,
    input_path: str,
    output: str | Path,
    *,
    force: bool = False,
    engine: Literal["local", "ray"] = "local",
    n_process: int = 1,
    address: str | None = None,
    gpu_ids: Sequence[int] = (CPU,),
    code: str | None = None,
    progress: bool = False,
    **columns: Any,
) -> Predicted:
    """Predict all rows of a file, in their order.

    A row that gets none has the reason in the column `error`. Finished parts stay in
    the folder OUTPUT.parts until all are done, so that the same call resumes after any
    interruption; if the pipeline, the input or a setting has changed, it starts over.
    With several processes, a script must call this below `if __name__ == "__main__":`.

    model (str): The pipeline, by name or path.
    input_path (str): Parquet, JSONL, CSV, TSV, or text with one text a line.
    output (Union[str, Path]): The file to write: .csv, .jsonl or .parquet.
    address (Optional[str]): The address of a Ray cluster, HOST:PORT.
    gpu_ids (Sequence[int]): The GPUs, for one process each; (-1,) for the CPU.
    code (Optional[str]): A Python file that registers what the pipeline needs.
    **columns: text, text_pair, separator, format, errors, encoding and prefix, as the
        options of `spanft predict`.
    """
    target = Path(output)
    for path in filter(None, (input_path, code)):
        check_source(path)
    check_target(target, [input_path], force=force or Parts(target).is_begun)
    if target.suffix not in (".csv", ".jsonl", ".parquet"):
        raise SpanftError(f"{str(target)!r} must end in .csv, .jsonl or .parquet.")
    source, saved = find_source(model, input_path, **columns), read_saved(model)
    if saved.folder.resolve() in target.resolve().parents:  # which would change it
        raise SpanftError(f"{str(target)!r} is in the pipeline's folder. Name another.")
    if target.suffix == ".parquet" and source.how["format"] == "jsonl":
        raise SpanftError(
            "Columns of JSONL may have several types. Name a .jsonl or .csv output."
        )
    gpus = list(gpu_ids)
    if gpus == [CPU] or engine == "ray":
        gpus = gpus[:1] * max(n_process, len(gpus))
    input_digest = digest_of(Path(input_path))
    code_digest = code and digest_of(Path(code))
    facts = [digest_of(saved.folder), input_digest, code_digest, source[1:]]
    parts = Parts(target, sha256(json.dumps(facts).encode()).hexdigest())
    check_target(target, [input_path], force=force or parts.is_begun)
    with parts.opened():
        try:
            with _workers(engine, model, code, gpus, address) as run:
                predicted, shape, names = _predict_parts(source, run, parts, progress)
        finally:
            load_once.cache_clear()  # the next run may have another of that name
        if digest_of(Path(input_path)) != input_digest:
            raise SpanftError(
                f"{shown(input_path)} was changed while it was predicted. Start again."
            )
        row_files.write_rows(target, _rows(source, parts), source, names, shape)
        parts.remove()
    return predicted


def _check_pairs(saved: Saved, separator: str | None) -> None:
    """Raise if a pipeline for pairs gets single texts, or the other way around."""
    if separator != saved.separator:
        options = f"--text-pair COLUMN --separator {saved.separator}"
        right = "without --text-pair" if saved.separator is None else f"with {options}"
        kind = "single texts" if saved.separator is None else "pairs of texts"
        name = shown(str(saved.folder))
        raise SpanftError(f"{name} is a pipeline for {kind}: run it {right}.")


def annotate(
    model: str, code: str | None, gpu_id: int, batch: Batch
) -> tuple[int, list[Annotations]]:
    """Return the number of a part, and what each of its rows gets."""
    nlp, (number, rows) = load_once(model, code, gpu_id), batch
    with nlp.memory_zone():
        texts = [text for text, problem in rows if not problem]
        results = iter(_annotate(nlp, texts))
        return number, [
            {"error": problem} if problem else next(results) for _, problem in rows
        ]


@lru_cache(maxsize=1)
def load_once(model: str, code: str | None, gpu_id: int) -> Language:
    """Load a pipeline and keep it in this process."""
    if code is not None:
        import_file("python_code", code)
    return load(model, gpu_id)


def _annotate(nlp: Language, texts: Sequence[str]) -> list[Annotations]:
    try:
        return [_annotations_of(doc, nlp) for doc in nlp.pipe(texts)]
    except Exception as error:
        if len(texts) == 1:
            reason = " ".join(str(error).split())
            return [{"error": f"{type(error).__name__}: {reason}"}]
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
    engine: Literal["local", "ray"],
    model: str,
    code: str | None,
    gpus: list[int],
    address: str | None,
) -> Iterator[Run]:
    """Work in this process, in one for each of several GPUs or cores, or on Ray."""
    n_ahead = 2 * len(gpus) - 2  # each worker has one batch, and one waits
    if engine == "ray":
        # Ray shows each task its own GPU only, as number 0.
        gpu_id = min(gpus[0], 0)
        with connect_ray(address, len(gpus)) as ray:
            # With max_calls=0, a worker keeps its GPU and the pipeline on it.
            task = ray.remote(num_gpus=gpu_id + 1, max_calls=0)(annotate)
            yield lambda batches: results_in_order(
                lambda batch: task.remote(model, code, gpu_id, batch).future(),
                batches,
                n_ahead,
            )
        return
    if len(gpus) == 1:
        yield lambda batches: map(partial(annotate, model, code, gpus[0]), batches)
        return
    context, others = get_context("spawn"), set(active_children())
    pools = [ProcessPoolExecutor(1, context, obey_parent) for _ in gpus]
    workers = cycle(zip(pools, gpus, strict=True))

    def submit(batch: Batch) -> "Future[tuple[int, list[Annotations]]]":
        pool, gpu_id = next(workers)
        return pool.submit(annotate, model, code, gpu_id, batch)

    try:
        yield lambda batches: results_in_order(submit, batches, n_ahead)
    except BaseException:
        for process in set(active_children()) - others:
            process.terminate()
        raise
    finally:
        for pool in pools:
            pool.shutdown(cancel_futures=True)


def _predict_parts(
    source: Source, run: Run, parts: Parts, progress: bool
) -> tuple[Predicted, Shape, list[str]]:
    """Predict the parts that are missing; return all columns, too."""
    n_rows, n_failures, shape = 0, 0, Shape()
    names: dict[str, None] = {}  # in their order
    first: list[tuple[int, int]] = []  # a part, and a row of it: the first with a text

    def count(results: list[Annotations]) -> None:
        nonlocal n_rows, n_failures
        n_rows += len(results)
        n_failures += sum("error" in result for result in results)
        for result in results:
            for name, value in result.items():
                keys = value if isinstance(value, dict) else ()
                shape.setdefault(name, set()).update(keys)
        bar.update(len(results))

    def missing() -> Iterator[Batch]:
        for number, part in enumerate(read_parts(source)):
            names.update(dict.fromkeys(x for cells, _, _ in part for x in cells))
            results = parts.read(number)
            if results is None:
                if not first:
                    rows = (i for i, (*_, problem) in enumerate(part) if not problem)
                    first.extend((number, i) for i in islice(rows, 1))
                yield number, [(text, problem) for _, text, problem in part]
            else:
                count(results)

    with tqdm(desc="Predicting", unit=" rows", disable=not progress) as bar:
        for number, results in run(missing()):
            is_first = bool(first) and first[0][0] == number
            if is_first and {"error"}.issuperset(chain(shape, *results)):
                reason = results[first[0][1]].get("error", _NOTHING)
                raise SpanftError(
                    f"None of the first {n_rows + len(results)} rows of "
                    f"{shown(source.path)} gets a prediction. {reason}"
                )
            parts.write(number, results)
            count(results)
    if not n_rows:
        raise SpanftError(f"{shown(source.path)} has no rows.")
    return Predicted(n_rows, n_failures), shape, list(names)


def _rows(source: Source, parts: Parts) -> Iterator[dict[str, Any]]:
    """Yield the rows with their predictions."""
    for number, part in enumerate(read_parts(source)):
        results = parts.read(number) or ()
        for (cells, _, _), result in zip(part, results, strict=True):
            added = {f"{source.prefix}{key}": v for key, v in result.items()}
            yield {**cells, **added}
