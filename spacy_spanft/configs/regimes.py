"""Training regimes: who learns when, and at which rate."""

from collections.abc import Callable

from confection import Config

_GROUPED_ADAM = "spacy-spanft.GroupedAdam.v1"
_WARMUP_LINEAR = "spacy-spanft.warmup_linear.v1"
_START_SHARE = "training.optimizer.transformer_rate.start_share"
_HEAD_RATE = 1e-3
_FROZEN_SHARE = 0.1


def _everything(config: Config) -> str:
    rate = config["training"]["optimizer"]["learn_rate"]["initial_rate"]
    return (
        f"Adam, learning rate {rate} with a tenth of the steps to warm up and then "
        "linear decay, weight decay 0.01, batches of 32, three epochs (max_epochs)."
    )


def _grouped(config: Config) -> str:
    """Let the head learn at a rate of its own."""
    training = config["training"]
    training["before_update"] = {"@callbacks": "spacy-spanft.group_parameters.v1"}
    optimizer = training["optimizer"]
    optimizer["@optimizers"] = _GROUPED_ADAM
    optimizer |= {"layer_decay": 1.0, "decay_biases_and_norms": False}
    rate = optimizer["learn_rate"]
    optimizer["transformer_rate"] = dict(rate)
    before, rate["initial_rate"] = rate["initial_rate"], _HEAD_RATE
    return (
        f"The head learns at a rate of {_HEAD_RATE}, the transformer at {before}. "
        "layer_decay = 0.9 would let each layer of it learn a tenth slower than the "
        "one above it."
    )


def _head_first(config: Config) -> str:
    """Freeze the transformer for a while."""
    note = _grouped(config)
    training = config["training"]
    training["before_update"] = {
        "@callbacks": "spacy-spanft.freeze_transformer.v1",
        "until_share": f"${{{_START_SHARE}}}",
    }
    training["optimizer"]["transformer_rate"]["start_share"] = _FROZEN_SHARE
    return (
        "The head first, then everything (Wang et al., 2019): for a tenth of the steps "
        f"the transformer is frozen, and then its rate warms up. {note} "
        "steps_per_layer, beside until_share, thaws its layers one by one."
    )


# What each changes in a config that has neither spans nor a regime; it says what.
REGIMES: dict[str, Callable[[Config], str]] = {
    "everything": _everything,
    "grouped": _grouped,
    "head-first": _head_first,
}
