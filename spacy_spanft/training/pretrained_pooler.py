"""Pre-trained weights of an encoder's pooler, for classifiers that have one."""

import warnings
from typing import Any

from spacy.language import Language
from thinc.api import Model

from ..ml.layers.pooling import POOLER
from ..ml.optimizers.groups import listeners, models, shim_of, transformers
from ..util._compat import torch_module


def take_pretrained_poolers(nlp: Language) -> None:
    """Copy the pooler of an encoder into the poolers of the models over it.

    nlp (Language): The pipeline, just initialized.
    """
    for name, model in models(nlp).items():
        for node in model.walk():
            if node.name != POOLER:
                continue
            dense = _dense_of(nlp, model)
            W = node.get_param("W")
            if dense is None or dense.weight.shape != W.shape:
                warnings.warn(
                    f"The pooler of {name!r} begins with random weights, as its "
                    "encoder has no pre-trained one of its width. If that is not "
                    "intended, set pooler = false.",
                    stacklevel=3,
                )
                continue
            for key, value in (("W", dense.weight), ("b", dense.bias)):
                # A copy: otherwise both would learn in the same memory.
                array = value.detach().float().cpu().numpy().copy()
                param: Any = node.ops.asarray(array, dtype=W.dtype)
                node.set_param(key, param)


def _dense_of(nlp: Language, model: Model[Any, Any]) -> Any:
    """Return the dense layer of the pooler of a model's encoder, or None."""
    names = {node.upstream_name for node in listeners(model)}
    others = [
        component.model
        for name, component in nlp.components
        if (names & {name, "*"}) and hasattr(component, "model")
    ]
    for owner in (model, *others):
        for transformer in transformers(owner):
            pooler = getattr(torch_module(shim_of(transformer)), "pooler", None)
            # ALBERT's is the dense layer itself.
            dense = getattr(pooler, "dense", pooler)
            if getattr(dense, "weight", None) is not None:
                return dense
    return None
