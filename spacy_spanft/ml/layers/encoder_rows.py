"""The vectors of a transformer or a tok2vec, as the flat rows of a batch."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model, chain
from thinc.types import Floats2d

from ...errors import Errors, SpanftError
from ...util._compat import has_heard
from ..alignment import (
    Encoding,
    encoding_of_tokens,
    encoding_of_wordpieces,
    is_sample,
    row_of_text,
    tokens_apart,
)


class DocRows(NamedTuple):
    """The vectors of a batch of Docs. Their gradient is that of the vectors alone.

    vectors (Floats2d): All rows, one Doc after the other, (n_rows, width).
    starts (list[int]): Where the rows of each Doc begin, and after the last one.
    encodings (list[Encoding]): Which rows are those of which token, for each Doc.
    cls (Optional[list[int]]): Which of its rows stands for all of a Doc, -1 where none
        does; None if the encoder knows no wordpieces.
    """

    docs: list[Doc]
    vectors: Floats2d
    starts: list[int]
    encodings: list[Encoding]
    cls: list[int] | None


# What tokenizers call the wordpiece that stands for a text.
_CLS = ("[CLS]", "<s>", "<cls>", "<|startoftext|>")

InT = list[Doc]
OutT = DocRows


def encoder_rows(tok2vec: Model[InT, Any]) -> Model[InT, OutT]:
    """Make the layer.

    tok2vec (Model[List[Doc], List[Floats2d]]): Any tok2vec. If it is a transformer (a
        listener to one, or one of its own), the rows are its wordpieces: the layer
        that pools them into tokens is left out, and need not be there. Else they are
        its tokens.
    RETURNS (Model[List[Doc], DocRows]): Docs to rows.
    """
    layers = tok2vec.layers
    if layers and layers[-1].name == "rows_to_tokens":
        return _rows_of_encoder(layers[0], layers[-1].attrs["grad_factor"])
    is_transformer = tok2vec.name == "transformer"
    if is_transformer or (layers and layers[-1].name == "trfs2arrays"):
        if is_transformer:
            source, grad_factor = _own_transformer(tok2vec), 1.0
        else:
            grad_factor = layers[-1].attrs["grad_factor"]
            source = layers[0] if len(layers) == 2 else chain(*layers[:-1])
        return Model(
            "wordpiece_rows",
            forward_wordpieces,
            init=init,
            layers=[source],
            dims={"nO": None},
            attrs={"grad_factor": grad_factor},
        )
    return Model(
        "token_rows", forward_tokens, init=init, layers=[tok2vec], dims={"nO": None}
    )


def _rows_of_encoder(encoder: Model[InT, OutT], grad_factor: float) -> Model[InT, OutT]:
    """Make the layer of one that gives rows, such as a listener to `spanft_encoder`."""
    return Model(
        "encoder_rows",
        forward_rows,
        init=init,
        layers=[encoder],
        dims={"nO": None},
        attrs={"grad_factor": grad_factor},
    )


def forward_rows(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[Floats2d], Any]]:
    """Take the rows as they are."""
    rows, backprop_encoder = model.layers[0](docs, is_train)
    grad_factor = model.attrs["grad_factor"]

    def backprop(d_vectors: Floats2d) -> Any:
        return backprop_encoder(
            d_vectors * grad_factor if grad_factor != 1 else d_vectors
        )

    return rows, backprop


def _own_transformer(transformer: Model[InT, Any]) -> Model[InT, Any]:
    """Make a transformer give what a listener to it gives.

    `nlp.replace_listeners` puts it into the config in the place of a listener, alone
    where the listener is deeper inside than `model.tok2vec`.
    """
    from spacy_transformers.layers.split_trf import split_trf_batch

    made: Model[InT, Any] = chain(transformer, split_trf_batch())
    return made


def forward_tokens(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[Floats2d], InT]]:
    """Take one row for each token."""
    arrays, backprop_source = model.layers[0](docs, is_train)
    encodings = [encoding_of_tokens(len(doc)) for doc in docs]
    starts = _starts(arrays)
    rows = DocRows(docs, _join(model.ops, arrays), starts, encodings, None)

    def backprop(d_vectors: Floats2d) -> InT:
        parts = zip(arrays, pairwise(starts), strict=True)
        return backprop_source([_as(array, d_vectors[a:b]) for array, (a, b) in parts])

    return rows, backprop


def forward_wordpieces(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[Floats2d], Any]]:
    """Take one row for each wordpiece, those of padding as well: no piece has them."""
    _check_transformer(model.layers[0], docs)
    datas, backprop_source = model.layers[0](docs, is_train)
    tensors = [_hidden_state(data) for data in datas]
    widths = (t.shape[-1] for t in tensors if t is not None)
    width = next(widths, model.maybe_get_dim("nO") or 0)
    nothing = model.ops.alloc2f(0, width)
    arrays = [nothing if t is None else t.reshape(-1, width) for t in tensors]
    encodings, cls = [], []
    for doc, data, tensor in zip(docs, datas, tensors, strict=True):
        if tensor is None:
            encodings.append(encoding_of_tokens(0))
            cls.append(-1)
        else:
            encodings.append(_encoding(model.ops, doc, data, tensor.shape[1]))
            cls.append(row_of_text(encodings[-1], partial(_is_cls, data)))
    starts = _starts(arrays)
    rows = DocRows(docs, _join(model.ops, arrays), starts, encodings, cls)

    def backprop(d_vectors: Floats2d) -> Any:
        d_vectors = d_vectors * model.attrs["grad_factor"]
        parts = [d_vectors[a:b] for a, b in pairwise(starts)]
        return backprop_source(
            [
                _gradient_of(data, tensor, part)
                for data, tensor, part in zip(datas, tensors, parts, strict=True)
                # A Doc without tokens never went through the transformer.
                if tensor is not None
            ]
        )

    return rows, backprop


def _encoding(ops: Any, doc: Doc, data: Any, width: int) -> Encoding:
    # Its own lengths count the padding too, once any text was cut off.
    mask = ops.to_numpy(data.wordpieces.attention_mask)
    return encoding_of_wordpieces(
        ops.to_numpy(data.align.dataXd),
        ops.to_numpy(data.align.lengths),
        mask.sum(axis=1),
        width,
        tokens_apart(doc),
        mask.argmax(axis=1),
    )


def _is_cls(data: Any, row: int) -> bool:
    """Say whether a row of a Doc is [CLS] by the name of its wordpiece."""
    windows = data.wordpieces.strings
    window, place = divmod(row, len(windows[0]))
    name = windows[window][place]
    # In decoders (Llama), <s> only begins a text, and has seen nothing of it.
    return name in _CLS and (name != "<s>" or "</s>" in windows[window])


def _hidden_state(data: Any) -> Any:
    """Get the vectors of a Doc, (n_windows, n_wordpieces, width); None without any."""
    if "last_hidden_state" not in data.model_output:
        return None
    tensor = data.model_output.last_hidden_state
    return tensor if tensor.size else None


def _gradient_of(data: Any, tensor: Any, d_rows: Any) -> Any:
    from spacy_transformers.data_classes import TransformerData
    from transformers.utils import ModelOutput

    d_tensor = _as(tensor, d_rows.reshape(tensor.shape))
    gradient = ModelOutput(last_hidden_state=d_tensor)
    return TransformerData(data.wordpieces, gradient, data.align)


def _check_transformer(source: Model[InT, Any], docs: InT) -> None:
    """Raise where a listener has nobody to listen to, before it makes zeros of it."""
    if source.name != "transformer-listener" or has_heard(source):
        return
    for doc in docs:
        is_there = doc.has_extension("trf_data") and doc._.trf_data is not None
        if len(doc) and not is_there and not is_sample(doc):
            raise SpanftError(Errors.NO_TRANSFORMER)


def _join(ops: Any, arrays: list[Any]) -> Any:
    """Put rows one after the other, in single precision.

    Some encoders give half precision where they compute in it, and thinc's operations
    for a GPU know no such numbers.
    """
    return ops.xp.concatenate(arrays).astype(np.float32, copy=False)


def _as(array: Any, gradient: Any) -> Any:
    """Give the gradient of an array in the array's precision."""
    return gradient.astype(array.dtype, copy=False)


def _starts(arrays: list[Any]) -> list[int]:
    return [0, *np.cumsum([len(array) for array in arrays]).tolist()]


def init(model: Model[InT, OutT], X: InT | None = None, Y: Any = None) -> None:
    """Find out how wide the rows are."""
    source = model.layers[0]
    source.initialize(X=X)
    # A transformer that is not this component's own has been initialized already.
    widths = [node.maybe_get_dim("nO") for node in source.walk()]
    width = source.maybe_get_dim("nO") or next(filter(None, widths), None)
    if width is None:
        raise SpanftError(Errors.NO_TRANSFORMER)
    model.set_dim("nO", width)
