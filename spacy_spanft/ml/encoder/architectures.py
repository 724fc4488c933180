"""Encoders of Hugging Face without spacy-transformers, shared by listeners."""

from typing import Any

from spacy.tokens import Doc
from spacy.util import SimpleFrozenDict
from thinc.api import Model, chain
from thinc.types import Floats2d, Ragged

from ...errors import SpanftError
from ..layers.doc_rows import DocRows, rows_to_tokens
from .hf_encoder import hf_encoder
from .loading import EncoderSettings, Precision, TextRow
from .sharing import EncoderListener

Tok2Vec = Model[list[Doc], list[Floats2d]]


def huggingface_encoder(
    name: str,
    window: int | None = None,
    stride: int | None = None,
    separator: str | None = None,
    text_row: TextRow = "auto",
    precision: Precision = "single",
    max_batch_rows: int = 8192,
    tokenizer_config: dict[str, Any] = SimpleFrozenDict(),
    transformer_config: dict[str, Any] = SimpleFrozenDict(),
    gradient_checkpointing: bool = False,
    compile: bool = False,
    trust_remote_code: bool = False,
) -> Model[list[Doc], DocRows]:
    """Build `spacy-spanft.HuggingFaceEncoder.v1`, for the component `spanft_encoder`.

    It encodes a Doc as its tokenizer does: a long one in windows that overlap, so that
    nothing is cut off, and a pair of texts as `tokenizer(first, second)`. A batch is
    cut into micro-batches of similar length, which saves padding and changes nothing
    else.

    name (str): The encoder's name on the hub, or its folder. Of an encoder-decoder, the
        encoder is taken.
    window (Optional[int]): The number of wordpieces read at once, [CLS] and [SEP]
        included; None takes as many as the encoder can.
    stride (Optional[int]): The number of wordpieces from the beginning of a window to
        that of the next; None takes three quarters of a window.
    separator (Optional[str]): The separator between the texts of a pair; None if there
        are no pairs.
    text_row (Literal["auto", "first", "last", "mean"]): The row that stands for a text:
        "auto" takes [CLS], wherever it is, the last one of a decoder (GPT-2), and the
        mean where neither is there (T5).
    precision (Literal["single", "bf16", "fp16"]): The precision to compute in.
    max_batch_rows (int): The most wordpieces of a micro-batch, padding included. Fewer
        need less memory; a single window may have more.
    tokenizer_config (dict[str, Any]): Settings of the tokenizer.
    transformer_config (dict[str, Any]): Settings of the encoder, such as
        {"attn_implementation": "eager"}.
    gradient_checkpointing (bool): Whether the backward pass recomputes what it needs
        instead of keeping it: slower, with less memory.
    compile (bool): Whether `torch.compile` compiles the encoder. The first batches then
        take minutes; on a CPU it needs a C++ compiler, and saved no time.
    trust_remote_code (bool): Must be false: code that comes with an encoder never runs,
        as a pipeline trained with it could not be loaded.
    """
    if trust_remote_code:
        raise SpanftError(
            "trust_remote_code is true, but code that comes with an encoder never "
            "runs: a pipeline trained with it could not be loaded again. Set it to "
            f"false; if {name!r} needs code of its own, use an encoder that "
            "transformers implements itself."
        )
    settings = EncoderSettings(
        name=name,
        window=window,
        stride=stride,
        separator=separator,
        text_row=text_row,
        precision=precision,
        max_batch_rows=max_batch_rows,
        tokenizer_config=dict(tokenizer_config),
        transformer_config=dict(transformer_config),
        gradient_checkpointing=gradient_checkpointing,
        compile=compile,
    )
    model = hf_encoder(settings)
    model.attrs["replace_listener_cfg"] = replace_listener_cfg
    return model


def encoder_listener(
    pooling: Model[Ragged, Floats2d], upstream: str = "*", grad_factor: float = 1.0
) -> Tok2Vec:
    """Build `spacy-spanft.EncoderListener.v1`: a `spanft_encoder` as a tok2vec.

    pooling (Model[Ragged, Floats2d]): Makes one vector of a token's wordpieces, such
        as reduce_mean.v1. Layers that pool spans ignore it.
    upstream (str): The name of the encoder's component; "*" for any.
    grad_factor (float): The factor of the gradients.
    """
    model: Any = chain(EncoderListener(upstream), rows_to_tokens(pooling, grad_factor))
    return model


def tok2vec_encoder(
    encoder: Model[list[Doc], DocRows],
    pooling: Model[Ragged, Floats2d],
    grad_factor: float = 1.0,
) -> Tok2Vec:
    """Build `spacy-spanft.Tok2VecEncoder.v1`: an encoder of a component's own.

    `nlp.replace_listeners` puts it in the place of a listener.

    encoder (Model[List[Doc], DocRows]): The encoder.
    pooling (Model[Ragged, Floats2d]): Makes one vector of a token's wordpieces.
    grad_factor (float): The factor of the gradients.
    """
    model: Any = chain(encoder, rows_to_tokens(pooling, grad_factor))
    return model


def replace_listener_cfg(
    encoder: dict[str, Any], listener: dict[str, Any]
) -> dict[str, Any]:
    """Return the config of what a listener is replaced with."""
    while "pooling" not in listener:  # spaCy gives what stands in model.tok2vec
        listener = listener["tok2vec"]
    return {
        "@architectures": "spacy-spanft.Tok2VecEncoder.v1",
        "encoder": encoder,
        "pooling": listener["pooling"],
        "grad_factor": listener.get("grad_factor", 1.0),
    }
