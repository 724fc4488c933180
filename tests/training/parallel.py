"""A training that one process or several can run, and what it leaves."""

import sys
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Span
from spacy.training import Example, loop
from thinc.api import Adam
from torch import distributed

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import SpanftError
from spacy_spanft.training.parallel import in_group
from spacy_spanft.util._compat import torch_module

from ..tiny import OWN_LISTENER, encoder_config

N_STEPS = 20
POOLING = {"@architectures": "spacy-spanft.CnnPooling.v1", "kernel_size": 3}
HEADS = {
    "textcat": {
        "@architectures": "spacy-spanft.SpanTextCat.v1",
        "exclusive_classes": True,
        "span_pooling": POOLING,
        "doc_pooling": POOLING,
        "dropout": 0.0,
    },
    "bilou_ner": {"@architectures": "spacy-spanft.BilouTagger.v1", "dropout": 0.0},
    "tagger": {"@architectures": "spacy.Tagger.v2"},
}
# Batches of four: in the second one process has no entity and no word that is tagged,
# and of the last one it has nothing.
TEXTS = [
    *("new york was very good", "", "this film is bad", "it is new york city again"),
    *("a", "new york city", "the film", "film in new york and in new york"),
    "new york alone",
]


def make(bert):
    """Make the pipeline, which begins with the same weights each time."""
    nlp = spacy.blank("en")
    encoder = encoder_config(bert)
    nlp.add_pipe(encoder.pop("factory"), "transformer", config=encoder)
    nlp.add_pipe("span_segmenter")
    for name, head in HEADS.items():
        nlp.add_pipe(name, config={"model": {**head, "tok2vec": OWN_LISTENER}})
    nlp.add_pipe("senter")  # which has a tok2vec of its own, and stays as it is
    examples = examples_of(nlp)
    spacy.util.fix_random_seed(0)
    nlp.initialize(lambda: examples)
    dictionary = NgramDictionary({"new york": 2, "the film": 2})
    nlp.get_pipe("span_segmenter").initialize(dictionary=dictionary)
    nlp.config["training"]["frozen_components"] = ["senter"]
    nlp.config["training"]["annotating_components"] = ["span_segmenter"]
    return nlp


def examples_of(nlp):
    examples = []
    for i, text in enumerate(TEXTS):
        doc = nlp.make_doc(text)
        doc.cats = {"A": float(i % 2), "B": float(1 - i % 2)}
        starts = [token.i for token in doc if token.text == "new"]
        doc.ents = [Span(doc, start, start + 2, "CITY") for start in starts]
        for token in doc:
            token.tag_ = "XY"[token.i % 2]
            token.is_sent_start = token.i == 0
        examples.append(Example(nlp.make_doc(text), doc))
    return examples


def state_of(nlp, get):
    """Return numbers of all layers of a pipeline, by names."""
    state = {}
    for pipe, component in nlp.pipeline:
        nodes = component.model.walk() if hasattr(component, "model") else ()
        for i, node in enumerate(nodes):
            for name in node.param_names:
                state[f"{pipe} {i} {name}"] = get(node, name)
            for shim in node.shims:
                for name, parameter in torch_module(shim).named_parameters():
                    state[f"{pipe} {i} {name}"] = get(parameter, None)
    return {name: value for name, value in state.items() if value is not None}


def weight(owner, name):
    return (
        owner.detach().numpy().copy() if name is None else owner.get_param(name).copy()
    )


def gradient(owner, name):
    if name is None:
        return None if owner.grad is None else owner.grad.numpy().copy()
    return owner.get_grad(name).copy() if owner.has_grad(name) else None


def train(nlp, is_group=False, accumulate=1):
    """Train in batches of four; return the gradients of each step, and the weights."""
    gradients = []
    examples = examples_of(nlp)

    def batches():
        for epoch in count():
            for start in range(0, len(examples), 4):
                yield epoch, examples[start : start + 4]

    def batcher(examples):
        return (batch for _, batch in batches())

    with ExitStack() as stack:
        if is_group:
            stack.enter_context(in_group(nlp))
        first = nlp.get_pipe("transformer")
        finish = first.finish_update

        def watched(sgd):
            shim = first.model.shims[0]
            step = shim.finish_update

            def note(optimizer):
                gradients.append(state_of(nlp, gradient))
                step(optimizer)

            shim.finish_update = note
            finish(sgd)
            del shim.finish_update

        first.finish_update = watched
        if is_group:  # in_group changes how the loop makes batches
            made = loop.create_train_batches(nlp, examples_of, batcher, 1)
        for _ in loop.train_while_improving(
            nlp,
            Adam(0.01, L2=0.01, grad_clip=1.0),
            made if is_group else batches(),
            lambda: (0.0, nlp.evaluate(examples)),
            dropout=0.0,
            eval_frequency=10,
            accumulate_gradient=accumulate,
            patience=0,
            max_steps=N_STEPS - 1,
            exclude=["senter"],
            annotating_components=["span_segmenter"],
            before_update=None,
        ):
            pass
        first.finish_update = finish
    return gradients, state_of(nlp, weight)


def refuse_other_pipelines(rank):
    """Begin a training on two machines with different files."""
    nlp = spacy.blank("en")
    tagger = nlp.add_pipe("tagger")
    for label in "ABC"[: 2 + rank]:
        tagger.add_label(label)
    nlp.initialize()
    expected = "do not train the same pipeline"
    with pytest.raises(SpanftError, match=expected), in_group(nlp):
        pass


def main(bert, output, accumulate):
    """Train in one process of a group, and save what it leaves."""
    distributed.init_process_group("gloo")
    rank = distributed.get_rank()
    refuse_other_pipelines(rank)
    nlp = make(bert)
    if rank:  # as another machine might begin
        for node in nlp.get_pipe("textcat").model.walk():
            for name in node.param_names:
                node.set_param(name, node.get_param(name) + 1)
    gradients, weights = train(nlp, True, int(accumulate))
    scores = nlp.evaluate([])
    assert "tag_acc" in scores
    named = {
        f"{i} {key}": value
        for i, step in enumerate(gradients)
        for key, value in step.items()
    }
    np.savez(Path(output) / f"gradients{rank}.npz", **named)
    np.savez(Path(output) / f"weights{rank}.npz", **weights)
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
