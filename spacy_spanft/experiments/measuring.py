"""Runs on the test data, each in its own process: answers, score, speed and memory."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple, TypeVar

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import minibatch

from ..errors import ComparisonError, listed, shown
from ..pipeline.span_segmenter import SpanSegmenter
from ..segmenters.ngram import NgramSegmenter
from ..util._compat import torch_module
from ..util.pipelines import load
from ..util.threads import exit_with_parent
from .metrics import NOTHING, Metric, metric_of
from .row_scores import Rows, Score
from .task_data import check_data, read_examples
from .written import is_written, read_predictions

Result = TypeVar("Result")
# Enough for libraries to choose their kernels, and for caches to fill.
_N_WARM_UP = 64
_MEGA = 1_000_000


class Setup(NamedTuple):
    """How runs are measured, with the arguments of `compare`.

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
    answers (list[str]): The prediction for each text, in words; `gold`: the right one.
    wrong (Optional[Rows]): Whether each answer is wrong; None for scores.
    spans (list[list[tuple[int, int]]]): The segmenter's spans in characters, by text.
    n_parameters (Optional[int]): The number of weights. This and what follows is None
        where it is not known, as for predictions in a file.
    words_per_second (Optional[float]): The speed of prediction, without tokenizer.
    peak_memory (Optional[float]): Of the process or its GPU, in MB.
    n_ngrams (Optional[int]): The size of the segmenter's dictionary.
    meaning (str): What the metric's name stands for, if that differs.
    """

    metric: str
    score: float
    rows: Rows
    score_of: Score
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


def run_in_subprocess(function: Callable[..., Result], *args: Any) -> Result:
    """Return the result of a function in a new process, which ends with this one."""
    context = get_context("spawn")
    with ProcessPoolExecutor(1, context, initializer=exit_with_parent) as pool:
        try:
            return pool.submit(function, *args).result()
        except BrokenProcessPool as error:
            raise ComparisonError(
                f"The process of {shown(args[0])} was killed, perhaps for lack of "
                f"memory."
            ) from error


class Predictions:
    """The predictions of a pipeline: batches of examples, to be iterated over once.

    n_parameters (Optional[int]): The number of weights; None for a file.
    seconds (Optional[float]): The time of the predictions so far; None for a file.
    """

    n_parameters: int | None = None
    seconds: float | None = None

    def __init__(self, path: str, setup: Setup):
        """Load the pipeline, or for a file of predictions the one that scores it."""
        check_data(setup.data)  # before anything is loaded
        self._path, self._setup = path, setup
        if is_written(path):
            path = setup.reference
            self.nlp = load(path, -1)
        else:
            self.nlp = load(path, setup.gpu_id)
            self.n_parameters, self.seconds = n_parameters(self.nlp), 0.0
        self.metric = metric_of(self.nlp, setup.metric, setup.positive_label, path)

    def __iter__(self) -> Iterator[list[Example]]:
        """Predict batch by batch, and add up the time in `seconds`."""
        examples = read_examples(self.nlp, self._setup.data)
        size = self.nlp.batch_size
        if self.seconds is None:
            examples = read_predictions(self._path, examples, self.metric)
            yield from minibatch(examples, size)
            return
        first = list(islice(examples, _N_WARM_UP))
        self._predict([example.predicted.copy() for example in first])
        for batch in minibatch(chain(first, examples), size):
            begin = time.perf_counter()
            docs = self._predict([example.predicted for example in batch])
            self.seconds += time.perf_counter() - begin
            pairs = zip(docs, batch, strict=True)
            yield [Example(doc, example.reference) for doc, example in pairs]

    def _predict(self, docs: list[Doc]) -> list[Doc]:
        docs = list(self.nlp.pipe(docs))
        if self._setup.gpu_id >= 0:
            import torch

            # It waits for CuPy's work as well.
            torch.cuda.synchronize(self._setup.gpu_id)
        return docs


class Ensemble:
    """Several pipelines as one: scores averaged, spans by majority.

    Weights and seconds are those of all; None if one of them is a file.
    """

    def __init__(self, paths: Sequence[str], setup: Setup):
        """Predict with one pipeline after the other; only their votes are kept."""
        self._data = setup.data
        self._votes: list[list[dict[str, Any]]] = []
        parameters, seconds = 0, 0.0
        for path in paths:
            member = Predictions(path, setup)
            docs = (example.predicted for batch in member for example in batch)
            self._votes.append(list(map(vote_of, docs)))
            parameters += member.n_parameters or 0
            seconds += member.seconds or 0.0
        self.nlp, self.metric = member.nlp, member.metric
        is_known = not any(map(is_written, paths))
        self.n_parameters = parameters if is_known else None
        self.seconds = seconds if is_known else None

    def __iter__(self) -> Iterator[list[Example]]:
        """Write the joint predictions batch by batch."""
        votes = zip(*self._votes, strict=True)
        pairs = zip(votes, read_examples(self.nlp, self._data), strict=True)
        examples = (Example(elect(e.predicted, vote), e.reference) for vote, e in pairs)
        yield from minibatch(examples, self.nlp.batch_size)


def vote_of(doc: Doc) -> dict[str, Any]:
    """Return the tokens of a Doc and the predictions on it."""
    groups = {"": doc.ents, **doc.spans}
    spans = {
        key: {(span.start, span.end, span.label_) for span in group}
        for key, group in groups.items()
    }
    words = hash(tuple(token.text for token in doc))
    return {"words": words, "cats": dict(doc.cats), "spans": spans}


def elect(doc: Doc, votes: Sequence[dict[str, Any]]) -> Doc:
    """Write the joint predictions on a Doc.

    Scores of labels are averaged. An entity, or a span of any group, stays if more than
    half of the votes have it, so that elected entities never overlap.
    """
    words = vote_of(doc)["words"]
    if any(vote["words"] != words for vote in votes):
        raise ComparisonError(
            f"The pipelines of an ensemble split a text into other tokens: "
            f"{shown(doc.text)}. Use pipelines with the same tokenizer."
        )
    labels = {label: 0 for vote in votes for label in vote["cats"]}
    doc.cats = {name: mean(v["cats"].get(name, 0.0) for v in votes) for name in labels}
    for key in {key: 0 for vote in votes for key in vote["spans"]}:
        counts = Counter(span for vote in votes for span in vote["spans"].get(key, ()))
        elected = [span for span, n in sorted(counts.items()) if 2 * n > len(votes)]
        spans = [Span(doc, start, end, label) for start, end, label in elected]
        if key:
            doc.spans[key] = spans
        else:
            doc.ents = spans
    return doc


def measure(paths: Sequence[str], setup: Setup) -> Measured:
    """Measure a pipeline or a file of predictions, or several of them as an ensemble.

    paths (Sequence[str]): The pipelines, by name or path, or the files.
    setup (Setup): How they are measured.
    """
    is_single = len(paths) == 1
    predictions = Predictions(paths[0], setup) if is_single else Ensemble(paths, setup)
    nlp, metric = predictions.nlp, predictions.metric
    segmenters = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, SpanSegmenter)]
    spans_key = segmenters[0].spans_key if segmenters else None
    rows, wrong, texts, spans = [], [], [], []
    answers: list[tuple[str, str]] = []
    labels, n_words = set[str](), 0
    for batch in predictions:
        rows.append(metric.rows(batch))
        wrong += [metric.wrong(batch)] if metric.wrong else []
        answers += [metric.answers(example) for example in batch]
        for example in batch:
            texts.append(example.predicted.text)
            group = example.predicted.spans.get(spans_key, []) if spans_key else []
            spans.append([(span.start_char, span.end_char) for span in group])
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
    )
    if predictions.seconds is None:
        return measured
    seed = nlp.config.interpolate().get("training", {}).get("seed")
    return measured._replace(
        n_parameters=predictions.n_parameters,
        words_per_second=n_words / max(predictions.seconds, 1e-9),
        peak_memory=peak_memory(setup.gpu_id),
        spans_per_doc=mean(map(len, spans)) if spans_key else None,
        n_ngrams=_n_ngrams(segmenters),
        seed=seed if is_single and isinstance(seed, int) else None,
    )


def _n_ngrams(segmenters: Sequence[SpanSegmenter]) -> int | None:
    """Return the size of the first segmenter's dictionary, if it has one."""
    inner = segmenters[0].segmenter if segmenters else None
    return len(inner.dictionary) if isinstance(inner, NgramSegmenter) else None


def _check_gold(
    gold: list[str], labels: set[str], metric: Metric, path: str, data: str
) -> None:
    """Raise for data without answers, or with labels that the pipeline cannot know."""
    if all(answer == NOTHING for answer in gold):
        raise ComparisonError(
            f"There is nothing to find in {data!r}: no text has the annotations that "
            f"{metric.name} needs."
        )
    if metric.labels and labels and not labels & set(metric.labels):
        raise ComparisonError(
            f"The data has the labels {listed(sorted(labels))}, and the pipeline "
            f"{path!r} knows none of them: {listed(sorted(metric.labels))}."
        )


def n_parameters(nlp: Language) -> int:
    """Count the weights of a pipeline, those of its transformer included."""
    total = 0
    for _, component in nlp.pipeline:
        model: Any = getattr(component, "model", None)
        for node in model.walk() if hasattr(model, "walk") else ():
            names = [name for name in node.param_names if node.has_param(name)]
            total += sum(node.get_param(name).size for name in names)
            total += sum(
                w.numel() for s in node.shims for w in torch_module(s).parameters()
            )
    return total


def peak_memory(gpu_id: int) -> float | None:
    """Return the most memory that this process ever had.

    On a GPU thinc lets CuPy allocate through PyTorch once a transformer is loaded; what
    CuPy allocated before is in its own pool, which only grows.

    gpu_id (int): The GPU whose memory counts; -1 for the memory of the process.
    RETURNS (Optional[float]): MB; None where the system does not report it.
    """
    if gpu_id >= 0:
        import cupy
        import torch

        pool = cupy.get_default_memory_pool().total_bytes()
        return float((torch.cuda.max_memory_allocated(gpu_id) + pool) / _MEGA)
    try:
        import resource
    except ImportError:  # Windows
        return None
    status = Path("/proc/self/status")
    if status.exists():  # on Linux, what getrusage says begins with the parent's peak
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(fields["VmHWM"].split()[0]) * 1024 / _MEGA
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak / _MEGA if sys.platform == "darwin" else peak * 1024 / _MEGA)
