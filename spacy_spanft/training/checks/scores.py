"""Checks before training that something computes the metrics that choose a model."""

import warnings
from collections.abc import Sequence
from typing import Any

from spacy.language import Language
from spacy.training import Example

from ...errors import Errors, SpanftError, Warnings

# What `nlp.evaluate` adds to what the components compute.
_OF_THE_LOOP = "speed"
_CLASSIFICATION = "spacy-spanft.classification_scorer.v1"
_REGRESSION = "spacy-spanft.regression_scorer.v1"
# The metrics that need a scorer of ours, which is not the default of a component.
_SCORERS = {
    "cats_accuracy": _CLASSIFICATION,
    "cats_matthews": _CLASSIFICATION,
    "cats_f1": f"{_CLASSIFICATION} (with positive_label)",
    "cats_pearson": _REGRESSION,
    "cats_spearman": _REGRESSION,
}


def check_scores(nlp: Language, config: Any, dev: Sequence[Example]) -> None:
    """Raise if [training.score_weights] names a metric that nothing computes.

    spaCy takes it for 0, so that the first model, the untrained one, stays the best.

    config (Config): Its config, interpolated.
    dev (Sequence[Example]): The dev data.
    """
    weights = config.get("training", {}).get("score_weights") or {}
    named = [metric for metric, weight in weights.items() if weight]
    # The gold data scores itself: the same metrics, and no model has to run.
    gold = [Example(eg.reference, eg.reference) for eg in dev]
    try:
        scores = _scores(nlp, gold)
    except SpanftError:
        raise
    except Exception as error:  # a scorer of somebody else that needs predictions
        reason = repr(error)[:200]
        warnings.warn(Warnings.SCORES_UNCHECKED.format(reason=reason), stacklevel=2)
        return
    there = sorted(
        name for name, score in scores.items() if not isinstance(score, dict | str)
    )
    for metric in named:
        if metric not in scores:
            raise SpanftError(_unknown(metric, there))
        if scores[metric] is None:
            warnings.warn(Warnings.NOTHING_TO_SCORE.format(metric=metric), stacklevel=2)


def _scores(nlp: Language, gold: list[Example]) -> dict[str, Any]:
    """Compute what `nlp.evaluate` will."""
    found: dict[str, Any] = {_OF_THE_LOOP: 0.0}
    # Those that are frozen, or sourced, are disabled while others are initialized.
    for part in (nlp.tokenizer, *(component for _, component in nlp.components)):
        if hasattr(part, "score"):
            found.update(part.score(gold))
    return found


def _unknown(metric: str, there: Sequence[str]) -> str:
    scorer = _SCORERS.get(metric)
    fix = (
        f'Give the component [components.NAME.scorer] @scorers = "{scorer}"'
        if scorer
        else f"Take one of those, or {metric} = null"
    )
    place = {"metric": metric, "there": ", ".join(there), "fix": fix}
    return Errors.NO_SUCH_SCORE.format(**place)
