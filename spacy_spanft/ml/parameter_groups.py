"""The part of a pipeline, and the layer, of each parameter that an optimizer sees."""

import re
from itertools import accumulate
from typing import Any, Literal, NamedTuple
from weakref import WeakSet

from spacy.language import Language
from thinc.api import Model, Shim
from torch import nn

from ..util._compat import torch_module
from .layers.encoder_rows import CURATED_LISTENERS

Part = Literal["transformer", "head", "rest"]
Key = tuple[int, str]
# The names of encoders, and of the layers that listen to one: of spacy-transformers
# and spacy-curated-transformers, which need not be installed, and our own.
_ENCODERS = ("transformer", "transformer_model", "hf_encoder")
_LISTENERS = ("transformer-listener", *CURATED_LISTENERS, "encoder_listener")
# The names of biases in thinc's layers, spaCy's and ours, and of a layer norm's gain.
_BIASES_AND_NORMS = frozenset(("b", "c", "G"))
# The module of a list of layers, and the number of one: "encoder.layer.3.output".
_LAYER = re.compile(r"((?:[^.]+\.)*?)[^.]+\.(\d+)\.")

# thinc calls an optimizer with the id of a layer and the name of a parameter. The ids
# are those of this process, not of a pipeline, so an optimizer can find its parameters
# in any pipeline that is known here.
_bound: WeakSet[Language] = WeakSet()


class ParameterGroup(NamedTuple):
    """Where a parameter is: `depth` layers below its transformer's top, if known."""

    part: Part
    depth: int | None
    is_bias_or_norm: bool


def bind(nlp: Language) -> None:
    """Make a pipeline's parameters known to every `spacy-spanft.GroupedAdam.v1`.

    The copy that `nlp.replace_listeners` makes of a transformer keeps its id, and would
    share Adam's moments with it: each transformer gets its own id.
    """
    _bound.add(nlp)
    owners: dict[int, Any] = {}
    for model in models(nlp).values():
        for shim in map(shim_of, transformers(model)):
            if owners.setdefault(shim.id, shim) is not shim:
                renew_id(shim)
                owners[shim.id] = shim


def renew_id(shim: Shim) -> None:
    """Change the id of a copy, by which optimizers tell it from its original."""
    with Shim.global_id_lock:
        Shim.global_id += 1
        shim.id = Shim.global_id


def groups_with(key: Key) -> dict[Key, ParameterGroup]:
    """Return the groups of the bound pipeline that has a parameter, {} if none has."""
    every = (parameter_groups(nlp) for nlp in list(_bound))
    return next((groups for groups in every if key in groups), {})


def models(nlp: Language) -> dict[str, Model[Any, Any]]:
    """Return the models of a pipeline, by the names of their components."""
    pairs = ((name, getattr(pipe, "model", None)) for name, pipe in nlp.pipeline)
    return {name: model for name, model in pairs if isinstance(model, Model)}


def transformers(model: Model[Any, Any]) -> list[Model[Any, Any]]:
    """Return the transformers in the model of a component."""
    return [node for node in model.walk() if node.name in _ENCODERS]


def listeners(model: Model[Any, Any]) -> list[Any]:
    """Return the listeners to the transformer of another component."""
    return [node for node in model.walk() if node.name in _LISTENERS]


def upstream(nlp: Language, model: Model[Any, Any]) -> list[Any]:
    """Return the components that a model listens to."""
    heard = listeners(model)
    pipes: list[Any] = [x for _, x in nlp.components if hasattr(x, "listeners")]
    return [pipe for pipe in pipes if any(x in heard for x in pipe.listeners)]


def weights_of(model: Model[Any, Any]) -> list[Any]:
    """Return the arrays and tensors of a model, which can be changed in place."""
    nodes = list(model.walk())
    modules = [torch_module(shim) for node in nodes for shim in node.shims]
    pairs = ((node, x) for node in nodes for x in node.param_names if node.has_param(x))
    arrays = [node.get_param(x) for node, x in pairs]
    return arrays + [p.data for module in modules for p in module.parameters()]


def shim_of(transformer: Model[Any, Any]) -> Any:
    """Return the shim that holds a transformer's PyTorch module."""
    return next(shim for node in transformer.walk() for shim in node.shims)


def parameter_groups(nlp: Language) -> dict[Key, ParameterGroup]:
    """Return the group of each parameter of an initialized pipeline, by thinc's key."""
    groups: dict[Key, ParameterGroup] = {}
    for model in models(nlp).values():
        encoders = transformers(model)
        inside = {id(node) for encoder in encoders for node in encoder.walk()}
        outside: Part = "head" if listeners(model) or inside else "rest"
        for node in model.walk():
            part: Part = "transformer" if id(node) in inside else outside
            for name in node.param_names:
                is_special = name in _BIASES_AND_NORMS
                groups[node.id, name] = ParameterGroup(part, 0, is_special)
            for shim in node.shims:
                groups.update(_of_shim(shim, part))
    return groups


def _of_shim(shim: Any, part: Part) -> dict[Key, ParameterGroup]:
    module = torch_module(shim)
    if not hasattr(module, "named_parameters"):
        return {}
    depths = parameter_depths(module) if part == "transformer" else None
    return {
        (shim.id, name): ParameterGroup(
            part, 0 if depths is None else depths.get(name), is_special
        )
        for name, is_special in is_bias_or_norm(module).items()
    }


def is_bias_or_norm(encoder: Any) -> dict[str, bool]:
    """Return which parameters of a PyTorch module are biases or in a norm, by name."""
    norms = {
        name
        for name, module in encoder.named_modules()
        if "norm" in type(module).__name__.lower() and not list(module.children())
    }
    names = [name.rpartition(".") for name, _ in encoder.named_parameters()]
    return {
        f"{owner}{dot}{name}": "bias" in name or owner in norms
        for owner, dot, name in names
    }


def parameter_depths(encoder: Any) -> dict[str, int]:
    """Return how far below the top of an encoder each of its parameters lies, by name.

    The first number in a name is that of the layer. Lists side by side, as XLM's, hold
    parts of the same layers; lists elsewhere, as those of a decoder, layers on top.

    RETURNS (dict[str, int]): 0 for the top layer and all above it, the number of layers
        for the embeddings and all below the layers. Empty without numbered layers.
    """
    layers = _layers(encoder)
    if not layers:
        return {}
    n_layers = 1 + max(layers.values())
    modules = encoder.named_modules()
    embeddings = {name for name, part in modules if isinstance(part, nn.Embedding)}
    depths: dict[str, int] = {}
    default = n_layers  # what is registered before the layers is below them
    late: set[str] = set()  # modules with embeddings that are registered after those
    for name, _ in encoder.named_parameters():
        owner = name.rpartition(".")[0]
        parent = owner.rpartition(".")[0]
        if name in layers:
            depths[name] = n_layers - 1 - layers[name]
            default = 0
        elif owner in embeddings:
            depths[name] = n_layers
            if default == 0:
                late.add(parent)
        else:
            # DeBERTa has embeddings after the layers, and their norm beside them.
            depths[name] = n_layers if parent in late else default
    return depths


def _layers(encoder: Any) -> dict[str, int]:
    """Number the layers from below, by the names of their parameters."""
    names = [name for name, _ in encoder.named_parameters()]
    places = {name: place for name in names if (place := _LAYER.match(name))}
    lengths: dict[str, int] = {}  # of the lists in each module
    for parent, number in (place.groups() for place in places.values()):
        lengths[parent] = max(lengths.get(parent, 0), 1 + int(number))
    begins = dict(zip(lengths, accumulate(lengths.values(), initial=0), strict=False))
    return {name: begins[x[1]] + int(x[2]) for name, x in places.items()}
