"""One trained pipeline on the test data: what it says, how fast, how much memory."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from spacy.language import Language
from spacy.training import Example

from ...errors import ComparisonError, Errors
from ...util.processes import fresh_pool
from ..cost import n_parameters, peak_memory
from ..hook import SpanSegmenter, n_ngrams_of, segmenter_of, spans_of
from ..metrics.categories import check_labels
from ..metrics.choice import metric_of
from ..metrics.scoring import NOTHING, Metric, Rows
from .predicting import Predictions
from .written import WrittenPredictions, is_written

Result = TypeVar("Result")


class Setup(NamedTuple):
    """What all pipelines are measured with.

    data (str): The test data: DocBins, or what the pipeline's own dev corpus reads.
    metric (Optional[str]): The metric; None for the pipeline's own.
    positive_label (Optional[str]): The positive label, for cats_f1.
    gpu_id (int): The GPU; -1 for the CPU.
    reference (str): The pipeline that says how predictions in files are scored.
    """

    data: str
    metric: str | None = None
    positive_label: str | None = None
    gpu_id: int = -1
    reference: str = ""


class Measured(NamedTuple):
    """What was found.

    rows (Rows): What there is to say of each Doc.
    score_of (Callable[[Rows], float]): Makes a score of such rows.
    right (Optional[Rows]): Which Docs have the right label, where they have one.
    answers (list[str]): What was predicted for each text, in words.
    n_parameters (Optional[int]): The number of weights. This and what follows is None
        where it is not known, as of predictions in a file.
    words_per_second (Optional[float]): Of prediction, tokenizer excluded.
    peak_memory (Optional[float]): Of the process that predicts, in MB; of the GPU, if
        it does.
    spans_per_doc (Optional[float]): How many spans the segmenter found on average.
    spans (list[list[tuple[int, int]]]): Where they begin and end in each text, in
        characters; none without a segmenter.
    gold (list[str]): The right answer for each text, in words.
    n_ngrams (Optional[int]): How many n-grams the segmenter's dictionary has, if it is
        an NgramSegmenter.
    wrong (Optional[Rows]): Which Docs have a wrong answer, where neither `right` nor
        counts in the rows tell.
    meaning (str): What the metric's name stands for, if that differs.
    seed (Optional[int]): The seed that it was trained with, if it says that.
    component (str): The component whose metric it is.
    """

    metric: str
    score: float
    rows: Rows
    score_of: Callable[[Rows], float]
    right: Rows | None
    texts: list[str]
    answers: list[str]
    n_parameters: int | None
    words_per_second: float | None
    peak_memory: float | None
    spans_per_doc: float | None
    spans: list[list[tuple[int, int]]]
    gold: list[str]
    n_ngrams: int | None
    wrong: Rows | None = None
    meaning: str = ""
    seed: int | None = None
    component: str = ""


def measure_in_subprocess(path: str, setup: Setup) -> Measured:
    """Measure a pipeline in a process of its own, whose memory nobody else uses.

    path (str): The pipeline, by name or path.
    setup (Setup): What it is measured with.
    RETURNS (Measured): What was found.
    """
    return run_in_subprocess(measure, path, setup)


def run_in_subprocess(function: Callable[..., Result], *args: Any) -> Result:
    """Call a function in a process of its own.

    function (Callable[..., Result]): The function.
    *args (Any): What it is called with.
    RETURNS (Result): What it returns; `BrokenProcessPool` is raised if it is killed.
    """
    with fresh_pool() as pool:
        return pool.submit(function, *args).result()


def measure(path: str, setup: Setup) -> Measured:
    """Measure a pipeline in this process.

    path (str): The pipeline, by name or path.
    setup (Setup): What it is measured with.
    RETURNS (Measured): What was found.
    """
    predictions = open_predictions(path, setup)
    nlp = predictions.nlp
    told = describe(predictions, nlp, path, setup, lambda: predictions.seconds)
    return without_pipeline(told) if is_written(path) else told


def open_predictions(path: str, setup: Setup) -> Predictions | WrittenPredictions:
    """Load a pipeline, or find the predictions that a file has.

    path (str): The pipeline, by name or path, or the file.
    setup (Setup): What it is measured with.
    """
    data, metric, positive_label, gpu_id, reference = setup
    if is_written(path):
        return WrittenPredictions(path, data, reference, metric, positive_label)
    return Predictions(path, data, gpu_id)


def without_pipeline(told: Measured) -> Measured:
    """Leave out what only a pipeline has.

    told (Measured): What was found of predictions in a file.
    RETURNS (Measured): What can be said of them.
    """
    return told._replace(
        n_parameters=None,
        words_per_second=None,
        peak_memory=None,
        spans_per_doc=None,
        n_ngrams=None,
        seed=None,
    )


def describe(
    batches: Iterable[list[Example]],
    nlp: Language,
    path: str,
    setup: Setup,
    seconds: Callable[[], float],
) -> Measured:
    """Score predictions, and say what is to be said of them.

    batches (Iterable[list[Example]]): The predictions.
    path (str): Its name or path.
    setup (Setup): What they are scored with.
    seconds (Callable[[], float]): Says how long they took, once all have come.
    RETURNS (Measured): What was found.
    """
    metric = metric_of(nlp, setup.metric, setup.positive_label, path)
    segmenter = segmenter_of(nlp)
    made = _Made()
    for batch in batches:
        made.add(batch, metric, segmenter)
    if all(gold == NOTHING for gold, _ in made.words):
        about = {"path": setup.data, "metric": metric.name}
        raise ComparisonError(Errors.NO_GOLD.format(**about))
    if metric.labels:
        check_labels(made.labels, metric.labels, path)
    rows = np.concatenate(made.rows)
    n_spans = [len(found) for found in made.spans]
    return Measured(
        metric=metric.name,
        score=metric.score(rows),
        rows=rows,
        score_of=metric.score,
        right=np.concatenate(made.right) if made.right else None,
        texts=made.texts,
        answers=[guess for _, guess in made.words],
        n_parameters=n_parameters(nlp),
        words_per_second=made.n_words / max(seconds(), 1e-9),
        peak_memory=peak_memory(setup.gpu_id),
        spans_per_doc=None if segmenter is None else float(np.mean(n_spans)),
        spans=made.spans,
        gold=[gold for gold, _ in made.words],
        n_ngrams=n_ngrams_of(segmenter),
        wrong=np.concatenate(made.wrong) if made.wrong else None,
        meaning=metric.meaning,
        seed=_seed(nlp),
        component=metric.component,
    )


class _Made:
    """What is kept of predictions; the Docs are not."""

    def __init__(self) -> None:
        self.rows: list[Rows] = []
        self.right: list[Rows] = []
        self.wrong: list[Rows] = []
        self.texts: list[str] = []
        self.words: list[tuple[str, str]] = []
        self.spans: list[list[tuple[int, int]]] = []
        self.labels: set[str] = set()
        self.n_words = 0

    def add(
        self, batch: list[Example], metric: Metric, segmenter: SpanSegmenter | None
    ) -> None:
        self.rows.append(metric.rows(batch))
        if metric.right is not None:
            self.right.append(metric.right(batch))
        if metric.wrong is not None:
            self.wrong.append(metric.wrong(batch))
        self.words += [metric.words(example) for example in batch]
        for example in batch:
            doc, cats = example.predicted, example.reference.cats
            self.texts.append(doc.text)
            self.spans.append(spans_of(doc, segmenter))
            self.labels.update(label for label, value in cats.items() if value)
            self.n_words += len(doc)


def _seed(nlp: Language) -> int | None:
    seed = nlp.config.interpolate().get("training", {}).get("seed")
    return seed if isinstance(seed, int) else None
