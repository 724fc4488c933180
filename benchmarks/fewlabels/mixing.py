"""Encoders that give a learned mix of their layers, in the place of the last one."""

from typing import Any

import torch
from spacy.language import Language
from thinc.api import Model

from spacy_spanft.ml.layers.hf_encoder import NAME, shim_of

# The mix begins with this share of the last layer, and as much of each other one.
SHARE_OF_LAST = 0.5
# Adam moves a weight by no more than the rate in a step: far too little for these.
SCALE = 100.0


def mix_layers(nlp: Language) -> None:
    """Let the encoder of a pipeline give the mix.

    nlp (Language): The pipeline, initialized.
    """
    transformer: Any = nlp.get_pipe("transformer")
    model: Model[Any, Any] = transformer.model
    own = next(node for node in model.walk() if node.name == NAME)
    mix(shim_of(own).encoder.module)


def mix(module: Any) -> None:
    """Add the weights of the mix to an encoder, to be learned with all others.

    module (Module): An encoder of Hugging Face transformers.
    """
    module.config.output_hidden_states = True
    n_layers = module.config.num_hidden_layers + 1  # and the embeddings below them
    shares = torch.full((n_layers,), (1 - SHARE_OF_LAST) / (n_layers - 1))
    shares[-1] = SHARE_OF_LAST
    device = next(module.parameters()).device
    begin = shares.log().to(device) / SCALE
    module.register_parameter("layer_mix", torch.nn.Parameter(begin))
    module.register_forward_hook(_mixed)


def _mixed(module: Any, args: Any, output: Any) -> tuple[torch.Tensor]:
    shares = torch.softmax(SCALE * module.layer_mix, dim=0)
    states = torch.stack(tuple(output.hidden_states))
    return (torch.einsum("l,lbte->bte", shares.to(states.dtype), states),)
