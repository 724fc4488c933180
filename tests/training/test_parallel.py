"""Training in two processes: what one process would learn from the same batches."""

import random
import socket
import sys
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Span
from spacy.training import Example, loop
from thinc.api import Adam
from torch import distributed

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import SpanftError
from spacy_spanft.training.parallel import in_group, share_of, with_own_random_state
from spacy_spanft.util._compat import torch_module

from ..commands import run
from ..interpreter import Interpreter
from ..tiny import OWN_LISTENER, encoder_config

ROOT = Path(__file__).parents[2]
N_STEPS = 10
ACCUMULATE = (1, 2)
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
    return {name: value.copy() for name, value in state.items() if value is not None}


def weight(layer, name):
    return layer.detach().numpy() if name is None else layer.get_param(name)


def gradient(layer, name):
    if name is None:
        return None if layer.grad is None else layer.grad.numpy()
    return layer.get_grad(name) if layer.has_grad(name) else None


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


def main(bert, output):
    """Train in one process of a group, and save what it leaves."""
    distributed.init_process_group("gloo")
    rank = distributed.get_rank()
    other = spacy.blank("en")  # which differs, as with other files on each machine
    tagger = other.add_pipe("tagger")
    for label in "ABC"[: 2 + rank]:
        tagger.add_label(label)
    other.initialize()
    expected = "do not train the same pipeline"
    with pytest.raises(SpanftError, match=expected), in_group(other):
        pass
    for accumulate in ACCUMULATE:
        nlp = make(bert)
        if rank:  # as another machine might begin
            for node in nlp.get_pipe("textcat").model.walk():
                for name in node.param_names:
                    node.set_param(name, node.get_param(name) + 1)
        gradients, weights = train(nlp, True, accumulate)
        assert "tag_acc" in nlp.evaluate([])
        arrays = {f"weight {name}": value for name, value in weights.items()}
        for i, step in enumerate(gradients):
            arrays |= {f"{i} {name}": value for name, value in step.items()}
        np.savez(Path(output) / f"{accumulate} {rank}.npz", **arrays)
    distributed.destroy_process_group()


def run_group(*args, cwd):
    """Run Python in two processes, with what torchrun tells each of them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    processes = [
        Interpreter(*args, cwd=cwd, RANK=rank, LOCAL_RANK=rank, **shared)
        for rank in "01"
    ]
    outputs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    return outputs


@pytest.fixture(scope="module")
def group(bert, tmp_path_factory):
    """What two processes leave."""
    folder = tmp_path_factory.mktemp("group")
    run_group("-m", __name__, bert, folder, cwd=ROOT)
    return folder


@pytest.mark.parametrize("accumulate", ACCUMULATE)
def test_two_processes_learn_what_one_does(bert, accumulate, group):
    nlp = make(bert)
    before = state_of(nlp, weight)
    gradients, weights = train(nlp, accumulate=accumulate)
    assert len(gradients) == N_STEPS
    for rank in (0, 1):
        learned = dict(np.load(group / f"{accumulate} {rank}.npz"))
        assert {n[7:] for n in learned if n.startswith("weight ")} == set(weights)
        for name, value in weights.items():
            if name.endswith("key.bias"):  # has no gradient but rounding, which Adam
                continue  # makes as large as any other
            theirs = learned[f"weight {name}"]
            np.testing.assert_allclose(theirs, value, atol=1e-4, err_msg=name)
        for step, expected in enumerate(gradients):
            for name, value in expected.items():
                # Differences of rounding grow from step to step.
                most = 1e-5 if step == 0 else 1e-3
                name = f"{step} {name}"
                np.testing.assert_allclose(
                    learned[name], value, atol=most, err_msg=name
                )
    changed = {
        n.split()[0] for n in weights if not np.array_equal(weights[n], before[n])
    }
    assert changed == {"transformer", "textcat", "bilou_ner", "tagger"}


@given(lengths=st.lists(st.integers(0, 9), max_size=12), size=st.integers(1, 5))
def test_shares_of_a_batch(nlp, lengths, size):
    docs = [nlp.make_doc("a " * length) for length in lengths]
    batch = [Example(doc, doc) for doc in docs]
    shares = [share_of(batch, rank, size) for rank in range(size)]
    assert sorted(id(eg) for share in shares for eg in share) == sorted(map(id, batch))
    sizes = [len(share) for share in shares]
    assert max(sizes) - min(sizes) <= 1


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
    for n_draws in (0, 1, 3):
        random.seed(1)
        drawn = []
        for batch, other in zip(
            with_own_random_state(shuffled()), expected, strict=True
        ):
            assert batch == other
            drawn += [random.random() for _ in range(n_draws)]
        assert drawn == numbers[: 8 * n_draws]  # nor do batches change what others draw


def test_command(bert, tmp_path):
    """One log, one score, a pipeline like that of one process."""
    lines = [
        f'{{"text": "the film was {word} {i}", "label": "{word}"}}\n'
        for i, word in enumerate(["good", "bad"] * 9)
    ]
    (tmp_path / "train.jsonl").write_text("".join(lines), "utf8")
    init = ("--pipeline", "textcat", "--transformer", bert, "--train", "train.jsonl")
    run("spanft", "init", "c.cfg", *init, cwd=tmp_path)
    more = ["--training.max_steps", "3", "--training.eval_frequency", "1"]
    more += ["--training.optimizer.learn_rate.initial_rate"]
    more += ["0.01", "--components.textcat.model.dropout", "0.0"]
    # Of each second batch a process has nothing to learn from, and no loss to show.
    more += ["--training.batcher.size", "17"]
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


def test_a_group_of_one_and_a_gpu_for_all_are_refused(tmp_path):
    (tmp_path / "c.cfg").touch()
    for args, expected in {
        ("c.cfg",): "torchrun --nproc-per-node",
        ("c.cfg", "-g", "1"): "each process has the GPU of its own number",
    }.items():
        done = run("spanft", "train", *args, cwd=tmp_path, ok=False)
        assert expected in " ".join(done.stderr.split())


if __name__ == "__main__":
    main(*sys.argv[1:])
