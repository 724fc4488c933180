"""Training regimes: who learns when, and at which rate."""

from collections.abc import Callable
from typing import NamedTuple

from confection import Config

_GROUPED_ADAM = "spacy-spanft.GroupedAdam.v1"
_START_SHARE = "training.optimizer.learn_rate.start_share"
_HEAD_RATE = 1e-3
_FROZEN_SHARE = 0.1


class Regime(NamedTuple):
    """How a pipeline is trained.

    change (Callable[[Config], None]): Changes a config that has no regime yet.
    note (str): What it does, for whoever reads the config; {rate} is the transformer's
        learning rate, and {epochs} is how long.
    """

    change: Callable[[Config], None]
    note: str


def _everything(config: Config) -> None:
    """Leave the base as it is."""


def _grouped(config: Config) -> None:
    """Let the head learn at a rate of its own."""
    training = config["training"]
    training["before_update"] = {"@callbacks": "spacy-spanft.group_parameters.v1"}
    optimizer = training["optimizer"]
    optimizer["@optimizers"] = _GROUPED_ADAM
    optimizer |= {"layer_decay": 1.0, "decay_biases_and_norms": False}
    # learn_rate stays the transformer's, whatever the regime.
    optimizer["head_rate"] = {**optimizer["learn_rate"], "initial_rate": _HEAD_RATE}


def _head_first(config: Config) -> None:
    """Freeze the transformer for a while."""
    _grouped(config)
    training = config["training"]
    training["before_update"] = {
        "@callbacks": "spacy-spanft.freeze_transformer.v1",
        "until_share": f"${{{_START_SHARE}}}",
    }
    training["optimizer"]["learn_rate"]["start_share"] = _FROZEN_SHARE


_RATES = (
    f"The head learns at a rate of {_HEAD_RATE}, the transformer at {{rate}}. "
    "layer_decay = 0.9 would let each layer of it learn a tenth slower than the one "
    "above it."
)
REGIMES = {
    "everything": Regime(
        _everything,
        "Adam, learning rate {rate} with a tenth of the steps to warm up and then "
        "linear decay, weight decay 0.01, batches of 32, {epochs} epochs (max_epochs).",
    ),
    "grouped": Regime(_grouped, _RATES),
    "head-first": Regime(
        _head_first,
        "The head first, then everything (Wang et al., 2019): for a tenth of the steps "
        f"the transformer is frozen, and then its rate warms up. {_RATES} "
        "steps_per_layer, beside until_share, thaws its layers one by one.",
    ),
}
