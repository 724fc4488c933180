"""One trained pipeline on the test data: what it says, how fast, how much memory."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example
from spacy.util import load_model, registry
from thinc.api import require_gpu

from ..errors import ComparisonError, Errors
from ..processes import fresh_pool
from ..segmenters.ngram import NgramSegmenter
from ..span_segmenter import SpanSegmenter
from .metrics import metric_of
from .scoring import NOTHING, Rows

_MEGA = 1_000_000


class Setup(NamedTuple):
    """What all pipelines are measured with.

    data (str): The test data: DocBins, or what the pipeline's own dev corpus reads.
    metric (Optional[str]): The metric; None for the pipeline's own.
    positive_label (Optional[str]): The positive label, for cats_f1.
    gpu_id (int): The GPU; -1 for the CPU.
    """

    data: str
    metric: str | None = None
    positive_label: str | None = None
    gpu_id: int = -1


class Measured(NamedTuple):
    """What was found.

    metric (str): The metric.
    score (float): The score.
    rows (Rows): What there is to say of each Doc.
    score_of (Callable[[Rows], float]): Makes a score of such rows.
    right (Optional[Rows]): Which Docs have the right label, where they have one.
    texts (list[str]): The texts.
    answers (list[str]): What was predicted for each text, in words.
    n_parameters (int): The number of weights.
    words_per_second (float): Of prediction, tokenizer excluded.
    peak_memory (float): Of the process that predicts, in MB; of the GPU, if it does.
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
    """

    metric: str
    score: float
    rows: Rows
    score_of: Callable[[Rows], float]
    right: Rows | None
    texts: list[str]
    answers: list[str]
    n_parameters: int
    words_per_second: float
    peak_memory: float | None
    spans_per_doc: float | None
    spans: list[list[tuple[int, int]]]
    gold: list[str]
    n_ngrams: int | None
    wrong: Rows | None = None
    meaning: str = ""
    seed: int | None = None


class Predicted(NamedTuple):
    """What a pipeline said.

    path (str): The pipeline, by name or path.
    nlp (Language): The pipeline.
    examples (list[Example]): The Docs with its predictions, beside the right ones.
    seconds (float): How long it took.
    """

    path: str
    nlp: Language
    examples: list[Example]
    seconds: float


def measure_alone(path: str, setup: Setup) -> Measured:
    """Measure a pipeline in a process of its own, whose memory nobody else uses.

    path (str): The pipeline, by name or path.
    setup (Setup): What it is measured with.
    RETURNS (Measured): What was found.
    """
    return alone(measure, path, setup)


def alone(function: Callable[..., Measured], *args: Any) -> Measured:
    """Call a function in a process of its own.

    function (Callable[..., Measured]): The function.
    *args (Any): What it is called with.
    RETURNS (Measured): What it returns; `BrokenProcessPool` is raised if it is killed.
    """
    with fresh_pool() as pool:
        return pool.submit(function, *args).result()


def measure(path: str, setup: Setup) -> Measured:
    """Measure a pipeline in this process.

    path (str): The pipeline, by name or path.
    setup (Setup): What it is measured with.
    RETURNS (Measured): What was found.
    """
    return describe(predict(path, setup), setup)


def predict(path: str, setup: Setup) -> Predicted:
    """Let a pipeline predict the data.

    path (str): The pipeline, by name or path.
    setup (Setup): What it is measured with.
    RETURNS (Predicted): What it said.
    """
    nlp = _load(path, setup.gpu_id)
    examples = _read(nlp, setup.data)
    if not examples:
        raise ComparisonError(Errors.NO_ROWS.format(source=repr(setup.data)))
    begin = time.perf_counter()
    docs = list(nlp.pipe(example.predicted for example in examples))
    seconds = time.perf_counter() - begin
    made = [
        Example(doc, example.reference)
        for doc, example in zip(docs, examples, strict=True)
    ]
    return Predicted(path, nlp, made, seconds)


def describe(predicted: Predicted, setup: Setup) -> Measured:
    """Score predictions, and say what is to be said of them.

    predicted (Predicted): The predictions.
    setup (Setup): What they are scored with.
    RETURNS (Measured): What was found.
    """
    path, nlp, examples, seconds = predicted
    metric = metric_of(nlp, setup.metric, setup.positive_label, path)
    docs = [example.predicted for example in examples]
    rows = metric.rows(examples)
    words = [metric.words(example) for example in examples]
    if all(gold == NOTHING for gold, _ in words):
        about = {"path": setup.data, "metric": metric.name}
        raise ComparisonError(Errors.NO_GOLD.format(**about))
    segmenter = _segmenter(nlp)
    spans = [_spans(doc, segmenter) for doc in docs]
    return Measured(
        metric.name,
        metric.score(rows),
        rows,
        metric.score,
        None if metric.right is None else metric.right(examples),
        [doc.text for doc in docs],
        [guess for _, guess in words],
        n_parameters(nlp),
        sum(map(len, docs)) / max(seconds, 1e-9),
        peak_memory(setup.gpu_id),
        None if segmenter is None else float(np.mean([len(found) for found in spans])),
        spans,
        [gold for gold, _ in words],
        _n_ngrams(segmenter),
        None if metric.wrong is None else metric.wrong(examples),
        metric.meaning,
        _seed(nlp),
    )


def _load(path: str, gpu_id: int) -> Language:
    try:
        if gpu_id >= 0:
            require_gpu(gpu_id)
        return load_model(path)
    except (OSError, ImportError, ValueError) as error:
        reason = str(error).strip()
        raise ComparisonError(
            Errors.NO_MODEL.format(name=path, reason=reason)
        ) from error


def _read(nlp: Language, data: str) -> list[Example]:
    corpus = _corpus(nlp, data)
    try:
        return list(corpus(nlp))
    except Exception as error:  # whatever zlib and msgpack say of a broken file
        if not isinstance(corpus, Corpus):
            raise
        raise ComparisonError(Errors.BAD_DATA.format(path=data)) from error


def _corpus(nlp: Language, data: str) -> Any:
    """Read DocBins, or anything else as the pipeline's own dev data was read."""
    path = Path(data)
    if not data or not is_there(data):
        raise ComparisonError(Errors.NOT_FOUND.format(path=data, cwd=str(Path.cwd())))
    if path.is_dir() and next(path.rglob("*.spacy"), None) is None:
        raise ComparisonError(Errors.NO_DOCBINS.format(path=data))
    if path.is_dir() or path.suffix == ".spacy":
        return Corpus(path)
    block = dict(nlp.config.interpolate().get("corpora", {}).get("dev", {}))
    if block.get("@readers", "spacy.Corpus.v1") == "spacy.Corpus.v1":
        raise ComparisonError(Errors.NOT_DOCBINS.format(path=data))
    found: Any = registry.resolve({"corpus": {**block, "path": data}})["corpus"]
    return found


def is_there(path: str) -> bool:
    """Say whether a path exists, whatever it looks like.

    path (str): The path.
    RETURNS (bool): Whether it exists; not if it cannot be the name of a file.
    """
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # too long, or with a zero byte
        return False


def n_parameters(nlp: Language) -> int:
    """Count the weights of a pipeline, of its transformer too.

    nlp (Language): The pipeline.
    RETURNS (int): Their number.
    """
    total = 0
    for _, component in nlp.pipeline:
        model: Any = getattr(component, "model", None)
        for node in model.walk() if hasattr(model, "walk") else ():
            names = [name for name in node.param_names if node.has_param(name)]
            total += sum(node.get_param(name).size for name in names)
            total += sum(w.numel() for s in node.shims for w in s._model.parameters())
    return total


def peak_memory(gpu_id: int) -> float | None:
    """Find out the most memory that this process ever had.

    gpu_id (int): The GPU whose memory counts; -1 for that of the process.
    RETURNS (Optional[float]): MB; None where the system does not say.
    """
    if gpu_id >= 0:
        import torch

        return float(torch.cuda.max_memory_allocated(gpu_id) / _MEGA)
    try:
        import resource
    except ImportError:  # Windows
        return None
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak / _MEGA if sys.platform == "darwin" else peak * 1024 / _MEGA)


def _seed(nlp: Language) -> int | None:
    seed = nlp.config.interpolate().get("training", {}).get("seed")
    return seed if isinstance(seed, int) else None


def _segmenter(nlp: Language) -> SpanSegmenter | None:
    components: Any = nlp.pipeline
    found = (one for _, one in components if isinstance(one, SpanSegmenter))
    return next(found, None)


def _spans(doc: Doc, segmenter: SpanSegmenter | None) -> list[tuple[int, int]]:
    if segmenter is None:
        return []
    return [(s.start_char, s.end_char) for s in doc.spans[segmenter.spans_key]]


def _n_ngrams(segmenter: SpanSegmenter | None) -> int | None:
    cutter = None if segmenter is None else segmenter.segmenter
    return len(cutter.dictionary) if isinstance(cutter, NgramSegmenter) else None
