"""The pre-trained weights of an encoder's pooler, for classifiers that have one."""

import warnings
from typing import Any

from spacy.language import Language
from thinc.api import Model

from ..errors import Warnings
from ..ml.layers.dense import POOLER
from ..ml.optimizers.groups import listeners, models, shim_of, transformers
from ..util._compat import torch_module


def take_pretrained_poolers(nlp: Language) -> None:
    """Let each new pooler begin as that of its encoder, where the encoder has one.

    nlp (Language): The pipeline, just initialized; what is sourced stays as it was.
    """
    for name, model in models(nlp).items():
        poolers = [node for node in model.walk() if node.name == POOLER]
        if not poolers:
            continue
        dense = _dense_of(nlp, model)
        for node in poolers:
            W = node.get_param("W")
            if dense is None or dense.weight.shape != W.shape:
                warnings.warn(Warnings.NEW_POOLER.format(name=name), stacklevel=3)
                continue
            for key, value in (("W", dense.weight), ("b", dense.bias)):
                # A copy: else both would learn in the same memory.
                array = value.detach().float().cpu().numpy().copy()
                param: Any = node.ops.asarray(array, dtype=W.dtype)
                node.set_param(key, param)


def _dense_of(nlp: Language, model: Model[Any, Any]) -> Any:
    """Find the dense layer of the pooler of what a model listens to, or has inside."""
    listened = {node.upstream_name for node in listeners(model)}
    others = [
        component.model
        for name, component in nlp.components
        if (listened & {name, "*"}) and hasattr(component, "model")
    ]
    for transformer in (one for each in (model, *others) for one in transformers(each)):
        pooler = getattr(torch_module(shim_of(transformer)), "pooler", None)
        # ALBERT's is the dense layer itself.
        dense = getattr(pooler, "dense", pooler)
        if getattr(dense, "weight", None) is not None:
            return dense
    return None
