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

from spacy_spanft.errors import SpanftError
from spacy_spanft.training.parallel import (
    share_of,
    train_in_group,
    with_own_random_state,
)

from ..commands import run
from .parallel import N_STEPS, make, train

ROOT = Path(__file__).parents[2]


def run_group(command, n_processes=2):
    """Start processes as torchrun does, which takes seconds itself."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    processes = []
    for rank in range(n_processes):
        more = {"RANK": str(rank), "LOCAL_RANK": str(rank)}
        size = {"WORLD_SIZE": str(n_processes), "PYTHONPATH": str(ROOT)}
        environment = {**os.environ, **place, **more, **size}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        args = [sys.executable, "-W", "ignore", *map(str, command)]
        processes.append(subprocess.Popen(args, env=environment, text=True, **pipes))
    found = []
    for process in processes:
        out, said = process.communicate(timeout=300)
        found.append((process.returncode, out, said))
    return found


@pytest.mark.parametrize("accumulate", [1, 2])
def test_two_processes_learn_what_one_does(bert, accumulate, tmp_path):
    command = ["-m", "tests.training.parallel", bert, tmp_path, accumulate]
    for code, _, said in run_group(command):
        assert code == 0, said
    nlp = make(bert)
    before = {name: value.copy() for name, value in weights_of(nlp).items()}
    gradients, weights = train(nlp, accumulate=accumulate)
    assert len(gradients) == N_STEPS
    for rank in (0, 1):
        found = np.load(tmp_path / f"weights{rank}.npz")
        assert set(found) == set(weights)
        for name, value in weights.items():
            if name.endswith("key.bias"):  # has no gradient but rounding, which Adam
                continue  # makes as large as any other
            np.testing.assert_allclose(found[name], value, atol=1e-4, err_msg=name)
    for step, expected in enumerate(gradients):
        for rank in (0, 1):
            found = np.load(tmp_path / f"gradients{rank}.npz")
            for name, value in expected.items():
                # Differences of rounding grow from step to step.
                most = 1e-5 if step == 0 else 1e-3
                name = f"{step} {name}"
                np.testing.assert_allclose(found[name], value, atol=most, err_msg=name)
    changed = {
        name for name in weights if not np.array_equal(weights[name], before[name])
    }
    assert {name.split()[0] for name in changed} == {
        *("transformer", "textcat", "bilou_ner", "tagger")
    }


def weights_of(nlp):
    from .parallel import state_of, weight

    return state_of(nlp, weight)


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
        found = []
        for batch in with_own_random_state(shuffled()):
            found.append(batch)
            found_state.append([random.random() for _ in range(n_draws)])
        return found

    found_state = []
    expected = run(0)
    assert run(3) == run(1) == expected
    random.seed(1)
    assert list(shuffled()) == expected
    # Nor do batches change what others draw.
    random.seed(1)
    drawn = [random.random() for _ in range(24)]
    assert sum((one for one in found_state if len(one) == 3), []) == drawn  # noqa: RUF017


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
    one, two = (spacy.load(tmp_path / name / "model-last") for name in ("one", "two"))
    assert one.config == two.config
    text = "the film was good"
    assert one(text).cats == pytest.approx(two(text).cats, abs=1e-4)
    scores = [nlp.meta["performance"]["cats_score"] for nlp in (one, two)]
    assert scores[0] == pytest.approx(scores[1])
    # One process has nothing at all to learn from, and no loss to show.
    alone = ["--training.batcher.size", "1", "--training.eval_frequency", "1"]
    done = torchrun("c.cfg", *more, *alone, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = torchrun("c.cfg", "--nope.x", "3", cwd=tmp_path)
    assert "not a section value that can be overridden" in done.stdout
    done = torchrun("c.cfg", "-g", "1", cwd=tmp_path)
    assert "each process has the GPU of its own number" in done.stderr


def test_without_torchrun(tmp_path):
    with pytest.raises(SpanftError, match="torchrun starts them"):
        train_in_group("c.cfg", None, {})
    (tmp_path / "c.cfg").touch()
    done = run("spanft", "train", tmp_path / "c.cfg", ok=False)
    assert "torchrun --nproc-per-node" in done.stderr
    done = run("spanft", "train", tmp_path / "no.cfg", ok=False)
    assert "There is no file" in done.stderr


def test_other_pipelines(tmp_path):
    """Two machines with different files."""
    code = """
import os, spacy
from spacy_spanft.cli.util import short_errors
from spacy_spanft.training.parallel import in_group
from torch import distributed
nlp = spacy.blank("en")
tagger = nlp.add_pipe("tagger")
for label in "ABC"[: 2 + int(os.environ["RANK"])]:
    tagger.add_label(label)
nlp.initialize()
distributed.init_process_group("gloo")
try:
    with short_errors(), in_group(nlp):
        pass
finally:
    distributed.destroy_process_group()
"""
    for status, _, said in run_group(["-c", code]):
        assert status == 1
        assert "do not train the same pipeline" in said
