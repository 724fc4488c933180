"""Which steps are evaluated, and a rate that ends with the training."""

from itertools import islice

import pytest
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from thinc.api import Optimizer
from thinc.schedules import warmup_linear as of_thinc

from spacy_spanft.errors import SpanftError
from spacy_spanft.training import schedules

from .test_prepare_training import RATE, quick, table


def test_every_epoch_and_the_last_step_are_evaluated():
    for per_epoch in range(1, 131, 3):
        for n_steps in range(1, 121):
            frequency, last = schedules.evaluation_steps(n_steps, per_epoch)
            steps = [*range(0, last + 1, frequency)]
            case = (n_steps, per_epoch, frequency, last)
            assert steps[-1] == last > 0, case
            longest = min(per_epoch, schedules.MOST_STEPS, n_steps)
            shortest = max(1, longest * 3 // 4)
            assert shortest <= frequency <= longest, case
            assert 0 <= n_steps - last < frequency, case


def test_batches_of_a_size_that_grows_from_epoch_to_epoch():
    def make():
        sizes = iter([1, 1, 2, *[4] * 99])

        def batcher(examples):
            examples = list(examples)
            while examples:
                size = next(sizes)
                yield examples[:size]
                del examples[:size]

        return batcher

    # 1, 1, 2, then 4, 4, then 4, 4
    assert schedules.count_batches(range(8), make, 0, 3) == (2, 4 + 2 + 2)
    assert schedules.count_batches(range(8), make, 3, 0) == (4, None)


@pytest.mark.parametrize("n_steps", [2, 9, 10, 804])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.95])
def test_it_is_thincs_with_shares(n_steps, share):
    ours = schedules.warmup_linear(0.5, share, n_steps - 1)  # the first step is step 0
    expected = of_thinc(0.5, int(share * n_steps), n_steps)
    n = n_steps + 5
    assert list(islice(ours, n)) == pytest.approx(list(islice(expected, n)))
    # It starts when a transformer thaws, at the first step of freeze_transformer.v1.
    rates = list(islice(schedules.warmup_linear(1.0, 0.0, n_steps, share), n_steps + 1))
    start = schedules.first_step(share, n_steps)
    assert rates[:start] == [0.0] * start
    left = n_steps + 1 - start
    assert rates[start:] == pytest.approx([*islice(of_thinc(1.0, 0, left), left)])


def test_shares_that_are_none():
    with pytest.raises(SpanftError, match="start_share is 1"):
        next(schedules.warmup_linear(0.1, max_steps=9, start_share=1.0))


@pytest.mark.parametrize(
    ("limits", "n_steps"),
    [
        ({"max_epochs": 2, "max_steps": 4}, 4),
        # Five batches of four: the last step of two epochs is step 9. Gradients are
        # accumulated over the parts of a batch, which are one step.
        ({"max_epochs": 2, "max_steps": 0, "accumulate_gradient": 2}, 9),
    ],
)
def test_the_rate_ends_with_the_training(limits, n_steps, tmp_path, monkeypatch):
    rates, step = [], Optimizer.step_schedules

    def note(optimizer):
        rates.append(optimizer.learn_rate)
        step(optimizer)

    monkeypatch.setattr(Optimizer, "step_schedules", note)
    schedule = {"@schedules": "spacy-spanft.warmup_linear.v1", "initial_rate": 0.1}
    changes = {f"training.{name}": value for name, value in limits.items()}
    changes |= {RATE: schedule, "training.batcher.size": 4}
    nlp = init_nlp(quick(table(tmp_path / "data.csv", 20), **changes))
    config = nlp.config.interpolate()["training"]
    assert n_steps - 1 <= config["max_steps"] <= n_steps
    assert config["optimizer"]["learn_rate"]["max_steps"] == config["max_steps"]
    train(nlp)
    schedule = schedules.warmup_linear(0.1, 0.1, config["max_steps"])
    assert rates == pytest.approx(list(islice(schedule, len(rates))))
    assert len(rates) == config["max_steps"] + 1
    assert 0.0 < rates[-1] <= 0.1 / 4 < max(rates) == 0.1
