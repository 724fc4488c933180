"""The wordpieces of spacy-transformers, as the flat rows of a batch."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model, chain
from thinc.types import Floats2d

from ...util._compat import has_heard
from ..alignment import (
    Encoding,
    encoding_of_tokens,
    encoding_of_wordpieces,
    row_of_text,
    tokens_apart,
)
from .doc_rows import DocRows, as_type_of, check_annotated, init, join, starts_of

# What tokenizers call the wordpiece that stands for a text.
_CLS = ("[CLS]", "<s>", "<cls>", "<|startoftext|>")

InT = list[Doc]
OutT = DocRows


def is_transformer(tok2vec: Model[InT, Any]) -> bool:
    """Say whether a tok2vec is a transformer of spacy-transformers, or listens to one.

    tok2vec (Model[List[Doc], List[Floats2d]]): Any tok2vec.
    """
    layers = tok2vec.layers
    return tok2vec.name == "transformer" or (
        bool(layers) and layers[-1].name == "trfs2arrays"
    )


def wordpiece_rows(tok2vec: Model[InT, Any]) -> Model[InT, OutT]:
    """Make the layer.

    tok2vec (Model[List[Doc], List[Floats2d]]): A transformer. The layer that pools its
        wordpieces into tokens is left out.
    RETURNS (Model[List[Doc], DocRows]): Docs to rows.
    """
    if tok2vec.name == "transformer":
        source, grad_factor = _own_transformer(tok2vec), 1.0
    else:
        *first, last = tok2vec.layers
        grad_factor = last.attrs["grad_factor"]
        source = first[0] if len(first) == 1 else chain(*first)
    return Model(
        "wordpiece_rows",
        forward,
        init=init,
        layers=[source],
        dims={"nO": None},
        attrs={"grad_factor": grad_factor},
    )


def forward(
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
    starts = starts_of(arrays)
    rows = DocRows(docs, join(model.ops, arrays), starts, encodings, cls)

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


def _own_transformer(transformer: Model[InT, Any]) -> Model[InT, Any]:
    """Make a transformer give what a listener to it gives.

    `nlp.replace_listeners` puts it into the config in the place of a listener, alone
    where the listener is deeper inside than `model.tok2vec`.
    """
    from spacy_transformers.layers.split_trf import split_trf_batch

    made: Model[InT, Any] = chain(transformer, split_trf_batch())
    return made


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

    d_tensor = as_type_of(tensor, d_rows.reshape(tensor.shape))
    gradient = ModelOutput(last_hidden_state=d_tensor)
    return TransformerData(data.wordpieces, gradient, data.align)


def _check_transformer(source: Model[InT, Any], docs: InT) -> None:
    """Raise where a listener has nobody to listen to."""
    if source.name == "transformer-listener" and not has_heard(source):
        check_annotated(docs)
