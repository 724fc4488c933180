"""Runs on the test data, each in its own process: answers, score, speed and memory."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from math import prod
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple, TypeVar

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.util import minibatch

from ..errors import SpanftError, listed, shown, warn
from ..ml.parameter_groups import models, weights_of
from ..pipeline.span_segmenter import SpanSegmenter
from ..training.gold import PLACE
from ..util.pipelines import load
from ..util.threads import IN_SCRIPT, exit_with_parent
from .metrics import NOTHING, Metric, Rows, Score, metric_of
from .task_data import read_examples

Result = TypeVar("Result")
# Enough for libraries to choose their kernels, and for caches to fill.
_N_WARM_UP = 64
_MEGA = 1_000_000


class Setup(NamedTuple):
    """How runs are measured, as `compare`; `reference` scores files of predictions."""

    data: str
    metric: str | None = None
    positive_label: str | None = None
    gpu_id: int = -1
    reference: str = ""
    columns: dict[str, str] = {}  # noqa: RUF012 (never written to)


class Measured(NamedTuple):
    """The results of a run. Of predictions in a file, the costs are None."""

    metric: str
    meaning: str
    score: float
    rows: Rows  # numbers of each Doc, of which `score_of` computes scores
    score_of: Score
    texts: list[str]
    answers: list[str]  # the prediction for each text, in words
    gold: list[str]  # the right one
    spans: list[list[tuple[int, int]]]  # the segmenter's, in characters
    places: list[str]  # where each text stands in its file: "Line 5", or "Text 4"
    labels: tuple[str, ...] = ()  # of a text classifier
    unknown: list[str] = []  # noqa: RUF012 (labels of the data it does not know)
    n_parameters: int | None = None
    words_per_second: float | None = None  # without the tokenizer
    peak_memory: float | None = None  # of the process or its GPU, in MB
    seed: int | None = None
    note: str = ""  # what training started from, if that was a probe


def run_in_subprocess(function: Callable[..., Result], *args: Any) -> Result:
    """Return the result of a function in a new process, which ends with this one."""
    context = get_context("spawn")
    with ProcessPoolExecutor(1, context, initializer=exit_with_parent) as pool:
        try:
            return pool.submit(function, *args).result()
        except BrokenProcessPool as error:
            raise SpanftError(
                f"The process of {shown(args[0])} was killed, perhaps for lack of "
                f"memory. {IN_SCRIPT}"
            ) from error


def is_written(path: str) -> bool:
    """Whether a path is a file of predictions, and not a pipeline."""
    return Path(path).suffix == ".spacy"


def measure(path: str | Sequence[str], setup: Setup) -> Measured:
    """Measure a pipeline, a file of predictions, or several pipelines as one."""
    is_pipeline = isinstance(path, str) and not is_written(path)
    nlp = load(str(path), setup.gpu_id) if is_pipeline else load(setup.reference, -1)
    metric = metric_of(nlp, setup.metric, setup.positive_label, str(path))
    examples = read_examples(nlp, setup.data, columns=setup.columns)
    if not is_pipeline:
        answered: Iterable[Example]
        if isinstance(path, str):
            answered = _with_predictions(path, examples, nlp)
        else:
            # Through a DocBin, so that the vocabulary knows the labels.
            joint = DocBin(docs=_elected(path, setup)).get_docs(nlp.vocab)
            answered = join(joint, examples)
        return scored(answered, nlp, metric, str(path), setup.data)
    clock = _Clock()
    answered = clock.predicted(nlp, examples, setup.gpu_id)
    measured = scored(answered, nlp, metric, str(path), setup.data)
    seed = nlp.config.interpolate().get("training", {}).get("seed")
    return measured._replace(
        n_parameters=n_parameters(nlp),
        words_per_second=clock.n_words / max(clock.seconds, 1e-9),
        peak_memory=peak_memory(setup.gpu_id),
        seed=seed if isinstance(seed, int) else None,
        note=_note_on(nlp),
    )


class _Clock:
    """Predicts examples, and counts the words and the seconds after a warm-up."""

    n_words, seconds = 0, 0.0

    def predicted(
        self, nlp: Language, examples: Iterator[Example], gpu_id: int
    ) -> Iterator[Example]:
        first = list(islice(examples, _N_WARM_UP))
        _predict(nlp, [example.predicted.copy() for example in first], gpu_id)
        for batch in minibatch(chain(first, examples), nlp.batch_size):
            begin = time.perf_counter()
            docs = _predict(nlp, [each.predicted for each in batch], gpu_id)
            self.seconds += time.perf_counter() - begin
            self.n_words += sum(map(len, docs))
            yield from join(docs, batch)


def scored(
    examples: Iterable[Example], nlp: Language, metric: Metric, path: str, data: str
) -> Measured:
    """Score answers, and keep them in words."""
    segmenters = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, SpanSegmenter)]
    rows, texts, spans, places = [], [], [], []
    answers: list[tuple[str, str]] = []
    gold_labels, predicted_labels = set[str](), set[str]()
    for batch in minibatch(examples, nlp.batch_size):  # Docs may hold large arrays
        rows.append(metric.rows(batch))
        answers += map(metric.answers, batch)
        for example in batch:
            doc = example.predicted
            texts.append(doc.text)
            line = example.reference.user_data.get(PLACE)
            places.append(line or f"Text {len(texts):,}")
            group = doc.spans.get(segmenters[0].spans_key, []) if segmenters else []
            spans.append([(span.start_char, span.end_char) for span in group])
            gold_labels.update(metric.labels_of(example.reference))
            predicted_labels.update(metric.labels_of(doc))
    gold = [right for right, _ in answers]
    predicted = predicted_labels if is_written(path) else None
    _check_labels(metric, path, data, gold, gold_labels, predicted)
    all_rows = np.concatenate(rows)
    return Measured(
        metric=metric.name,
        meaning=metric.meaning,
        score=metric.score(all_rows),
        rows=all_rows,
        score_of=metric.score,
        texts=texts,
        answers=[predicted for _, predicted in answers],
        gold=gold,
        spans=spans,
        places=places,
        labels=metric.labels,
        unknown=sorted(gold_labels.difference(metric.labels)) if metric.labels else [],
    )


def _note_on(nlp: Language) -> str:
    scores = [x for probe in nlp.meta.get("probe", {}).values() for x in probe.items()]
    if not scores:
        return ""
    named = ", ".join(f"{name} {100 * score:.1f}" for name, score in scores)
    note = f"starts from a linear probe of the encoder: {named} in cross-validation"
    start = nlp.config["initialize"]["after_init"] or {}
    learned = start.get("contrast")
    return f"{note}, and trains no spans" if learned else note


def _predict(nlp: Language, docs: list[Doc], gpu_id: int) -> list[Doc]:
    docs = list(nlp.pipe(docs))
    if gpu_id >= 0:
        import torch

        # It waits for CuPy's work as well.
        torch.cuda.synchronize(gpu_id)
    return docs


def join(docs: Iterable[Doc], examples: Iterable[Example]) -> list[Example]:
    """Return predictions beside what is right."""
    pairs = zip(docs, examples, strict=True)
    return [Example(doc, example.reference) for doc, example in pairs]


def _with_predictions(
    path: str, examples: Iterator[Example], nlp: Language
) -> Iterator[Example]:
    """Yield examples with the predictions in a file of Docs, in the same order.

    Empty texts have no prediction, and may be missing in the file.
    """
    docs = (example.reference for example in read_examples(nlp, path))
    written = filter(_has_text, docs)
    for number, example in enumerate(chain(examples, [None]), 1):
        if example is not None and not _has_text(example.reference):
            yield example
            continue
        doc, right = next(written, None), None if example is None else example.reference
        texts = [None if x is None else x.text for x in (doc, right)]
        if texts[0] != texts[1]:
            theirs, ours = ("missing" if x is None else shown(x) for x in texts)
            raise SpanftError(
                f"Text {number} of {path!r} is {theirs}, but must be that of the data, "
                f"{ours}, with the same characters."
            )
        if doc is not None and right is not None:
            yield Example(doc, right)


def _has_text(doc: Doc) -> bool:
    return bool(doc.text.strip())


def _elected(paths: Sequence[str], setup: Setup) -> Iterator[Doc]:
    """Yield the joint predictions of several pipelines."""
    predictions: list[list[Doc]] = []
    for path in paths:
        nlp = load(path, setup.gpu_id)
        examples = read_examples(nlp, setup.data, columns=setup.columns)
        predictions.append(list(nlp.pipe(example.predicted for example in examples)))
    return map(elect, zip(*predictions, strict=True))


def elect(docs: Sequence[Doc]) -> Doc:
    """Return a text with the mean score of each label, and the spans of the majority.

    Entities that more than half of the Docs have never overlap.
    """
    words = [token.text for token in docs[0]]
    if any([token.text for token in doc] != words for doc in docs):
        raise SpanftError(
            f"The pipelines of an ensemble split a text into other tokens: "
            f"{shown(docs[0].text)}. Use pipelines with the same tokenizer."
        )
    joint = Doc(docs[0].vocab, words, [bool(token.whitespace_) for token in docs[0]])
    labels = {label: None for doc in docs for label in doc.cats}
    joint.cats = {x: mean(doc.cats.get(x, 0.0) for doc in docs) for x in labels}
    joint.ents = _majority(joint, [doc.ents for doc in docs])
    for key in {key: None for doc in docs for key in doc.spans}:
        groups = [list(doc.spans.get(key, ())) for doc in docs]
        joint.spans[key] = _majority(joint, groups)
    return joint


def _majority(doc: Doc, groups: Sequence[Iterable[Span]]) -> list[Span]:
    keys = [{(x.start, x.end, x.label_) for x in group} for group in groups]
    counts = Counter(chain.from_iterable(keys))
    return [Span(doc, *key) for key, n in sorted(counts.items()) if 2 * n > len(keys)]


def check_texts(texts: Sequence[str], data: str) -> None:
    """Raise for data whose texts are all empty, and warn of some."""
    n_empty = sum(not text.strip() for text in texts)
    if n_empty == len(texts):
        raise SpanftError(f"All texts of {shown(data)} are empty.")
    if n_empty:
        share = f"{n_empty:,} of {len(texts):,}"
        warn(f"Empty texts of {shown(data)}, which have no prediction: {share}.")


def _check_labels(
    metric: Metric,
    path: str,
    data: str,
    right: Sequence[str],
    gold: Set[str],
    predicted: Set[str] | None,
) -> None:
    """Raise for data without annotations, and labels that have nothing in common."""
    if all(answer == NOTHING for answer in right):
        raise SpanftError(f"No text of {data!r} is annotated for {metric.name}.")
    known = {*metric.labels}
    if known and gold and not gold & known:
        raise SpanftError(
            f"The data has the labels {listed(sorted(gold))}, and the pipeline "
            f"{path!r} knows none of them: {listed(sorted(known))}."
        )
    known |= gold
    if predicted and not predicted & known:
        raise SpanftError(
            f"{path!r} predicts {listed(sorted(predicted))}, and the data has none of "
            f"these labels, but {listed(sorted(known))}. Rename them."
        )
    if predicted is not None and metric.labels and not predicted:
        raise SpanftError(f"No text of {path!r} has predictions.")


def warn_of_unknown(names: Sequence[str], data: str, who: str) -> None:
    """Warn of labels of the data that a classifier cannot predict."""
    if names:
        warn(
            f"{shown(data)} has labels that {who} never predicts: {listed(names)}. "
            "A text that has one is never right; scores of labels leave these out."
        )


def n_parameters(nlp: Language) -> int:
    """Count the weights of a pipeline, those of its transformer included."""
    weights = (x for model in models(nlp).values() for x in weights_of(model))
    return sum(prod(x.shape) for x in weights)


def peak_memory(gpu_id: int) -> float | None:
    """Return the most MB that this process ever had, or its GPU; None if unknown."""
    if gpu_id >= 0:
        import cupy
        import torch

        # Once a transformer is loaded, CuPy allocates through PyTorch; what it had
        # before is in its own pool, which only grows.
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
