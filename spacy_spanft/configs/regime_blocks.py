"""Training regimes: which parameters learn when, and at which rate."""

from collections.abc import Callable

from confection import Config

_START_SHARE = "training.optimizer.learn_rate.start_share"
_HEAD_RATE = 1e-3
_FROZEN_SHARE = 0.1


def _everything(config: Config) -> None:
    """Leave the base as it is: everything learns at one rate."""


def _grouped(config: Config) -> None:
    """Train the head at its own rate; learn_rate stays the transformer's."""
    training = config["training"]
    training["before_update"] = {"@callbacks": "spacy-spanft.group_parameters.v1"}
    optimizer = training["optimizer"]
    optimizer["@optimizers"] = "spacy-spanft.GroupedAdam.v1"
    optimizer |= {"layer_decay": 1.0, "decay_biases_and_norms": False}
    optimizer["head_rate"] = {**optimizer["learn_rate"], "initial_rate": _HEAD_RATE}


def _head_first(config: Config) -> None:
    """Freeze the transformer at the beginning (Wang et al., 2019)."""
    _grouped(config)
    training = config["training"]
    training["before_update"] = {
        "@callbacks": "spacy-spanft.freeze_transformer.v1",
        "until_share": f"${{{_START_SHARE}}}",
    }
    training["optimizer"]["learn_rate"]["start_share"] = _FROZEN_SHARE


# By the name of --regime: changes a config that has no regime yet.
REGIMES: dict[str, Callable[[Config], None]] = {
    "everything": _everything,
    "grouped": _grouped,
    "head-first": _head_first,
}
