"""Head first, then everything: transformers that stay frozen for a while."""

import warnings
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from spacy.language import Language
from thinc.api import Model

from ...errors import Errors, SpanftError, Warnings, check_number
from ...ml.optimizers.groups import (
    bind,
    models,
    parameter_depths,
    shim_of,
    transformers,
)
from ...util._compat import torch_module
from ..schedules import first_step
from .frozen import freeze_for_update, restore

BeforeUpdate = Callable[[Language, dict[str, Any]], None]


def freeze_transformer(
    until_step: int | None = None,
    until_epoch: int | None = None,
    until_share: float | None = None,
    steps_per_layer: int | None = None,
) -> BeforeUpdate:
    """Build `spacy-spanft.freeze_transformer.v1`, for [training.before_update].

    The head is trained first, over the features of a transformer that stays as it is,
    then everything (Wang et al., 2019). While it is frozen the transformer predicts:
    no dropout inside it, no backward pass, and its weights stay the same bit by bit.
    Optimizers do not see it, so neither weight decay nor old momentum moves it, and
    Adam's count of its updates begins when it thaws.

    Exactly one of the first three must be given. Steps and epochs count from 0, as in
    spaCy's loop, and do so again when training is resumed: then the frozen phase is
    there again, unless until_step is 0.

    until_step (Optional[int]): The first step that trains the transformer too.
    until_epoch (Optional[int]): The first epoch that does.
    until_share (Optional[float]): The share of all steps that does not, from 0 to 1.
    steps_per_layer (Optional[int]): Thaw layer by layer: the top one first, after each
        so many steps the next, the embeddings last. Dropout is then on in all of them.
    RETURNS (Callable[[Language, Dict[str, Any]], None]): The callback. It also shows
        the pipeline to `spacy-spanft.GroupedAdam.v1`.
    """
    limits = {
        "until_step": until_step,
        "until_epoch": until_epoch,
        "until_share": until_share,
    }
    given = {name: value for name, value in limits.items() if value is not None}
    if len(given) != 1:
        names = ", ".join(given) if given else "none"
        raise SpanftError(Errors.ONE_UNTIL.format(given=names))
    ((name, limit),) = given.items()
    if name == "until_share":
        check_number(name, limit, lambda x: 0 <= x <= 1, "a number from 0 to 1")
    else:
        check_number(name, limit, lambda x: x >= 0, "a whole number of 0 or more")
    if steps_per_layer is not None:
        least = "a whole number of 1 or more"
        check_number("steps_per_layer", steps_per_layer, lambda x: x >= 1, least)
    return _Freezer(name, limit, steps_per_layer)


def group_parameters() -> BeforeUpdate:
    """Build `spacy-spanft.group_parameters.v1`, for [training.before_update].

    RETURNS (Callable[[Language, Dict[str, Any]], None]): Shows the pipeline to
        `spacy-spanft.GroupedAdam.v1`, and does nothing else.
    """
    return lambda nlp, info: bind(nlp)


class _Freezer:
    """Holds the transformers' weights before each update that is not to change them."""

    def __init__(self, name: str, limit: float, steps_per_layer: int | None) -> None:
        self.name = name
        self.limit = limit
        self.steps_per_layer = steps_per_layer
        self.thawed_at: int | None = None
        # Making a config takes milliseconds.
        self.configs: WeakKeyDictionary[Language, Any] = WeakKeyDictionary()

    def __call__(self, nlp: Language, info: dict[str, Any]) -> None:
        bind(nlp)
        if info["step"] == 0 or nlp not in self.configs:
            self.configs[nlp] = nlp.config.interpolate().get("training", {})
            self.warn_if_never_thawed(self.configs[nlp])
        n_layers = self.thawed_layers(self.configs[nlp], info)
        for transformer in _trained_transformers(nlp, self.configs[nlp]):
            restore(transformer)
            if n_layers is None:
                continue
            depths = self.depths_of(transformer)
            if n_layers == 0:
                freeze_for_update(transformer, lambda name: True)
            elif n_layers <= max(depths.values()):
                held = {name for name, depth in depths.items() if depth >= n_layers}
                freeze_for_update(transformer, held.__contains__)

    def warn_if_never_thawed(self, config: Any) -> None:
        """Warn if training ends before the transformer thaws."""
        ends = {
            "until_step": config.get("max_steps") or None,
            "until_epoch": config.get("max_epochs") or None,
            "until_share": 1.0,
        }
        end = ends[self.name]
        if end is not None and self.limit >= end:
            text = {"name": self.name, "value": self.limit, "end": end}
            warnings.warn(Warnings.NEVER_THAWS.format(**text), stacklevel=2)

    def thawed_layers(self, config: Any, info: dict[str, Any]) -> int | None:
        """Tell how many layers learn in the coming update; None if all do."""
        since = self.steps_since_thaw(config, info)
        if since < 0:
            return 0
        if self.steps_per_layer is None:
            return None
        return 1 + since // self.steps_per_layer

    def steps_since_thaw(self, config: Any, info: dict[str, Any]) -> int:
        """Count the steps since the first one that trains the transformer, or -1."""
        step: int = info["step"]
        if self.name == "until_share":
            max_steps = config.get("max_steps", 0)
            if not max_steps:
                raise SpanftError(Errors.NO_MAX_STEPS.format(value=max_steps))
            return max(-1, step - first_step(self.limit, max_steps))
        if self.name == "until_step":
            return max(-1, step - int(self.limit))
        if info["epoch"] < self.limit:
            self.thawed_at = None
            return -1
        if self.thawed_at is None or step < self.thawed_at:
            self.thawed_at = step
        return step - self.thawed_at

    def depths_of(self, transformer: Model[Any, Any]) -> dict[str, int]:
        """Tell the layers apart, if they are to thaw one by one."""
        if self.steps_per_layer is None:
            return {}
        encoder = torch_module(shim_of(transformer))
        depths = parameter_depths(encoder)
        if not depths:
            place = {"encoder": type(encoder).__name__, "setting": "steps_per_layer"}
            raise SpanftError(Errors.NO_LAYERS.format(**place))
        return depths


def _trained_transformers(nlp: Language, config: Any) -> list[Model[Any, Any]]:
    """Find the transformers that spaCy trains, or raise if there are none."""
    found = {name: transformers(model) for name, model in models(nlp).items()}
    owners = [name for name, own in found.items() if own]
    if not owners:
        names = ", ".join(nlp.pipe_names) or "nothing"
        raise SpanftError(Errors.NOTHING_TO_FREEZE.format(components=names))
    frozen = config.get("frozen_components") or []
    if set(owners) <= set(frozen):
        names = ", ".join(owners)
        raise SpanftError(Errors.FROZEN_FOR_GOOD.format(components=names))
    return [one for name in owners if name not in frozen for one in found[name]]
