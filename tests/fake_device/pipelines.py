"""Pipelines of every kind, trained for two steps on either side."""

from typing import Any, NamedTuple

import spacy
from spacy.training import Example
from spacy.util import load_config, load_model_from_config, registry
from thinc.api import require_cpu, require_gpu

from spacy_spanft import NgramDictionary, join_pair

from ..made_configs import CONFIGS
from ..tiny import weights_of
from .device import watched

DICTIONARY = NgramDictionary({"new york": 3, "very good": 3, "united states": 2})
TEXTS = (
    "new york was very good and not bad , it is a film",
    "",
    "this film is bad",
    "it is new york city of the united states",
    " \n",
)
PAIRS = (join_pair("new york", "it is very good"), join_pair("a bad film", "it is bad"))
SEGMENTER = "components.span_segmenter.segmenter"
# Of two steps, the second one trains the transformer.
FREEZE = {"@callbacks": "spacy-spanft.freeze_transformer.v1", "until_step": 1}
THAWED = {"training.before_update": FREEZE}


def textcat(**settings):
    return {f"components.textcat.model.{name}": settings[name] for name in settings}


def pooled(kind, name):
    pooling = {f"@{kind}": name}
    return textcat(span_pooling=pooling, doc_pooling=pooling)


SUGGESTER = {"@misc": "spacy-spanft.segment_suggester.v1", "max_size": 2}
MULTILABEL = {
    "components.textcat.factory": "textcat_multilabel",
    SEGMENTER: {"@segmenters": "spacy-spanft.RandomSegmenter.v1"},
    **textcat(exclusive_classes=False, max_pieces=3, max_rows=2),
}
WEIGHTED = textcat(pooler=True, class_weights={"A": 2.0}, label_smoothing=0.1)
ATTENTION = pooled("architectures", "spacy-spanft.AttentionPooling.v1")
# What each arm changes in which config, and how much our own code may bring to the
# device and how often it may wait for it: in a training step, and in the prediction of
# a batch. What thinc's kernels ask to check the lengths that they are given is among
# the waits; what spaCy does by itself is not.
ARMS: dict[str, Any] = {
    "textcat baseline": ("textcat_baseline", {}, (1, 0), (1, 0)),
    "textcat weighted pooler": ("textcat_baseline", WEIGHTED, (2, 0), (1, 0)),
    "textcat cnn": ("textcat_spanft", {}, (5, 12), (5, 4)),
    "textcat attention": ("textcat_spanft", ATTENTION, (5, 16), (5, 12)),
    "textcat without spans": (
        *("textcat_spanft", textcat(segmentation="none"), (5, 6), (5, 2)),
    ),
    "textcat multilabel": ("textcat_spanft", MULTILABEL, (5, 12), (5, 4)),
    # Over spanft_encoder, whose loss is one more.
    "pair baseline": ("pair_baseline", {}, (1, 1), (1, 0)),
    "pair cnn": ("pair_spanft", {}, (4, 13), (4, 4)),
    "pair compared": (
        *("pair_spanft", textcat(pair_separator="[SEP]"), (6, 23), (6, 8)),
    ),
    "score cnn": ("score_spanft", {}, (7, 23), (6, 9)),
    "ner": ("ner_spanft", THAWED, (3, 9), (3, 8)),
    "bilou_ner": ("bilou_ner_spanft", THAWED, (5, 10), (3, 9)),
    "spancat": (
        *("spancat_spanft", {"components.spancat.suggester": SUGGESTER, **THAWED}),
        *((8, 20), (8, 10)),
    ),
}


class Outcome(NamedTuple):
    """The weights after two steps, the predictions then, and what both transferred."""

    weights: dict[str, Any]
    predictions: list[Any]
    step: Any
    prediction: Any


def make(arm, bert, gpu_id):
    """Return an arm on the CPU or the device: nlp, texts, examples, optimizer."""
    require_cpu() if gpu_id < 0 else require_gpu(gpu_id)
    spacy.util.fix_random_seed(0)
    name, changes, *_ = ARMS[arm]
    config = load_config(CONFIGS / f"{name}.cfg", {"paths.transformer": str(bert)})
    for path, value in changes.items():
        *keys, last = path.split(".")
        node = config
        for key in keys:
            node = node[key]
        node[last] = value
    nlp = load_model_from_config(config.interpolate(), auto_fill=True)
    texts = PAIRS if "pair" in name or "score" in name else TEXTS
    examples = [_example(nlp, text, i) for i, text in enumerate(texts)]
    optimizer = nlp.initialize(lambda: examples)
    if "span_segmenter" in nlp.pipe_names and SEGMENTER not in changes:
        nlp.get_pipe("span_segmenter").initialize(dictionary=DICTIONARY)
    return nlp, texts, examples, optimizer


def outcome_of(arm, bert, gpu_id):
    """Train an arm for two steps from the same weights, on the CPU or on the device.

    The fake device draws the same numbers as NumPy, dropout and all. A large eps makes
    the steps of Adam as smooth as the gradients: else it is noise that they magnify.
    """
    nlp, texts, examples, optimizer = make(arm, bert, gpu_id)
    annotates = [name for name in nlp.pipe_names if name == "span_segmenter"]
    block = nlp.config.interpolate()["training"]["before_update"]
    prepare = registry.resolve({"it": block})["it"] if block else lambda *_: None
    optimizer.eps, optimizer.schedules = 1.0, {}
    for name in ("learn_rate", "head_rate"):
        if hasattr(optimizer, name):
            setattr(optimizer, name, 0.5)
    for number in range(2):
        with watched() as step:
            prepare(nlp, {"step": number, "epoch": 0})
            fresh = [Example(nlp.make_doc(e.text), e.reference) for e in examples]
            nlp.update(fresh, sgd=optimizer, annotates=annotates)
    with watched() as prediction:
        docs = list(nlp.pipe(texts))
    return Outcome(weights_of(nlp), list(map(_answers, docs)), step, prediction)


def _example(nlp, text, number):
    doc = nlp.make_doc(text)
    spans = [(doc[1].idx, doc[1].idx + len(doc[1]), "X")] if len(doc) > 1 else []
    cats = {"A": float(number % 2), "B": 1.0 - number % 2, "score": number % 5 / 4}
    if "text_regressor" not in nlp.pipe_names:
        del cats["score"]
    gold = {"cats": cats, "entities": spans, "spans": {"sc": spans}}
    return Example.from_dict(doc, gold)


def _answers(doc):
    entities = [(e.start, e.end, e.label_) for e in doc.ents]
    spans = [(s.start, s.end, s.label_) for s in doc.spans.get("sc", ())]
    return entities, spans, dict(doc.cats)
