"""Named entities as BILUO tags: a linear layer and a softmax over each token."""

from functools import partial
from typing import Any

from spacy.ml.models.textcat import resize_and_set_ref
from spacy.tokens import Doc
from thinc.api import Model, chain, with_array
from thinc.types import Floats2d

from ..layers.fixed_dropout import fixed_dropout
from ..layers.resizable_output import resizable_output
from .tok2vec import Tok2Vec

Tagger = Model[list[Doc], list[Floats2d]]


def bilou_tagger(
    tok2vec: Tok2Vec, dropout: float = 0.1, nO: int | None = None
) -> Tagger:
    """Build `spacy-spanft.BilouTagger.v1`: the probability of each tag of each token.

    tok2vec (Model[List[Doc], List[Floats2d]]): The vectors of the tokens, such as
        spacy-spanft.SpanTok2Vec.v1.
    dropout (float): The share of a token's vector that is dropped in training;
        `[training] dropout` does not change it.
    nO (Optional[int]): The number of tags, 1 + 4 for each label.
    RETURNS (Model[List[Doc], List[Floats2d]]): Docs to (n_tokens, n_tags) each.
    """
    output, growing = resizable_output(exclusive=True, nO=nO)
    tags: Any = with_array(chain(fixed_dropout(dropout), growing))
    model: Any = chain(tok2vec, tags)
    model.init = partial(init, tok2vec, output)
    model.set_ref("tok2vec", tok2vec)
    model.set_ref("output_layer", output)
    model.attrs["resize_output"] = partial(resize_and_set_ref, resizable_layer=growing)
    return model


def init(
    tok2vec: Tok2Vec,
    output: Model[Floats2d, Floats2d],
    model: Tagger,
    X: list[Doc] | None = None,
    Y: Any = None,
) -> None:
    """Set up the model from the width of the vectors: no transformer needs to run."""
    tok2vec.initialize(X=X)
    if model.has_dim("nO"):
        output.set_dim("nO", model.get_dim("nO"), force=True)
    output.initialize(X=model.ops.alloc2f(1, tok2vec.get_dim("nO")))
    model.set_dim("nO", output.get_dim("nO"), force=True)
