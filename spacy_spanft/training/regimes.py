"""Head first, then everything: transformers that stay frozen for a while."""

import warnings
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from spacy.language import Language
from thinc.api import Model

from ..errors import SpanftError
from ..ml.parameter_groups import bind, models, parameter_depths, shim_of, transformers
from ..util._compat import forward_of, set_forward, torch_module
from .schedules import first_step

__all__ = ["bind", "freeze_transformer", "group_parameters"]

BeforeUpdate = Callable[[Language, dict[str, Any]], None]


def freeze_transformer(
    until_step: int | None = None,
    until_epoch: int | None = None,
    until_share: float | None = None,
    steps_per_layer: int | None = None,
) -> BeforeUpdate:
    """Build `spacy-spanft.freeze_transformer.v1`, for [training.before_update].

    The head is trained first, over the features of a frozen transformer, then
    everything (Wang et al., 2019). A frozen transformer predicts: no dropout inside it,
    no backward pass, and its weights stay the same bit by bit. Optimizers do not see
    it, so neither weight decay nor old momentum moves it, and Adam's count of its
    updates begins when it thaws.

    Exactly one of the first three must be set. Steps and epochs count from 0, as in
    spaCy's loop, also in a training that is resumed: then the frozen phase is repeated,
    unless until_step is 0.

    until_step (Optional[int]): The first step that trains the transformer.
    until_epoch (Optional[int]): The first epoch that trains it.
    until_share (Optional[float]): The share of all steps before that, from 0 to 1.
    steps_per_layer (Optional[int]): Thaw layer by layer: the top one first, the next
        one after so many steps, the embeddings last. Dropout is then on in all of them.
    """
    limits = {
        "until_step": until_step,
        "until_epoch": until_epoch,
        "until_share": until_share,
    }
    given = {name: value for name, value in limits.items() if value is not None}
    if len(given) != 1:
        raise SpanftError(
            "freeze_transformer needs exactly one of until_step, until_epoch and "
            f"until_share, and has {', '.join(given) or 'none'}."
        )
    return _Freezer(*given.popitem(), steps_per_layer)


def group_parameters() -> BeforeUpdate:
    """Build `spacy-spanft.group_parameters.v1`, for [training.before_update].

    It shows the pipeline to `spacy-spanft.GroupedAdam.v1`, and does nothing else.
    """
    return lambda nlp, info: bind(nlp)


class _Freezer:
    """Freezes transformers before each update that is not to change them."""

    def __init__(self, name: str, limit: float, steps_per_layer: int | None) -> None:
        self.name = name
        self.limit = limit
        self.steps_per_layer = steps_per_layer
        self.thawed_at: int | None = None
        # Interpolating a config takes milliseconds.
        self.configs: WeakKeyDictionary[Language, Any] = WeakKeyDictionary()

    def __call__(self, nlp: Language, info: dict[str, Any]) -> None:
        bind(nlp)
        if info["step"] == 0 or nlp not in self.configs:
            self.configs[nlp] = nlp.config.interpolate().get("training", {})
            self.warn_if_never_thawed(self.configs[nlp])
        config = self.configs[nlp]
        since = self.steps_since_thaw(config, info)
        for transformer in _trained_transformers(nlp, config):
            _restore(transformer)
            encoder = torch_module(shim_of(transformer))
            depths = parameter_depths(encoder) if self.steps_per_layer else {}
            # Also where all is frozen still: an error would come after hours.
            if self.steps_per_layer and not depths:
                raise SpanftError(
                    f"The layers of {type(encoder).__name__} cannot be told apart. "
                    "Remove steps_per_layer."
                )
            if since < 0:
                _Frozen(transformer, lambda name: True)
            elif self.steps_per_layer is not None:
                n_layers = 1 + since // self.steps_per_layer
                held = {name for name, depth in depths.items() if depth >= n_layers}
                if held:
                    _Frozen(transformer, held.__contains__)

    def warn_if_never_thawed(self, config: Any) -> None:
        setting = {"until_step": "max_steps", "until_epoch": "max_epochs"}
        end = config.get(setting[self.name]) if self.name in setting else 1.0
        if end and self.limit >= end:
            warnings.warn(
                f"{self.name} = {self.limit}, but training ends at {end}: the "
                "transformer stays frozen to the end, and only the head learns.",
                stacklevel=2,
            )

    def steps_since_thaw(self, config: Any, info: dict[str, Any]) -> int:
        """Count the steps since the first one that trains the transformer, or -1."""
        step: int = info["step"]
        if self.name == "until_share":
            max_steps = config.get("max_steps", 0)
            if not max_steps:
                raise SpanftError(
                    "until_share needs [training] max_steps, which is 0. Set it, or "
                    "use until_step or until_epoch."
                )
            return max(-1, step - first_step(self.limit, max_steps))
        if self.name == "until_step":
            return max(-1, step - int(self.limit))
        if info["epoch"] < self.limit:
            self.thawed_at = None
            return -1
        if self.thawed_at is None or step < self.thawed_at:
            self.thawed_at = step
        return step - self.thawed_at


def _trained_transformers(nlp: Language, config: Any) -> list[Model[Any, Any]]:
    """Return the transformers that spaCy trains, or raise if there are none at all."""
    nodes_of = {name: transformers(model) for name, model in models(nlp).items()}
    if not any(nodes_of.values()):
        raise SpanftError(
            "freeze_transformer finds no transformer to freeze: the pipeline has: "
            f"{', '.join(nlp.pipe_names) or 'nothing'}."
        )
    for name in config.get("frozen_components") or []:
        nodes_of.pop(name, None)
    return [node for nodes in nodes_of.values() for node in nodes]


class _Frozen:
    """Weights of a transformer that stay bit by bit as they are, for one update.

    They get no gradient, and no backward pass runs through anything below the lowest
    one that still learns. If none does, the transformer predicts, without dropout. The
    end of the update (`finish_update`) undoes everything.
    """

    def __init__(
        self, transformer: Model[Any, Any], is_frozen: Callable[[str], bool]
    ) -> None:
        self.transformer = transformer
        self.shim = shim_of(transformer)
        self.forward = forward_of(transformer)
        self.parameters = []
        named = list(torch_module(self.shim).named_parameters())
        for name, parameter in named:
            if is_frozen(name):
                # An update leaves zeros here. With them, Adam would continue by its
                # momentum, and weight decay would shrink the weight.
                parameter.grad = None
                if parameter.requires_grad:
                    parameter.requires_grad_(False)
                    self.parameters.append(parameter)
        self.is_whole = not any(parameter.requires_grad for _, parameter in named)
        if self.is_whole:
            set_forward(transformer, self.predict)
        self.shim.finish_update = self.finish_update

    def predict(self, model: Any, docs: Any, is_train: bool) -> tuple[Any, Any]:
        """Run forward as in prediction: no dropout, no graph, no backward pass."""
        output, _ = self.forward(model, docs, is_train=False)
        return output, lambda d_output: docs

    def finish_update(self, optimizer: Any) -> None:
        """Update what is not frozen, and undo the freezing."""
        try:
            # Without gradients there is nothing to do, and the scaler of mixed
            # precision must not take the update for one that did not overflow.
            if not self.is_whole:
                type(self.shim).finish_update(self.shim, optimizer)
        finally:
            self.restore()

    def restore(self) -> None:
        for parameter in self.parameters:
            parameter.requires_grad_(True)
        set_forward(self.transformer, self.forward)
        del self.shim.finish_update


def _restore(transformer: Model[Any, Any]) -> None:
    """Undo a freezing whose update was never finished."""
    finish_update = vars(shim_of(transformer)).get("finish_update")
    holder = getattr(finish_update, "__self__", None)
    if isinstance(holder, _Frozen):
        holder.restore()
