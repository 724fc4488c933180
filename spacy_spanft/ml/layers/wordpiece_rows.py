"""The wordpieces of spacy-transformers, as the flat rows of a batch."""

from collections.abc import Callable
from functools import partial
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
from .doc_rows import DocRows, check_annotated, join, split

# The names that tokenizers have for the wordpiece that stands for a text.
_CLS = ("[CLS]", "<s>", "<cls>", "<|startoftext|>")

InT = list[Doc]
OutT = DocRows


def is_transformer(tok2vec: Model[InT, Any]) -> bool:
    """Whether a tok2vec is a transformer of spacy-transformers, or listens to one."""
    layers = tok2vec.layers
    return tok2vec.name == "transformer" or (
        bool(layers) and layers[-1].name == "trfs2arrays"
    )


def wordpiece_source(tok2vec: Model[InT, Any]) -> tuple[Model[InT, Any], float]:
    """Return what gives the wordpieces, without their pooling, and its grad_factor."""
    if tok2vec.name != "transformer":
        *first, last = tok2vec.layers
        source = first[0] if len(first) == 1 else chain(*first)
        return source, last.attrs["grad_factor"]
    # `nlp.replace_listeners` puts a transformer alone into the config in the place of a
    # listener that is deeper inside than `model.tok2vec`.
    from spacy_transformers.layers.split_trf import split_trf_batch

    return chain(tok2vec, split_trf_batch()), 1.0


def forward_wordpieces(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[Floats2d], Any]]:
    """Return one row for each wordpiece, and for padding: no piece has the latter."""
    source = model.layers[0]
    if source.name == "transformer-listener" and not has_heard(source):
        check_annotated(docs)
    datas, backprop_source = source(docs, is_train)
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
    vectors, starts = join(model.ops, arrays)

    def backprop(d_vectors: Floats2d) -> Any:
        parts = split(d_vectors * model.attrs["grad_factor"], arrays, starts)
        return backprop_source(
            [
                _gradient_of(data, part.reshape(tensor.shape))
                for data, tensor, part in zip(datas, tensors, parts, strict=True)
                # A Doc without tokens never went through the transformer.
                if tensor is not None
            ]
        )

    return DocRows(docs, vectors, starts, encodings, cls), backprop


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
    """Whether a row of a Doc is [CLS] by the name of its wordpiece."""
    windows = data.wordpieces.strings
    window, column = divmod(row, len(windows[0]))
    name = windows[window][column]
    # In decoders (Llama), <s> only begins a text, and has seen nothing of it.
    return name in _CLS and (name != "<s>" or "</s>" in windows[window])


def _hidden_state(data: Any) -> Any:
    """Return the vectors of a Doc, (n_windows, n_wordpieces, width); None if empty."""
    if "last_hidden_state" not in data.model_output:
        return None
    tensor = data.model_output.last_hidden_state
    return tensor if tensor.size else None


def _gradient_of(data: Any, d_tensor: Any) -> Any:
    from spacy_transformers.data_classes import TransformerData
    from transformers.utils import ModelOutput

    gradient = ModelOutput(last_hidden_state=d_tensor)
    return TransformerData(data.wordpieces, gradient, data.align)
