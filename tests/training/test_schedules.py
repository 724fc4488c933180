"""Which steps are evaluated, and a rate that ends with the training."""

from itertools import islice, pairwise

import pytest
from spacy.training.initialize import init_nlp
from spacy.training.loop import train, train_while_improving
from thinc.api import Optimizer
from thinc.schedules import warmup_linear as of_thinc

from spacy_spanft.errors import SpanftError
from spacy_spanft.training.schedules import (
    EvaluationSteps,
    count_batches,
    evaluation_steps,
    first_step,
    warmup_linear,
)

from .test_prepare_training import RATE, quick, table


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
@pytest.mark.parametrize("eval_frequency", [1, 2, 3, 7, 16, 100])
def test_every_epoch_and_the_last_step_are_evaluated(eval_frequency, can_grow):
    for per_epoch in range(1, 41):
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


@pytest.mark.parametrize(
    ("steps", "per_epoch", "expected"),
    [
        # Without an end; 300 texts in batches of 32, three epochs; the 8,551 of CoLA.
        *((0, 10, (10, 0)), (0, 500, (100, 0)), (30, 10, (10, 30))),
        *((804, 268, (90, 810)), (1000, 268, (100, 1000))),
    ],
)
def test_small_and_large_data(steps, per_epoch, expected):
    fitted = evaluation_steps(steps, per_epoch, 100, can_grow=True)
    assert fitted == EvaluationSteps(*expected)


class TestCountBatches:
    """As many as spaCy's loop makes."""

    def test_of_a_size_that_grows_from_epoch_to_epoch(self):
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
        assert count_batches(range(8), make, 0, 3) == (2, 4 + 2 + 2)
        assert count_batches(range(8), make, 3, 0) == (4, None)

    def test_of_an_uncertain_number_gives_a_low_one(self):
        def batcher(examples):
            """Make as many batches as the first example says."""
            examples = list(examples)
            yield from [[example] for example in examples[: examples[0]]]

        per_epoch, total = count_batches(range(3, 9), lambda: batcher, 0, 9)
        assert 3 <= per_epoch < 9
        assert total < 9 * 6

    def test_of_none_is_not_waited_for(self):
        epochs = []

        def batcher(examples):
            epochs.append(examples)
            return iter(())

        assert count_batches(range(8), lambda: batcher, 0, 0) == (0, None)
        assert len(epochs) <= 3

    def test_more_epochs_than_are_looked_at(self):
        def batcher(examples):
            return ([example] for example in examples)

        assert count_batches(range(8), lambda: batcher, 0, 5000) == (8, 40000)


@pytest.mark.parametrize("n_steps", [2, 9, 10, 804, 1003])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.25])
def test_it_is_thincs_with_shares(n_steps, share):
    ours = warmup_linear(0.5, share, n_steps - 1)  # the first step is step 0
    expected = of_thinc(0.5, int(share * n_steps), n_steps)
    n = n_steps + 5
    assert list(islice(ours, n)) == pytest.approx(list(islice(expected, n)))


@pytest.mark.parametrize("until_share", [0.1, 0.3, 0.95])
@pytest.mark.parametrize("n_steps", [5, 60, 804])
def test_it_starts_when_a_transformer_thaws(n_steps, until_share):
    """The first step that may learn is that of freeze_transformer.v1."""
    rates = list(islice(warmup_linear(1.0, 0.0, n_steps, until_share), n_steps + 1))
    start = first_step(until_share, n_steps)
    assert rates[:start] == [0.0] * start
    left = n_steps + 1 - start
    expected = islice(of_thinc(1.0, 0, left), left)
    assert rates[start:] == pytest.approx(list(expected))


@pytest.mark.parametrize("name", ["warmup_share", "start_share"])
@pytest.mark.parametrize("value", [-0.1, 1.0, float("nan")])
def test_shares_that_are_none(name, value):
    with pytest.raises(SpanftError, match=f"{name} is {value}, but must be a number"):
        warmup_linear(0.1, max_steps=9, **{name: value})


class TestTraining:
    """The rate is highest after a tenth of the epochs' steps, and ends with them."""

    @pytest.fixture
    def make(self, tmp_path):
        data = table(tmp_path / "data.csv", 20)
        schedule = {"@schedules": "spacy-spanft.warmup_linear.v1", "initial_rate": 0.1}

        def make(**limits):
            changes = {RATE: dict(schedule), "training.batcher.size": 4}
            changes |= {f"training.{name}": value for name, value in limits.items()}
            return quick(data, **changes)

        return make

    @pytest.mark.parametrize(
        ("limits", "n_steps"),
        [
            # Five batches of four: the last step of two epochs is step 9.
            ({"max_epochs": 2, "max_steps": 0}, 9),
            ({"max_epochs": 2, "max_steps": 4}, 4),
            ({"max_epochs": 0, "max_steps": 15}, 15),
            # Gradients are accumulated over the parts of a batch, which are one step.
            ({"max_epochs": 2, "max_steps": 0, "accumulate_gradient": 2}, 9),
        ],
    )
    def test_the_end(self, limits, n_steps, make, monkeypatch):
        rates, step = [], Optimizer.step_schedules

        def note(optimizer):
            rates.append(optimizer.learn_rate)
            step(optimizer)

        monkeypatch.setattr(Optimizer, "step_schedules", note)
        nlp = init_nlp(make(**limits))
        config = nlp.config.interpolate()["training"]
        assert n_steps - 1 <= config["max_steps"] <= n_steps
        rate = config["optimizer"]["learn_rate"]
        assert rate["max_steps"] == config["max_steps"]
        train(nlp)
        schedule = warmup_linear(0.1, 0.1, config["max_steps"])
        assert rates == pytest.approx(list(islice(schedule, len(rates))))
        assert len(rates) == config["max_steps"] + 1
        assert 0.0 < rates[-1] <= 0.1 / 4 < max(rates) == 0.1

    def test_batches_by_words(self, make):
        config = make(max_epochs=3, max_steps=0)
        batcher = {"@batchers": "spacy.batch_by_words.v1", "size": 12}
        config["training"]["batcher"] = {**batcher, "tolerance": 0.2}
        training = init_nlp(config).config.interpolate()["training"]
        schedule = training["optimizer"]["learn_rate"]
        assert schedule["max_steps"] == training["max_steps"] > 3

    def test_a_corpus_that_is_streamed(self, make):
        nlp = init_nlp(make(max_epochs=-1, max_steps=7))
        rate = nlp.config.interpolate()["training"]["optimizer"]["learn_rate"]
        assert rate["max_steps"] == 7
        with pytest.raises(SpanftError, match="how many steps that has is not known"):
            init_nlp(make(max_epochs=-1, max_steps=0, patience=5))

    def test_nobody_counts(self, make):
        """Without the callback the first update says what is missing."""
        config = make(max_epochs=2, max_steps=0)
        del config["initialize"]["after_init"]
        with pytest.raises(SpanftError, match="how many steps that has is not known"):
            train(init_nlp(config))
