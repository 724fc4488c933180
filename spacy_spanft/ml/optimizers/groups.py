"""Which part of a pipeline each parameter that an optimizer sees belongs to."""

from typing import Any, Literal, NamedTuple
from weakref import WeakSet

from spacy.language import Language
from thinc.api import Model, Shim

from ...util._compat import torch_module
from .encoder_layers import is_bias_or_norm, parameter_depths

Part = Literal["transformer", "head", "rest"]
Key = tuple[int, str]
# What owns an encoder, and what stands for that of another component: of
# spacy-transformers, which need not be installed, and our own.
_ENCODERS = ("transformer", "hf_encoder")
_LISTENERS = ("transformer-listener", "encoder_listener")

# How thinc's layers, spaCy's and ours call their biases, and the gain of a layer norm.
_BIASES_AND_NORMS = frozenset(("b", "c", "G"))

# thinc calls an optimizer with the id of a layer and the name of a parameter. The ids
# are those of this process, not of a pipeline, so an optimizer can find its parameters
# in any pipeline that is known here.
_bound: WeakSet[Language] = WeakSet()


class ParameterGroup(NamedTuple):
    """What is to be known of a parameter."""

    part: Part
    """Inside a transformer, in a component on top of one, or anywhere else."""
    depth: int | None
    """Below the top of its transformer; None where the layers cannot be told."""
    is_bias_or_norm: bool


def bind(nlp: Language) -> None:
    """Make a pipeline's parameters known to every `spacy-spanft.GroupedAdam.v1`.

    nlp (Language): The pipeline; it is not kept alive.
    """
    _bound.add(nlp)
    _tell_copies_apart(nlp)


def _tell_copies_apart(nlp: Language) -> None:
    """Give transformers ids of their own.

    The copy that `nlp.replace_listeners` makes keeps the id of the original, and with
    it shares Adam's moments.
    """
    owners: dict[int, Any] = {}
    for model in models(nlp).values():
        for shim in (shim_of(one) for one in transformers(model)):
            if owners.setdefault(shim.id, shim) is not shim:
                with Shim.global_id_lock:
                    Shim.global_id += 1
                    shim.id = Shim.global_id
                owners[shim.id] = shim


def groups_with(key: Key) -> dict[Key, ParameterGroup]:
    """Describe the parameters of the bound pipeline that has a certain one.

    key (Key): What thinc calls that one.
    RETURNS (dict[Key, ParameterGroup]): By their keys; empty if no pipeline has it.
    """
    for nlp in list(_bound):
        found = parameter_groups(nlp)
        if key in found:
            return found
    return {}


def models(nlp: Language) -> dict[str, Model[Any, Any]]:
    """Find the models of a pipeline.

    RETURNS (dict[str, Model]): By the names of their components.
    """
    found = (
        (name, getattr(component, "model", None)) for name, component in nlp.pipeline
    )
    return {name: model for name, model in found if isinstance(model, Model)}


def transformers(model: Model[Any, Any]) -> list[Model[Any, Any]]:
    """Find the transformers in a component: a shared one, or those of its own.

    model (Model): The component's model.
    """
    return [node for node in model.walk() if node.name in _ENCODERS]


def listeners(model: Model[Any, Any]) -> list[Any]:
    """Find what listens to the transformer of another component.

    model (Model): The component's model.
    RETURNS (list[Model]): The listeners, each with an upstream_name.
    """
    return [node for node in model.walk() if node.name in _LISTENERS]


def shim_of(transformer: Model[Any, Any]) -> Any:
    """Get what holds a transformer's PyTorch module."""
    return next(shim for node in transformer.walk() for shim in node.shims)


def parameter_groups(nlp: Language) -> dict[Key, ParameterGroup]:
    """Describe the parameters of a pipeline.

    nlp (Language): The pipeline, initialized.
    RETURNS (dict[Key, ParameterGroup]): By the key that thinc gives to an optimizer.
    """
    found: dict[Key, ParameterGroup] = {}
    for model in models(nlp).values():
        nodes = list(model.walk())
        inside = {id(node) for one in transformers(model) for node in one.walk()}
        outside: Part = "head" if listeners(model) or inside else "rest"
        for node in nodes:
            part: Part = "transformer" if id(node) in inside else outside
            for name in node.param_names:
                found[node.id, name] = ParameterGroup(
                    part, 0, name in _BIASES_AND_NORMS
                )
            for shim in node.shims:
                found.update(_of_shim(shim, part))
    return found


def _of_shim(shim: Any, part: Part) -> dict[Key, ParameterGroup]:
    module = torch_module(shim)
    if not hasattr(module, "named_parameters"):
        return {}
    depths = parameter_depths(module) if part == "transformer" else None
    return {
        (shim.id, name): ParameterGroup(
            part, 0 if depths is None else depths.get(name), special
        )
        for name, special in is_bias_or_norm(module).items()
    }
