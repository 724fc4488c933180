"""Pipelines of every kind, trained for two steps on either side."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import spacy
from spacy.training import Example
from spacy.util import load_config, load_model_from_config, registry
from thinc.api import require_cpu, require_gpu

from spacy_spanft import NgramDictionary, join_pair

from ..made_configs import CONFIGS
from . import ledger

DICTIONARY = NgramDictionary({"new york": 3, "very good": 3, "united states": 2})
TEXTS = (
    "new york was very good and not bad , it is a film",
    "",
    "this film is bad",
    "it is new york city of the united states",
    " \n",
)
PAIRS = (join_pair("new york", "it is very good"), join_pair("a bad film", "it is bad"))

POOLINGS = ("components.textcat.model.span_pooling",)
POOLINGS += ("components.textcat.model.doc_pooling",)
SEGMENTER = "components.span_segmenter.segmenter"
SUGGESTER = {"@misc": "spacy-spanft.segment_suggester.v1", "max_size": 2}


def _pooled_by(**block):
    return {place: {f"@{kind}": block[kind] for kind in block} for place in POOLINGS}


# What each changes in which config.
# Of two steps, the second one trains the transformer.
THAWED = {"@callbacks": "spacy-spanft.freeze_transformer.v1", "until_step": 1}
ARMS: dict[str, tuple[str, Mapping[str, Any]]] = {
    "textcat baseline": ("textcat_baseline", {}),
    "textcat pooler": ("textcat_baseline", {"components.textcat.model.pooler": True}),
    "textcat cnn": ("textcat_spanft", {}),
    "textcat attention": (
        "textcat_spanft",
        _pooled_by(architectures="spacy-spanft.AttentionPooling.v1"),
    ),
    "textcat max": (
        "textcat_spanft",
        _pooled_by(architectures="spacy-spanft.MaxPooling.v1"),
    ),
    "textcat mean": ("textcat_spanft", _pooled_by(layers="reduce_mean.v1")),
    "textcat mean summary": (
        "textcat_spanft",
        {"components.textcat.model.summary": "mean"},
    ),
    "textcat without spans": (
        "textcat_spanft",
        {"components.textcat.model.segmentation": "none"},
    ),
    "textcat capped": (
        "textcat_spanft",
        {
            "components.textcat.model.max_pieces": 3,
            "components.textcat.model.max_rows": 2,
        },
    ),
    "textcat random spans": (
        "textcat_spanft",
        {SEGMENTER: {"@segmenters": "spacy-spanft.RandomSegmenter.v1"}},
    ),
    "textcat multilabel": (
        "textcat_spanft",
        {
            "components.textcat.factory": "textcat_multilabel",
            "components.textcat.model.exclusive_classes": False,
        },
    ),
    "textcat two phases": (
        "textcat_two_phase",
        {
            "training.before_update": THAWED,
            "training.optimizer.layer_decay": 0.5,
        },
    ),
    "textcat weighted": (
        "textcat_baseline",
        {
            "components.textcat.model.class_weights": {"A": 2.0},
            "components.textcat.model.label_smoothing": 0.1,
        },
    ),
    "pair baseline": ("pair_baseline", {}),
    "pair cnn": ("pair_spanft", {}),
    "pair compared": (
        "pair_spanft",
        {"components.textcat.model.pair_separator": "[SEP]"},
    ),
    "score cnn": ("score_spanft", {}),
    "ner baseline": ("ner_baseline", {"training.before_update": THAWED}),
    "ner": ("ner_spanft", {"training.before_update": THAWED}),
    "bilou_ner baseline": ("bilou_ner_baseline", {"training.before_update": THAWED}),
    "bilou_ner": ("bilou_ner_spanft", {"training.before_update": THAWED}),
    "spancat baseline": ("spancat_baseline", {"training.before_update": THAWED}),
    "spancat": (
        "spancat_spanft",
        {
            "components.spancat.suggester": SUGGESTER,
            "training.before_update": THAWED,
        },
    ),
}


class Outcome(NamedTuple):
    """What a pipeline came to on one side.

    weights (dict): All its weights after two steps.
    predictions (list): What it says of each text then.
    step (Counter): What the second step transferred.
    prediction (Counter): What the predictions transferred.
    """

    weights: dict[str, Any]
    predictions: list[Any]
    step: Any
    prediction: Any


class Made(NamedTuple):
    """A pipeline that is ready to be trained.

    nlp (Language): The pipeline.
    texts (tuple[str, ...]): What it predicts.
    examples (list[Example]): What it learns.
    optimizer (Optimizer): What it learns with.
    """

    nlp: Any
    texts: tuple[str, ...]
    examples: list[Example]
    optimizer: Any


def make(arm: str, bert: Path, gpu_id: int) -> Made:
    """Make an arm, on the CPU or on the device."""
    if gpu_id < 0:
        require_cpu()
    else:
        require_gpu(gpu_id)
    spacy.util.fix_random_seed(0)
    name, changes = ARMS[arm]
    config = load_config(CONFIGS / f"{name}.cfg", {"paths.transformer": str(bert)})
    for place, value in changes.items():
        *path, last = place.split(".")
        node = config
        for key in path:
            node = node[key]
        node[last] = value
    nlp = load_model_from_config(config.interpolate(), auto_fill=True)
    texts = PAIRS if "pair" in name or "score" in name else TEXTS
    examples = [_example(nlp, text, i) for i, text in enumerate(texts)]
    optimizer = nlp.initialize(lambda: examples)
    if "span_segmenter" in nlp.pipe_names and SEGMENTER not in changes:
        nlp.get_pipe("span_segmenter").initialize(dictionary=DICTIONARY)
    return Made(nlp, texts, examples, optimizer)


def outcome_of(arm: str, bert: Path, gpu_id: int) -> Outcome:
    """Train an arm for two steps from the same weights, on the CPU or on the device.

    The fake device draws the same numbers as NumPy, dropout and all. A large eps makes
    the steps of Adam as smooth as the gradients: else it is noise that they magnify.
    """
    nlp, texts, examples, optimizer = make(arm, bert, gpu_id)
    annotates = [name for name in nlp.pipe_names if name == "span_segmenter"]
    prepare = _before_update(nlp)
    optimizer.eps, optimizer.schedules = 1.0, {}
    for name in ("learn_rate", "head_rate"):
        if hasattr(optimizer, name):
            setattr(optimizer, name, 0.5)
    for number in range(2):
        with ledger.watched() as step:
            prepare(nlp, {"step": number, "epoch": 0})
            fresh = [Example(nlp.make_doc(e.text), e.reference) for e in examples]
            nlp.update(fresh, sgd=optimizer, annotates=annotates)
    with ledger.watched() as prediction:
        docs = list(nlp.pipe(texts))
    return Outcome(_weights(nlp), [_said(doc) for doc in docs], step, prediction)


def _example(nlp, text, number):
    doc = nlp.make_doc(text)
    spans = [(doc[1].idx, doc[1].idx + len(doc[1]), "X")] if len(doc) > 1 else []
    cats = {"A": float(number % 2), "B": 1.0 - number % 2, "score": number % 5 / 4}
    if "text_regressor" not in nlp.pipe_names:
        del cats["score"]
    return Example.from_dict(
        doc, {"cats": cats, "entities": spans, "spans": {"sc": spans}}
    )


def _before_update(nlp):
    block = nlp.config.interpolate()["training"]["before_update"]
    return registry.resolve({"it": block})["it"] if block else lambda nlp, args: None


def _weights(nlp):
    found = {}
    for pipe, component in nlp.pipeline:
        if not hasattr(component, "model"):
            continue
        for number, node in enumerate(component.model.walk()):
            for name in node.param_names:
                place = f"{pipe} {number} {node.name} {name}"
                found[place] = node.ops.to_numpy(node.get_param(name)).copy()
            for shim in node.shims:
                for name, weight in shim._model.named_parameters():
                    found[f"{pipe} {number} {name}"] = weight.detach().numpy().copy()
    return found


def _said(doc):
    entities = [(e.start, e.end, e.label_) for e in doc.ents]
    spans = [(s.start, s.end, s.label_) for s in doc.spans.get("sc", ())]
    return entities, spans, dict(doc.cats)
