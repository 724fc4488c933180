"""When training evaluates: spaCy's loop is simulated over many sizes."""

from itertools import pairwise

import pytest
from spacy.training.loop import train_while_improving

from spacy_spanft.training.evaluation import EvaluationSteps, evaluation_steps

SIZES = range(1, 41)


def evaluated(eval_frequency, max_steps):
    """List the steps that spaCy's loop evaluates, and the last one it does."""
    steps = [step for step in range(max_steps + 1) if step % eval_frequency == 0]
    return steps, max_steps


class _Nothing:
    """Is both a pipeline of nothing and its optimizer."""

    averages = None
    pipeline = ()

    def update(self, *args, **settings):
        """Learn nothing."""

    def step_schedules(self):
        """Have no schedules."""


@pytest.mark.parametrize(("frequency", "max_steps"), [(1, 1), (3, 9), (4, 9), (9, 5)])
def test_simulation_is_spacys_loop(frequency, max_steps):
    steps = train_while_improving(
        _Nothing(),
        _Nothing(),
        ((0, []) for _ in range(99)),
        lambda: (0.0, {}),
        dropout=0.0,
        eval_frequency=frequency,
        accumulate_gradient=1,
        patience=0,
        max_steps=max_steps,
        exclude=[],
        annotating_components=[],
        before_update=None,
    )
    done = [info["step"] for _, info, best in steps if best is not None]
    assert (done, max_steps) == evaluated(frequency, max_steps)


@pytest.mark.parametrize("can_grow", [True, False])
@pytest.mark.parametrize("eval_frequency", [1, 2, 3, 5, 7, 10, 16, 40, 100])
def test_every_epoch_and_the_last_step_are_evaluated(eval_frequency, can_grow):
    for per_epoch in SIZES:
        for n_steps in range(1, 121):
            fitted = evaluation_steps(
                n_steps, per_epoch, eval_frequency, can_grow=can_grow
            )
            steps, last = evaluated(*fitted)
            case = (n_steps, per_epoch, eval_frequency, fitted)
            assert steps[-1] == last > 0, case
            gaps = [b - a for a, b in pairwise(steps)]
            assert max(gaps) <= min(eval_frequency, per_epoch), case
            moved = last - n_steps if can_grow else n_steps - last
            assert 0 <= moved < (len(gaps) if can_grow else fitted.eval_frequency), case
            # What needs no change is not changed.
            if n_steps % eval_frequency == 0 and eval_frequency <= per_epoch:
                assert fitted == (eval_frequency, n_steps), case


@pytest.mark.parametrize("can_grow", [True, False])
def test_without_an_end_each_epoch_is_evaluated(can_grow):
    assert evaluation_steps(0, 10, 100, can_grow=can_grow) == EvaluationSteps(10, 0)
    assert evaluation_steps(0, 500, 100, can_grow=can_grow) == EvaluationSteps(100, 0)


def test_small_and_large_data():
    # 300 texts in batches of 32, three epochs; and the 8,551 of CoLA.
    assert evaluation_steps(30, 10, 100, can_grow=True) == EvaluationSteps(10, 30)
    assert evaluation_steps(804, 268, 100, can_grow=True) == EvaluationSteps(90, 810)
    assert evaluation_steps(1000, 268, 100, can_grow=True) == EvaluationSteps(100, 1000)
