"""Which layer of an encoder each of its parameters belongs to."""

from collections.abc import Iterator
from typing import Any

from torch import nn


def parameter_depths(encoder: Any) -> dict[str, int]:
    """Tell how far below the top of an encoder each of its parameters lies.

    Layers are found by how the encoder is built, not by the names of one family: they
    are the numbered modules that are not inside others. Lists side by side, as XLM's,
    hold parts of the same layers; lists elsewhere, as those of a decoder, hold more
    layers on top.

    RETURNS (dict[str, int]): The depth by the parameter's name: 0 for the top layer and
        all above it, the number of layers for the embeddings and all below the layers.
        Empty for an encoder without numbered layers.
    """
    layers = _layers(encoder)
    if not layers:
        return {}
    n_layers = 1 + max(layers.values())
    embeddings = {
        name for name, module in encoder.named_modules() if _is_embedding(module)
    }
    found: dict[str, int] = {}
    default = n_layers  # what is registered before the layers is below them
    late: set[str] = set()  # modules with embeddings that are registered after those
    for name, _ in encoder.named_parameters():
        owner = name.rpartition(".")[0]
        parent = owner.rpartition(".")[0]
        layer = next((layers[p] for p in _prefixes(name) if p in layers), None)
        if layer is not None:
            found[name] = n_layers - 1 - layer
            default = 0
        elif owner in embeddings:
            found[name] = n_layers
            if default == 0:
                late.add(parent)
        else:
            # DeBERTa has embeddings after the layers, and their norm beside them.
            found[name] = n_layers if parent in late else default
    return found


def _layers(encoder: Any) -> dict[str, int]:
    """Number the layers from below, by the names of their modules."""
    lengths: dict[str, int] = {}  # of the lists in each module
    lists = list(_outer_lists(encoder))
    for name, module in lists:
        parent = name.rpartition(".")[0]
        lengths[parent] = max(lengths.get(parent, 0), len(module))
    begins, n_layers = {}, 0
    for parent, length in lengths.items():
        begins[parent] = n_layers
        n_layers += length
    return {
        f"{name}.{i}": begins[name.rpartition(".")[0]] + i
        for name, module in lists
        for i in range(len(module))
    }


def _outer_lists(module: Any, prefix: str = "") -> Iterator[tuple[str, nn.ModuleList]]:
    for name, child in module.named_children():
        if not isinstance(child, nn.ModuleList):
            yield from _outer_lists(child, f"{prefix}{name}.")
        elif not all(_is_embedding(one) for one in child):
            yield f"{prefix}{name}", child


def _is_embedding(module: Any) -> bool:
    return isinstance(module, nn.Embedding)


def _prefixes(name: str) -> Iterator[str]:
    parts = name.split(".")
    return (".".join(parts[:end]) for end in range(1, len(parts)))


def is_bias_or_norm(encoder: Any) -> dict[str, bool]:
    """Tell which parameters of a PyTorch module are biases, or belong to a norm.

    RETURNS (dict[str, bool]): Whether it is one, by the parameter's name.
    """
    norms = {
        name
        for name, module in encoder.named_modules()
        if "norm" in type(module).__name__.lower() and not list(module.children())
    }
    found = {}
    for name, _ in encoder.named_parameters():
        owner, _, own_name = name.rpartition(".")
        found[name] = "bias" in own_name or owner in norms
    return found
