"""One arm's run on the test data: answers, score, speed and memory."""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from typing import Any, NamedTuple, TypeVar

import numpy as np
from spacy.language import Language

from ...errors import ComparisonError, listed
from ..cost import peak_memory
from ..hook import n_ngrams_of, segmenter_of, spans_of
from ..metrics.choice import metric_of
from ..metrics.scoring import Metric, Rows
from .ensemble import Ensemble
from .predicting import Predictions
from .written import WrittenPredictions, is_written

Result = TypeVar("Result")


class Setup(NamedTuple):
    """How runs are measured.

    data (str): The test data: DocBins, or what the pipeline's own dev corpus reads.
    metric (Optional[str]): The metric; None for the pipeline's own.
    positive_label (Optional[str]): The positive label, for cats_f1.
    gpu_id (int): The GPU; -1 for the CPU.
    reference (str): The pipeline that determines how files of predictions are scored.
    """

    data: str
    metric: str | None = None
    positive_label: str | None = None
    gpu_id: int = -1
    reference: str = ""


class Measured(NamedTuple):
    """The results of a run.

    rows (Rows): A row of numbers for each Doc, of which `score_of` computes scores.
    texts (list[str]): The texts.
    answers (list[str]): The prediction for each text, in words.
    gold (list[str]): The right answers, in words.
    wrong (Optional[Rows]): Whether each answer is wrong; None for scores.
    spans (list[list[tuple[int, int]]]): The segmenter's spans in characters, by text.
    n_parameters (Optional[int]): The number of weights. This and what follows is None
        where it is not known, as for predictions in a file.
    words_per_second (Optional[float]): The speed of prediction, without tokenizer.
    peak_memory (Optional[float]): Of the process or its GPU, in MB.
    spans_per_doc (Optional[float]): The mean number of the segmenter's spans.
    n_ngrams (Optional[int]): The size of the segmenter's dictionary.
    seed (Optional[int]): The seed that it was trained with.
    meaning (str): What the metric's name stands for, if that differs.
    component (str): The component whose metric it is.
    """

    metric: str
    score: float
    rows: Rows
    score_of: Callable[[Rows], float]
    texts: list[str]
    answers: list[str]
    gold: list[str]
    wrong: Rows | None
    spans: list[list[tuple[int, int]]]
    n_parameters: int | None = None
    words_per_second: float | None = None
    peak_memory: float | None = None
    spans_per_doc: float | None = None
    n_ngrams: int | None = None
    seed: int | None = None
    meaning: str = ""
    component: str = ""


def measure_in_subprocess(paths: Sequence[str], setup: Setup) -> Measured:
    """Measure in a process of its own, whose memory nothing else uses."""
    return run_in_subprocess(measure, paths, setup)


def run_in_subprocess(function: Callable[..., Result], *args: Any) -> Result:
    """Call a function in a new process.

    RETURNS (Result): Its result; `BrokenProcessPool` is raised if it is killed.
    """
    context = get_context("spawn")
    with ProcessPoolExecutor(1, context, initializer=_exit_with_parent) as pool:
        return pool.submit(function, *args).result()


def _exit_with_parent() -> None:
    """Exit once the parent process is gone, even if it was killed."""
    parent = parent_process()
    if parent is not None:
        ends = [parent.sentinel]
        threading.Thread(target=lambda: wait(ends) and os._exit(1), daemon=True).start()


def open_predictions(path: str, setup: Setup) -> Predictions | WrittenPredictions:
    """Load a pipeline, or a file of predictions."""
    if is_written(path):
        metric = setup.metric, setup.positive_label
        return WrittenPredictions(path, setup.data, setup.reference, *metric)
    return Predictions(path, setup.data, setup.gpu_id)


def measure(paths: Sequence[str], setup: Setup) -> Measured:
    """Measure a pipeline or a file of predictions, or several of them as an ensemble.

    paths (Sequence[str]): The pipelines, by name or path, or the files.
    setup (Setup): How they are measured.
    """
    predictions = (
        open_predictions(paths[0], setup)
        if len(paths) == 1
        else Ensemble(lambda path: open_predictions(path, setup), paths, setup.data)
    )
    nlp = predictions.nlp
    metric = metric_of(nlp, setup.metric, setup.positive_label, paths[0])
    segmenter = segmenter_of(nlp)
    rows, wrong, texts, spans = [], [], [], []
    answers: list[tuple[str, str]] = []
    labels, n_words = set[str](), 0
    for batch in predictions:
        rows.append(metric.rows(batch))
        wrong += [metric.wrong(batch)] if metric.wrong else []
        answers += [metric.answers(example) for example in batch]
        for example in batch:
            texts.append(example.predicted.text)
            spans.append(spans_of(example.predicted, segmenter))
            labels.update(label for label, x in example.reference.cats.items() if x)
            n_words += len(example.predicted)
    gold = [right for right, _ in answers]
    _check_gold(gold, labels, metric, paths[0], setup.data)
    all_rows = np.concatenate(rows)
    measured = Measured(
        metric=metric.name,
        score=metric.score(all_rows),
        rows=all_rows,
        score_of=metric.score,
        texts=texts,
        answers=[predicted for _, predicted in answers],
        gold=gold,
        wrong=np.concatenate(wrong) if wrong else None,
        spans=spans,
        meaning=metric.meaning,
        component=metric.component,
    )
    if predictions.seconds is None:
        return measured
    return measured._replace(
        n_parameters=predictions.n_parameters,
        words_per_second=n_words / max(predictions.seconds, 1e-9),
        peak_memory=peak_memory(setup.gpu_id),
        spans_per_doc=float(np.mean(list(map(len, spans)))) if segmenter else None,
        n_ngrams=n_ngrams_of(segmenter),
        seed=_seed(nlp) if len(paths) == 1 else None,
    )


def _check_gold(
    gold: list[str], labels: set[str], metric: Metric, path: str, data: str
) -> None:
    """Raise for data without answers, or with labels that the pipeline cannot know."""
    if all(answer == "nothing" for answer in gold):
        raise ComparisonError(
            f"There is nothing to find in {data!r}: no text has the annotations that "
            f"{metric.name} needs."
        )
    if metric.labels and labels and not labels & set(metric.labels):
        raise ComparisonError(
            f"The data has the labels {listed(sorted(labels))}, and the pipeline "
            f"{path!r} knows none of them: {listed(sorted(metric.labels))}."
        )


def _seed(nlp: Language) -> int | None:
    seed = nlp.config.interpolate().get("training", {}).get("seed")
    return seed if isinstance(seed, int) else None
