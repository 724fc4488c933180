"""Checks before training of mistakes that would train a wrong model in silence.

spaCy's `debug config` and `debug data` find the others.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from confection import Config
from spacy.language import Language
from spacy.training import Example

from ..errors import SpanftError, listed, warn
from ..pipeline.span_segmenter import SpanSegmenter
from .gold import LEARNED, blocks_in, read_corpus

_OURS = "spacy-spanft."
_HELD_OUT = "spacy-spanft.HeldOutCorpus.v1"
_SPANCATS = ("spancat", "spancat_singlelabel")


def make_span_check() -> Callable[[Language], None]:
    """Build `spacy-spanft.check_span_groups.v1`, for [initialize.before_init].

    It raises for a spancat whose key is in no example, for which spaCy's E143 names
    neither the key nor those that are.
    """

    def check(nlp: Language) -> None:
        train = read_corpus(nlp, nlp.config.interpolate(), "train_corpus")
        keys = {k for eg in train or () for k, v in eg.reference.spans.items() if v}
        for name, component in nlp.pipeline:
            key = getattr(component, "key", None)
            is_spancat = nlp.get_pipe_meta(name).factory in _SPANCATS
            if train and is_spancat and key not in keys:
                raise SpanftError(
                    f"{name!r} learns spans in doc.spans[{key!r}] (spans_key), but the "
                    f"training data has spans in: {listed(sorted(keys))}."
                )

    return check


def check_config(nlp: Language, config: Any) -> None:
    """Raise for settings of an interpolated config that cannot be meant."""
    blocks = config.get("corpora", {})
    corpora = [blocks.get(part) or {} for part in ("train", "dev")]
    are_parts = all(block.get("@readers") == _HELD_OUT for block in corpora)
    if are_parts and corpora != [{**corpora[0], "part": x} for x in ("train", "dev")]:
        raise SpanftError(
            "[corpora.train] and [corpora.dev] are parts of a corpus: they must have "
            'part = "train" and part = "dev", and the same other settings.'
        )
    dev = config.get("paths", {}).get("dev")
    if dev and "paths.dev" not in Config(nlp.config["corpora"]).to_str():
        raise SpanftError(
            f"[paths] dev is {dev!r}, but [corpora.dev] does not read it. Write the "
            "config anew, with --dev of spanft init."
        )
    # Frozen and sourced components are disabled while others are initialized.
    for name in nlp.component_names:
        block = config.get("components", {}).get(name, {})
        _check_exclusive(name, nlp.get_pipe_meta(name).factory, block.get("model", {}))
        for key in sorted({b["spans_key"] for b in blocks_in(block) if _is_read(b)}):
            _check_writers(nlp, name, key, config)


def _check_exclusive(name: str, factory: str, model: Any) -> None:
    """Raise for a text classifier whose model learns another task."""
    expected = {"textcat": True, "textcat_multilabel": False}.get(factory)
    is_ours = str(model.get("@architectures")).startswith(_OURS)
    is_other = model.get("exclusive_classes", expected) is not expected
    if expected is not None and is_ours and is_other:
        raise SpanftError(
            f"{name!r} has the factory {factory!r}, so that its model must have "
            f"exclusive_classes = {str(expected).lower()}."
        )


def _is_read(block: dict[str, Any]) -> bool:
    """Whether a model of this package reads the spans that its block names."""
    function = str(block.get("@architectures") or block.get("@misc"))
    is_ours = function.startswith(_OURS) and block.get("segmentation") != "none"
    return is_ours and bool(block.get("spans_key"))


def _check_writers(nlp: Language, name: str, key: str, config: Any) -> None:
    """Raise unless a component's segmenter is before it, and writes in training."""
    names, training = nlp.component_names, config["training"]
    segmenters = [(x, y) for x, y in nlp.components if isinstance(y, SpanSegmenter)]
    writers = [other for other, pipe in segmenters if pipe.spans_key == key]
    before = {other for other in writers if names.index(other) < names.index(name)}
    annotating = training["annotating_components"]
    is_frozen = name in training["frozen_components"]
    # Without a segmenter, perhaps another component writes them.
    if writers and not ((before and is_frozen) or before & {*annotating}):
        raise SpanftError(
            f"{name!r} reads its spans from doc.spans[{key!r}], so that {writers[0]!r} "
            "must stand before it in [nlp] pipeline, and be in [training]: "
            f"annotating_components = {json.dumps([*annotating, writers[0]])}"
        )


def warn_labels(nlp: Language, dev: Iterable[Example]) -> None:
    """Warn about components without labels, and about labels that only dev data has."""
    docs = [example.reference for example in dev]
    for name, component in nlp.pipeline:
        pipe: Any = component
        labels_of = LEARNED.get(nlp.get_pipe_meta(name).factory)
        if labels_of is None:
            continue
        if not pipe.labels:
            warn(
                f"{name!r} learns nothing: no example of the training data has a "
                "label for it. Check the path and the @readers of [corpora.train]."
            )
        key = getattr(pipe, "key", None)
        labels = {label for doc in docs for label in labels_of(doc, key)}
        if unseen := sorted(labels - set(pipe.labels)):
            warn(
                f"The dev data has labels that {name!r} has not seen in the training "
                f"data and can never predict: {listed(unseen)}."
            )


def check_scores(nlp: Language, config: Any, dev: Sequence[Example]) -> None:
    """Raise if [training.score_weights] names a metric that nothing computes.

    spaCy counts it as 0, so that the untrained model stays the best one.
    """
    weights = config.get("training", {}).get("score_weights") or {}
    # Gold data scored against itself has the same metrics, and no model has to run.
    gold = [Example(example.reference, example.reference) for example in dev]
    scores: dict[str, Any] = {"speed": 0.0}
    try:
        for part in (nlp.tokenizer, *(component for _, component in nlp.components)):
            if hasattr(part, "score"):
                scores |= part.score(gold)
    except SpanftError:
        raise
    except Exception:  # a custom scorer needs predictions
        return
    for metric, weight in weights.items():
        if weight and metric not in scores:
            names = sorted(k for k, v in scores.items() if not isinstance(v, dict))
            raise SpanftError(
                f"[training.score_weights] has {metric!r}, which no component "
                f"computes. Use one of: {', '.join(names)}; or give the component a "
                'scorer, such as @scorers = "spacy-spanft.classification_scorer.v1".'
            )
