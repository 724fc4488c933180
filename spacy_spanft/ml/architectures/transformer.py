"""Transformers that encode pairs of texts as Hugging Face's tokenizers do."""

from typing import Any

from spacy.tokens import Doc
from spacy.util import SimpleFrozenDict
from thinc.api import Model, chain
from thinc.types import Floats2d, Ragged

from ...util.extras import require
from ..pairs import SEPARATOR, check_separator


def pair_transformer(
    name: str,
    tokenizer_config: dict[str, Any] = SimpleFrozenDict(),
    transformer_config: dict[str, Any] = SimpleFrozenDict(),
    mixed_precision: bool = False,
    grad_scaler_config: dict[str, Any] = SimpleFrozenDict(),
    separator: str = SEPARATOR,
) -> Model[list[Doc], Any]:
    """Build `spacy-spanft.PairTransformerModel.v1`, for the component `transformer`.

    A Doc with a separator is encoded as `tokenizer(first, second, truncation=True)`,
    any other as `tokenizer(text, truncation=True)`: the same input ids, token types and
    attention mask. There are no strided windows: what is longer than the tokenizer's
    model_max_length is cut off.

    name (str): The encoder's name on the hub, or its folder.
    tokenizer_config (dict[str, Any]): Settings of the tokenizer.
    transformer_config (dict[str, Any]): Settings of the encoder.
    mixed_precision (bool): Whether to compute in half precision, on a GPU.
    grad_scaler_config (dict[str, Any]): How gradients are scaled then.
    separator (str): That of the pipeline's tokenizer.
    RETURNS (Model[List[Doc], FullTransformerBatch]): The model.
    """
    check_separator(separator)
    require("spacy-spanft.PairTransformerModel.v1", "spacy-transformers")
    from ..layers.pair_transformer import PairTransformer

    return PairTransformer(
        name,
        separator,
        # Both are written to, by transformers and by thinc.
        tokenizer_config={**tokenizer_config},
        transformer_config={**transformer_config},
        mixed_precision=mixed_precision,
        grad_scaler_config={**grad_scaler_config},
    )


def tok2vec_pair_transformer(
    name: str,
    pooling: Model[Ragged, Floats2d],
    tokenizer_config: dict[str, Any] = SimpleFrozenDict(),
    transformer_config: dict[str, Any] = SimpleFrozenDict(),
    mixed_precision: bool = False,
    grad_scaler_config: dict[str, Any] = SimpleFrozenDict(),
    separator: str = SEPARATOR,
    grad_factor: float = 1.0,
) -> Model[list[Doc], list[Floats2d]]:
    """Build `spacy-spanft.Tok2VecPairTransformer.v1`: one of a component's own.

    This is what `nlp.replace_listeners` puts in the place of a listener.

    name (str): The encoder's name on the hub, or its folder.
    pooling (Model[Ragged, Floats2d]): Pools the wordpieces of each token.
    tokenizer_config (dict[str, Any]): Settings of the tokenizer.
    transformer_config (dict[str, Any]): Settings of the encoder.
    mixed_precision (bool): Whether to compute in half precision, on a GPU.
    grad_scaler_config (dict[str, Any]): How gradients are scaled then.
    separator (str): That of the pipeline's tokenizer.
    grad_factor (float): What the gradients are multiplied with.
    RETURNS (Model[List[Doc], List[Floats2d]]): The model.
    """
    transformer = pair_transformer(
        name,
        tokenizer_config,
        transformer_config,
        mixed_precision,
        grad_scaler_config,
        separator,
    )
    from spacy_transformers.layers import split_trf_batch, trfs2arrays

    # A chain in a chain: as spacy-transformers builds it when it replaces a listener.
    inner: Any = chain(transformer, split_trf_batch())
    model: Any = chain(inner, trfs2arrays(pooling, grad_factor))
    return model
