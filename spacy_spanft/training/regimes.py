"""Head first, then everything: transformers that stay frozen for a while."""

from collections.abc import Callable
from typing import Any

from spacy.language import Language
from thinc.api import Model

from ..errors import SpanftError, check_number
from ..ml.parameter_groups import bind, models, shim_of, transformers
from ..util._compat import forward_of, set_forward, torch_module
from .schedules import first_step

BeforeUpdate = Callable[[Language, dict[str, Any]], None]


def freeze_transformer(
    until_step: int | None = None, until_share: float | None = None
) -> BeforeUpdate:
    """Build `spacy-spanft.freeze_transformer.v1`, for [training.before_update].

    The head is trained first, over the features of a frozen transformer, then
    everything (Wang et al., 2019). A frozen transformer predicts: no dropout inside it,
    no backward pass, and its weights stay the same bit by bit. Optimizers do not see
    it, so neither weight decay nor old momentum moves it, and Adam's count of its
    updates begins when it thaws.

    Steps count from 0, as in spaCy's loop, also in a training that is resumed: then the
    frozen phase is repeated, unless until_step is 0.

    until_step (Optional[int]): The first step that trains the transformer.
    until_share (Optional[float]): The share of all steps before that, from 0 to 1.
    """
    if (until_step is None) == (until_share is None):
        raise SpanftError("freeze_transformer needs either until_step or until_share.")
    if until_share is not None:
        check_number("until_share", until_share, lambda x: 0 <= x <= 1, "from 0 to 1")
    settings: dict[str, Any] = {}  # of [training], which take milliseconds to read

    def freeze(nlp: Language, info: dict[str, Any]) -> None:
        bind(nlp)
        if info["step"] == 0 or not settings:
            settings.update(nlp.config.interpolate()["training"])
        if until_share is not None and not settings["max_steps"]:
            raise SpanftError("until_share needs [training] max_steps, which is 0.")
        thaws_at = until_step or first_step(until_share or 0.0, settings["max_steps"])
        for transformer in _trained_transformers(nlp, settings["frozen_components"]):
            frozen = vars(shim_of(transformer)).get("finish_update")
            if isinstance(frozen, _Frozen):  # in an update that was never finished
                frozen()
            if info["step"] < thaws_at:
                _Frozen(transformer)

    return freeze


def group_parameters() -> BeforeUpdate:
    """Build `spacy-spanft.group_parameters.v1`, for [training.before_update].

    It shows the pipeline to `spacy-spanft.GroupedAdam.v1`, and does nothing else.
    """
    return lambda nlp, info: bind(nlp)


def _trained_transformers(nlp: Language, frozen: list[str]) -> list[Model[Any, Any]]:
    """Return the transformers that spaCy trains, or raise if there are none at all."""
    nodes_of = {name: transformers(model) for name, model in models(nlp).items()}
    if not any(nodes_of.values()):
        raise SpanftError(f"There is no transformer to freeze in {nlp.pipe_names}.")
    return [x for name, nodes in nodes_of.items() if name not in frozen for x in nodes]


class _Frozen:
    """A transformer that stays bit by bit as it is, for one update.

    It predicts. In the place of its `finish_update`, this undoes the freezing.
    """

    def __init__(self, transformer: Model[Any, Any]) -> None:
        self.transformer, self.shim = transformer, shim_of(transformer)
        self.forward = forward_of(transformer)
        encoder = torch_module(self.shim)
        # The vectors of an encoder are kept if no parameter requires a gradient.
        self.parameters = [p for p in encoder.parameters() if p.requires_grad]
        for parameter in self.parameters:
            # An update leaves zeros, with which Adam would continue by its momentum.
            parameter.grad = None
            parameter.requires_grad_(False)
        set_forward(transformer, self.predict)
        self.shim.finish_update = self

    def predict(self, model: Any, docs: Any, is_train: bool) -> tuple[Any, Any]:
        """Run forward as in prediction: no dropout, no graph, no backward pass."""
        output, _ = self.forward(model, docs, is_train=False)
        return output, lambda d_output: docs

    def __call__(self, optimizer: Any = None) -> None:
        """Undo the freezing, and update nothing."""
        set_forward(self.transformer, self.forward)
        for parameter in self.parameters:
            parameter.requires_grad_(True)
        del self.shim.finish_update
