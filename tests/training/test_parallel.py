"""Training in two processes: what one process would learn from the same batches."""

import os
import random
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.training import Example

from spacy_spanft.training.parallel import share_of, with_own_random_state

from ..commands import run
from .parallel import N_STEPS, make, state_of, train, weight

ROOT = Path(__file__).parents[2]


def run_group(command, n_processes=2):
    """Start processes as torchrun does, which takes seconds itself."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {
        **os.environ,
        **{"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)},
        **{"WORLD_SIZE": str(n_processes), "PYTHONPATH": str(ROOT)},
    }
    processes = []
    for rank in range(n_processes):
        environment = {**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        args = [sys.executable, "-W", "ignore", *map(str, command)]
        processes.append(subprocess.Popen(args, env=environment, text=True, **pipes))
    printed = [process.communicate(timeout=300)[1] for process in processes]
    return [(p.returncode, text) for p, text in zip(processes, printed, strict=True)]


@pytest.mark.parametrize("accumulate", [1, 2])
def test_two_processes_learn_what_one_does(bert, accumulate, tmp_path):
    command = ["-m", "tests.training.parallel", bert, tmp_path, accumulate]
    for code, errors in run_group(command):
        assert code == 0, errors
    nlp = make(bert)
    before = {name: value.copy() for name, value in state_of(nlp, weight).items()}
    gradients, weights = train(nlp, accumulate=accumulate)
    assert len(gradients) == N_STEPS
    for rank in (0, 1):
        learned = np.load(tmp_path / f"weights{rank}.npz")
        assert set(learned) == set(weights)
        for name, value in weights.items():
            if name.endswith("key.bias"):  # has no gradient but rounding, which Adam
                continue  # makes as large as any other
            np.testing.assert_allclose(learned[name], value, atol=1e-4, err_msg=name)
        summed = np.load(tmp_path / f"gradients{rank}.npz")
        for step, expected in enumerate(gradients):
            for name, value in expected.items():
                # Differences of rounding grow from step to step.
                most = 1e-5 if step == 0 else 1e-3
                name = f"{step} {name}"
                np.testing.assert_allclose(summed[name], value, atol=most, err_msg=name)
    changed = {
        name for name in weights if not np.array_equal(weights[name], before[name])
    }
    trained = {"transformer", "textcat", "bilou_ner", "tagger"}
    assert {name.split()[0] for name in changed} == trained


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
            numbers = list(range(10))
            random.shuffle(numbers)
            yield from ((epoch, numbers[i : i + 5]) for i in (0, 5))

    def run(n_draws):
        random.seed(1)
        batches, drawn = [], []
        for batch in with_own_random_state(shuffled()):
            batches.append(batch)
            drawn += [random.random() for _ in range(n_draws)]
        return batches, drawn

    random.seed(1)
    expected = list(shuffled())
    random.seed(1)
    numbers = [random.random() for _ in range(24)]
    for n_draws in (0, 1, 3):
        # Nor do batches change what others draw.
        assert run(n_draws) == (expected, numbers[: 8 * n_draws])


def torchrun(*args, cwd):
    """Train in two processes."""
    command = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    return subprocess.run(
        [sys.executable, *command, "-m", "spacy", "spanft", "train", *args],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def test_command(bert, tmp_path):
    """With torchrun itself: one log, one score, a pipeline like that of one process."""
    lines = [
        f'{{"text": "the film was {word} {i}", "label": "{word}"}}\n'
        for i, word in enumerate(["good", "bad"] * 9)
    ]
    (tmp_path / "train.jsonl").write_text("".join(lines), "utf8")
    init = ("--pipeline", "textcat", "--transformer", bert, "--train", "train.jsonl")
    run("spanft", "init", "c.cfg", *init, cwd=tmp_path)
    more = ["--training.max_steps", "3", "--training.optimizer.learn_rate.initial_rate"]
    more += ["0.01", "--components.textcat.model.dropout", "0.0"]
    done = torchrun("c.cfg", "--output", "two", *more, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("LOSS TRANS") == 1
    assert done.stderr.count("eval_frequency") == 1
    run("train", "c.cfg", "--output", "one", *more, cwd=tmp_path)
    alone, group = (spacy.load(tmp_path / n / "model-last") for n in ("one", "two"))
    assert alone.config == group.config
    text = "the film was good"
    assert alone(text).cats == pytest.approx(group(text).cats, abs=1e-4)
    scores = [nlp.meta["performance"]["cats_score"] for nlp in (alone, group)]
    assert scores[0] == pytest.approx(scores[1])
    # One process has nothing at all to learn from, and no loss to show.
    single = ["--training.batcher.size", "1", "--training.eval_frequency", "1"]
    done = torchrun("c.cfg", *more, *single, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("c.cfg",), "torchrun --nproc-per-node"),
        (("no.cfg",), "There is no file"),
        (("c.cfg", "-g", "1"), "each process has the GPU of its own number"),
        (("c.cfg", "--nope", "1"), "This is not a setting of a config"),
    ],
)
def test_errors(args, expected, tmp_path):
    (tmp_path / "c.cfg").touch()
    done = run("spanft", "train", *args, cwd=tmp_path, ok=False)
    assert expected in " ".join(done.stderr.split())
