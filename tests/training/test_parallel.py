"""Training in two processes: what one process would learn from the same batches."""

import random
import socket
import sys
from contextlib import nullcontext
from itertools import count
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Span
from spacy.training import Example, loop
from thinc.api import SGD
from torch import distributed

from spacy_spanft.training.parallel import in_group, with_own_random_state

from .. import processes
from ..commands import run
from ..pipeline.test_encoder import MODELS
from ..tiny import OWN_LISTENER, encoder_config, make_pipeline, weights_of

ROOT = Path(__file__).parents[2]
N_STEPS = 6
# Batches of four: in the second one process has no entity and no word that is tagged,
# and of the last one it has nothing.
TEXTS = [
    *("new york was very good", "", "this film is bad", "it is new york city again"),
    *("a", "new york city", "the film", "film in new york and in new york"),
    *("", "", "", "new york in film"),  # one process has empty texts alone
    "new york alone",
]


def make(bert):
    heads = {name: MODELS[name] for name in ("textcat", "bilou_ner", "tagger")}
    heads["bilou_ner"] = {**heads["bilou_ner"], "dropout": 0.0}
    nlp = make_pipeline(
        {
            **{"transformer": encoder_config(bert), "span_segmenter": {}},
            **{x: {"model": {**heads[x], "tok2vec": OWN_LISTENER}} for x in heads},
            "senter": {},  # which has a tok2vec of its own, and stays as it is
        },
        ["new york", "the film"],
    )
    nlp.initialize(lambda: examples_of(nlp))
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


def train(nlp, is_group=False):
    """Train in batches of four; what a step changes are the gradients themselves."""
    examples = examples_of(nlp)

    def batches():
        for epoch in count():
            for start in range(0, len(examples), 4):
                yield epoch, examples[start : start + 4]

    def batcher(examples):
        return (batch for _, batch in batches())

    made = batches()
    with in_group(nlp) if is_group else nullcontext():
        if is_group:  # in_group changes how the loop makes batches
            made = loop.create_train_batches(nlp, examples_of, batcher, 1)
        for _ in loop.train_while_improving(
            *(nlp, SGD(0.1, L2=0.01, grad_clip=1.0), made),
            lambda: (0.0, nlp.evaluate(examples)),
            **{"dropout": 0.0, "eval_frequency": N_STEPS, "patience": 0},
            **{"accumulate_gradient": 2, "max_steps": N_STEPS - 1},
            **{"exclude": ["senter"], "annotating_components": ["span_segmenter"]},
            before_update=None,
        ):
            pass
    return weights_of(nlp)


def main(bert, output):
    distributed.init_process_group("gloo")
    rank = distributed.get_rank()
    nlp = make(bert)
    if rank:  # as another machine might begin
        for node in nlp.get_pipe("textcat").model.walk():
            for name in node.param_names:
                node.set_param(name, node.get_param(name) + 1)
    weights = train(nlp, True)
    assert "tag_acc" in nlp.evaluate([])
    np.savez(Path(output) / f"{rank}.npz", **weights)
    distributed.destroy_process_group()


def run_group(*args, cwd):
    """Run Python in two processes, with what torchrun tells each of them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    group = [
        processes.start(*args, cwd=cwd, RANK=rank, LOCAL_RANK=rank, **shared)
        for rank in "01"
    ]
    outputs = [process.communicate() for process in group]
    assert [process.returncode for process in group] == [0, 0], outputs
    return outputs


def test_two_processes_learn_what_one_does(bert, tmp_path):
    run_group("-m", __name__, bert, tmp_path, cwd=ROOT)
    nlp = make(bert)
    before = weights_of(nlp)
    weights = train(nlp)
    for rank in (0, 1):
        learned = dict(np.load(tmp_path / f"{rank}.npz"))
        assert learned.keys() == weights.keys()
        for name, value in weights.items():
            np.testing.assert_allclose(learned[name], value, atol=1e-5, err_msg=name)
    changed = {n.split()[0] for n in weights if (weights[n] != before[n]).any()}
    assert changed == {"transformer", "textcat", "bilou_ner", "tagger"}


def test_batches_are_the_same_whatever_else_draws_numbers():
    """A process whose `ner` is updated once more must not shuffle otherwise."""

    def shuffled():
        for epoch in range(4):
            numbers = random.sample(range(10), 10)
            yield from ((epoch, numbers[i : i + 5]) for i in (0, 5))

    random.seed(1)
    expected = list(shuffled())
    random.seed(1)
    numbers = [random.random() for _ in range(24)]
    random.seed(1)
    drawn = []
    for batch, other in zip(with_own_random_state(shuffled()), expected, strict=True):
        assert batch == other
        drawn += [random.random() for _ in range(3)]
    assert drawn == numbers  # nor do batches change what others draw


def test_command(bert, tmp_path):
    words = ["good", "bad"] * 9
    rows = ["text,label", *(f"the film was {w} {i},{w}" for i, w in enumerate(words))]
    (tmp_path / "train.csv").write_text("\n".join(rows) + "\n", "utf8")
    init = ("--pipeline", "textcat", "--transformer", bert, "--train", "train.csv")
    run("spanft", "init", "c.cfg", *init, cwd=tmp_path)
    # Of the second batch a process has nothing to learn from, and no loss to show.
    settings = {"max_steps": 2, "eval_frequency": 2, "batcher.size": 17}
    settings["optimizer.learn_rate.initial_rate"] = 0.01
    more = [f"--training.{name}={value}" for name, value in settings.items()]
    more.append("--components.textcat.model.dropout=0.0")
    train = ("-m", "spacy", "spanft", "train", "c.cfg", "--output", "two", *more)
    stdout, stderr = map("".join, zip(*run_group(*train, cwd=tmp_path), strict=True))
    assert stdout.count("LOSS TRANS") == 1
    assert stderr.count("starts from a linear probe") == 1
    run("train", "c.cfg", "--output", "one", *more, cwd=tmp_path)
    alone, group = (spacy.load(tmp_path / n / "model-last") for n in ("one", "two"))
    assert alone.config == group.config
    text = "the film was good"
    assert alone(text).cats == pytest.approx(group(text).cats, abs=1e-4)
    scores = [nlp.meta["performance"]["cats_score"] for nlp in (alone, group)]
    assert scores[0] == pytest.approx(scores[1])
    done = run("spanft", "train", "c.cfg", cwd=tmp_path, ok=False)
    assert "torchrun --nproc-per-node" in done.stderr


if __name__ == "__main__":
    main(*sys.argv[1:])
