"""The metrics of a pipeline, and the one that is reported."""

import warnings
from collections.abc import Sequence
from typing import Any

import spacy
from confection import Config
from spacy.language import Language

from ...errors import ComparisonError
from .categories import label_metrics, multilabel_metrics, score_metrics
from .scoring import Metric
from .spans import entity_metrics, span_metrics

_FACTORIES = (
    *("textcat", "textcat_multilabel", "text_regressor"),
    *("ner", "beam_ner", "bilou_ner", "spancat", "spancat_singlelabel"),
)


def metric_of(
    nlp: Language,
    name: str | None = None,
    positive: str | None = None,
    path: str = "",
) -> Metric:
    """Return the metric of a pipeline.

    name (Optional[str]): The name of a metric; None for the one with the highest
        weight in the pipeline's own [training.score_weights].
    positive (Optional[str]): The positive label, for cats_f1.
    path (str): The pipeline's name in errors.
    """
    path = path or nlp.meta["name"]
    metrics = _metrics(nlp, positive, path)
    if name is None and metrics:
        name = _heaviest(nlp, metrics, path)
    return _chosen(metrics, name, path)


def check_metric(
    config: Config,
    labels: Sequence[str],
    name: str | None,
    positive: str | None,
    path: str,
) -> None:
    """Raise for a metric that a pipeline will not have once it is trained.

    config (Config): Its config, with variables resolved.
    labels (Sequence[str]): The labels that it will know.
    path (str): Where the metric is set, for the error.
    """
    nlp = spacy.blank(config["nlp"]["lang"])
    for component, block in config["components"].items():
        if block.get("factory") in _FACTORIES:
            pipe: Any = nlp.add_pipe(block["factory"], name=component)
            for label in labels if hasattr(pipe, "add_label") else ():
                pipe.add_label(label)
    metrics = _metrics(nlp, positive, path)
    if name is not None:
        _chosen(metrics, name, path)


def _chosen(metrics: dict[str, Metric], name: str | None, path: str) -> Metric:
    if name is None or name not in metrics:
        names = ", ".join(metrics) or "none"
        raise ComparisonError(f"{path!r} has no metric {name!r}. It has: {names}.")
    return metrics[name]


def _heaviest(nlp: Language, metrics: dict[str, Metric], path: str) -> str:
    weights = nlp.config.get("training", {}).get("score_weights", {})
    weights = {key: weight for key, weight in weights.items() if weight}
    largest = max(weights.values(), default=None)
    names = [key for key in weights if weights[key] == largest]
    known = [key for key in names if key in metrics]
    joined = ", ".join(names) or "nothing"
    if not known:
        raise ComparisonError(
            f"The highest weight in the [training.score_weights] of {path!r} is "
            f"{joined}, which cannot be compared. Choose with --metric, one of: "
            f"{', '.join(metrics)}."
        )
    if len(names) > 1:
        warnings.warn(
            f"{joined} have the same weight ({largest}) in {path!r}; {known[0]} is "
            f"taken. Choose another with --metric.",
            stacklevel=2,
        )
    return known[0]


def _metrics(nlp: Language, positive: str | None, path: str) -> dict[str, Metric]:
    """Return the metrics of all components, each component's usual one first."""
    metrics: dict[str, Metric] = {}
    for name, component in nlp.pipeline:
        for metric in _component_metrics(nlp, name, component, positive, path):
            metrics[metric.name] = metric._replace(component=name)
    return metrics


def _component_metrics(
    nlp: Language, name: str, component: Any, positive: str | None, path: str
) -> list[Metric]:
    factory = nlp.get_pipe_meta(name).factory
    if factory == "textcat":
        scorer = nlp.get_pipe_config(name).get("scorer")
        return label_metrics(component, scorer, positive, path)
    if factory == "textcat_multilabel":
        return multilabel_metrics(component)
    if factory == "text_regressor":
        return score_metrics(component)
    if factory in ("spancat", "spancat_singlelabel"):
        return span_metrics(component.key)
    return entity_metrics() if factory in _FACTORIES else []
