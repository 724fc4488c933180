"""Which metrics a pipeline has, and which of them is shown."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import spacy
from confection import Config
from spacy.language import Language

from ...errors import ComparisonError, Errors, Warnings
from . import categories as category_metrics
from . import spans as span_metrics
from .scoring import Metric, Scored

_OF_FACTORIES: dict[str, Callable[[Scored], list[Metric]]] = {
    "textcat": category_metrics.of_label,
    "textcat_multilabel": category_metrics.of_labels,
    "text_regressor": category_metrics.of_score,
    "ner": span_metrics.of_entities,
    "beam_ner": span_metrics.of_entities,
    "bilou_ner": span_metrics.of_entities,
    "spancat": span_metrics.of_spans,
    "spancat_singlelabel": span_metrics.of_spans,
}


def metric_of(
    nlp: Language,
    name: str | None = None,
    positive: str | None = None,
    path: str = "",
) -> Metric:
    """Choose the metric of a pipeline.

    name (Optional[str]): The name of a metric; None takes what counts most in the
        pipeline's own [training.score_weights].
    positive (Optional[str]): The positive label, for cats_f1.
    path (str): What the pipeline is called in errors.
    """
    path = path or nlp.meta["name"]
    known = _metrics(nlp, positive, path)
    if name is None and known:
        name = _heaviest(nlp, known, path)
    return _chosen(known, name, path)


def check_metric(
    config: Config,
    labels: Sequence[str],
    name: str | None,
    positive: str | None,
    path: str,
) -> None:
    """Raise for a metric that a pipeline will not have once it is trained.

    config (Config): Its config, its variables filled in.
    labels (Sequence[str]): The labels that it will know.
    name (Optional[str]): The metric.
    positive (Optional[str]): The positive label, for cats_f1.
    path (str): Who wants it, for the error.
    """
    nlp = spacy.blank(config["nlp"]["lang"])
    for component, block in config["components"].items():
        if block.get("factory") in _OF_FACTORIES:
            made: Any = nlp.add_pipe(block["factory"], name=component)
            for label in labels if hasattr(made, "add_label") else ():
                made.add_label(label)
    known = _metrics(nlp, positive, path)
    if name is not None:
        _chosen(known, name, path)


def _chosen(known: dict[str, Metric], name: str | None, path: str) -> Metric:
    if name is None or name not in known:
        there = ", ".join(known) or "none"
        message = Errors.NO_METRIC.format(path=path, name=name, there=there)
        raise ComparisonError(message)
    return known[name]


def _heaviest(nlp: Language, known: dict[str, Metric], path: str) -> str:
    """Find what counts most in the pipeline's own score weights."""
    weights = nlp.config.get("training", {}).get("score_weights", {})
    weights = {key: weight for key, weight in weights.items() if weight}
    largest = max(weights.values(), default=None)
    names = [key for key in weights if weights[key] == largest]
    found = [key for key in names if key in known]
    if not found:
        about = {"names": ", ".join(names) or "nothing", "there": ", ".join(known)}
        raise ComparisonError(Errors.UNKNOWN_WEIGHT.format(path=path, **about))
    if len(names) > 1:
        told = {"names": ", ".join(names), "weight": largest, "name": found[0]}
        warnings.warn(Warnings.SAME_WEIGHT.format(path=path, **told), stacklevel=2)
    return found[0]


def _metrics(nlp: Language, positive: str | None, path: str) -> dict[str, Metric]:
    """Find what can be scored of a pipeline, each component's usual metric first."""
    found: dict[str, Metric] = {}
    components: Any = nlp.pipeline
    for name, component in components:
        make = _OF_FACTORIES.get(nlp.get_pipe_meta(name).factory)
        if make is not None:
            made = make(Scored(path, nlp, name, component, positive))
            found |= {one.name: one._replace(component=name) for one in made}
    return found
