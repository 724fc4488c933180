"""What the tests of training regimes share: pipelines, and a step of spaCy's loop."""

import hashlib

from spacy.training import Example
from spacy.training.loop import subdivide_batch
from thinc.api import Adam

from spacy_spanft.ml.parameter_groups import models, shim_of, transformers

from ..ml.test_textcat import CLS
from ..tiny import (
    LISTENER,
    OWN_LISTENER,
    encoder_config,
    make_pipeline,
    transformer_config,
)

TEXTS = ("new york was very good", "", "this film is bad", "it is new york city")
PARSER = {
    "@architectures": "spacy.TransitionBasedParser.v2",
    **{"state_type": "ner", "extra_state_tokens": False, "use_upper": False},
    **{"hidden_width": 8, "maxout_pieces": 2},
}
HEADS = {"textcat": {**CLS, "dropout": 0.0}, "ner": PARSER}


def make(bert, *heads, own=False, ours=False, **settings):
    """Make a pipeline: a transformer that the heads share, or one for each of them."""
    component = encoder_config(bert) if ours else transformer_config(bert)
    model = component["model"]
    model.update(settings)
    tok2vec = OWN_LISTENER if ours else LISTENER
    if own and ours:
        tok2vec = {
            "@architectures": "spacy-spanft.Tok2VecEncoder.v1",
            "encoder": model,
            "pooling": LISTENER["pooling"],
        }
    elif own:
        pooling = {"pooling": LISTENER["pooling"], "grad_factor": 1.0}
        tok2vec = {**model, **pooling}
        tok2vec["@architectures"] = "spacy-transformers.Tok2VecTransformer.v3"
    heads = heads or ("textcat",)
    components = {} if own else {"transformer": component}
    components |= {x: {"model": {**HEADS[x], "tok2vec": tok2vec}} for x in heads}
    return make_pipeline(components)


def initialized(nlp):
    examples = []
    for i, text in enumerate(TEXTS):
        at = text.find("new york")
        entities = [] if at < 0 else [(at, at + 8, "X")]
        gold = {"cats": {"A": i % 2, "B": 1 - i % 2}, "entities": entities}
        examples.append(Example.from_dict(nlp.make_doc(text), gold))
    nlp.initialize(lambda: examples)
    return nlp, examples


def step(nlp, examples, optimizer, accumulate=1, **settings):
    for batch in subdivide_batch(examples, accumulate):
        nlp.update(batch, sgd=False, **settings)
    for name, component in nlp.pipeline:
        is_trained = hasattr(component, "finish_update")
        if is_trained and name not in settings.get("exclude", ()):
            component.finish_update(optimizer)
    optimizer.step_schedules()


def changes(nlp, examples, freeze, n_steps, optimizer, first=0, **settings):
    """Take steps after the callback `freeze`; return which ones changed the encoder."""
    changed = []
    for n in range(first, first + n_steps):
        before = hash_of(nlp)
        freeze(nlp, {"step": n, "epoch": 0})
        step(nlp, examples, optimizer, **settings)
        changed.append(hash_of(nlp) != before)
    return changed


def encoders(nlp):
    return [shim_of(node)._model for node in _transformers(nlp)]


def _transformers(nlp):
    return [node for model in models(nlp).values() for node in transformers(model)]


def hash_of(nlp):
    digest = hashlib.sha256()
    for encoder in encoders(nlp):
        for name, tensor in encoder.state_dict().items():
            digest.update(name.encode() + tensor.cpu().numpy().tobytes())
    return digest.hexdigest()


def head_weights(nlp):
    return [
        node.get_param(name).copy()
        for model in models(nlp).values()
        for node in model.walk()
        for name in node.param_names
        if node.has_param(name)
    ]


def optimizer():
    return Adam(0.01, L2=0.1, L2_is_weight_decay=True, use_averages=False)


def learns(nlp):
    """Whether nothing is left of a freeze."""
    return not any(
        "finish_update" in vars(shim_of(node)) or "predict" in node._func.__name__
        for node in _transformers(nlp)
    )
