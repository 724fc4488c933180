"""A learning rate that ends with the training: against thinc's, and in spaCy's loop."""

from itertools import islice

import pytest
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from thinc.api import Optimizer
from thinc.schedules import warmup_linear as of_thinc

from spacy_spanft.errors import SpanftError
from spacy_spanft.training.schedules import first_step, warmup_linear

from .test_prepare_training import RATE, quick, table

OURS = {
    "@schedules": "spacy-spanft.warmup_linear.v1",
    "initial_rate": 0.1,
}


@pytest.fixture
def data(tmp_path):
    return table(tmp_path / "data.csv", 20)


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


@pytest.fixture
def rates(monkeypatch):
    """Note the rate of each update."""
    found = []
    step = Optimizer.step_schedules

    def note(optimizer):
        found.append(optimizer.learn_rate)
        step(optimizer)

    monkeypatch.setattr(Optimizer, "step_schedules", note)
    return found


class TestTraining:
    """The rate is highest after a tenth of the epochs' steps, and ends with them."""

    def config(self, data, **limits):
        schedules = {RATE: OURS, "training.batcher.size": 4}
        return quick(
            data, **schedules, **{f"training.{k}": v for k, v in limits.items()}
        )

    @pytest.mark.parametrize(
        ("limits", "n_steps"),
        [
            # Five batches of four: the last step of two epochs is step 9.
            ({"max_epochs": 2, "max_steps": 0}, 9),
            ({"max_epochs": 2, "max_steps": 4}, 4),
            ({"max_epochs": 0, "max_steps": 15}, 15),
        ],
    )
    def test_the_end(self, limits, n_steps, data, rates):
        nlp = init_nlp(self.config(data, **limits))
        config = nlp.config.interpolate()["training"]
        assert n_steps - 1 <= config["max_steps"] <= n_steps
        rate = config["optimizer"]["learn_rate"]
        assert rate["max_steps"] == config["max_steps"]
        train(nlp)
        schedule = warmup_linear(0.1, 0.1, config["max_steps"])
        assert rates == pytest.approx(list(islice(schedule, len(rates))))
        assert len(rates) == config["max_steps"] + 1
        assert 0.0 < rates[-1] <= 0.1 / 4 < max(rates) == 0.1

    def test_batches_by_words(self, data):
        config = self.config(data, max_epochs=3, max_steps=0)
        batcher = {"@batchers": "spacy.batch_by_words.v1", "size": 12}
        config["training"]["batcher"] = {**batcher, "tolerance": 0.2}
        nlp = init_nlp(config)
        found = nlp.config.interpolate()["training"]
        assert found["optimizer"]["learn_rate"]["max_steps"] == found["max_steps"] > 3

    def test_accumulated_gradients(self, data):
        """They are those of the parts of a batch, which are one step."""
        config = self.config(data, max_epochs=2, max_steps=0, accumulate_gradient=2)
        nlp = init_nlp(config)
        assert 8 <= nlp.config["training"]["max_steps"] <= 9

    def test_a_corpus_that_is_streamed(self, data):
        nlp = init_nlp(self.config(data, max_epochs=-1, max_steps=7))
        rate = nlp.config.interpolate()["training"]["optimizer"]["learn_rate"]
        assert rate["max_steps"] == 7
        with pytest.raises(SpanftError, match="how many steps that has is not known"):
            init_nlp(self.config(data, max_epochs=-1, max_steps=0, patience=5))

    def test_nobody_counts(self, data):
        """Without the callback the first update says what is missing."""
        config = self.config(data, max_epochs=2, max_steps=0)
        del config["initialize"]["after_init"]
        with pytest.raises(SpanftError, match="how many steps that has is not known"):
            train(init_nlp(config))
