"""Training regimes: which parameters learn when, and at which rate."""

from collections.abc import Callable
from typing import NamedTuple

from confection import Config

_START_SHARE = "training.optimizer.learn_rate.start_share"
_HEAD_RATE = 1e-3
_FROZEN_SHARE = 0.1


class Regime(NamedTuple):
    """How a pipeline is trained.

    change (Callable[[Config], None]): Changes a config that has no regime yet.
    note (str): The comment in the config, with {rate} for the transformer's learning
        rate and {epochs}.
    """

    change: Callable[[Config], None]
    note: str


def _everything(config: Config) -> None:
    """Leave the base as it is."""


def _grouped(config: Config) -> None:
    """Train the head at its own rate; learn_rate stays the transformer's."""
    training = config["training"]
    training["before_update"] = {"@callbacks": "spacy-spanft.group_parameters.v1"}
    optimizer = training["optimizer"]
    optimizer["@optimizers"] = "spacy-spanft.GroupedAdam.v1"
    optimizer |= {"layer_decay": 1.0, "decay_biases_and_norms": False}
    optimizer["head_rate"] = {**optimizer["learn_rate"], "initial_rate": _HEAD_RATE}


def _head_first(config: Config) -> None:
    """Freeze the transformer at the beginning."""
    _grouped(config)
    training = config["training"]
    training["before_update"] = {
        "@callbacks": "spacy-spanft.freeze_transformer.v1",
        "until_share": f"${{{_START_SHARE}}}",
    }
    training["optimizer"]["learn_rate"]["start_share"] = _FROZEN_SHARE


_RATES = f"The head learns at a rate of {_HEAD_RATE}, the transformer at {{rate}}."
REGIMES = {
    "everything": Regime(
        _everything,
        "Adam, learning rate {rate} with warm-up over a tenth of the steps and then "
        "linear decay, weight decay 0.01, batches of 32, {epochs} epochs (max_epochs).",
    ),
    "grouped": Regime(_grouped, _RATES),
    "head-first": Regime(
        _head_first,
        "The head first, then everything (Wang et al., 2019): the transformer is "
        f"frozen for a tenth of the steps, then its rate warms up. {_RATES}",
    ),
}
