"""The vectors of any tok2vec, as the flat rows of a batch, and as those of tokens.

Those of spacy-transformers and spacy-curated-transformers are their wordpieces.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model, chain
from thinc.types import Floats2d, Ragged

from ...errors import SpanftError
from ...util._compat import has_heard, has_heard_curated
from ..alignment import (
    Encoding,
    encoding_of_tokens,
    encoding_of_wordpieces,
    is_sample,
    row_of_text,
    tokens_apart,
)
from .sequences import Pooling, upload, with_nonempty

# The names that tokenizers have for the wordpiece that stands for a text.
_CLS = ("[CLS]", "<s>", "<cls>", "<|startoftext|>")
# What spacy-curated-transformers calls a tok2vec with a transformer, and those without.
_WRAPPED = "wrapped_transformer_and_listener"
CURATED_LISTENERS = ("last_transformer_layer_listener", "scalar_weighting_listener")


class DocRows(NamedTuple):
    """The vectors of a batch of Docs. Their gradient is that of the vectors alone.

    cls (Optional[list[int]]): Which of its rows stands for all of a Doc, -1 where none
        does; None if the encoder has no such rows.
    """

    docs: list[Doc]
    vectors: Floats2d  # one Doc after the other, (n_rows, width)
    starts: list[int]  # the first row of each Doc, and the number of rows
    encodings: list[Encoding]
    cls: list[int] | None


ToRows = Model[list[Doc], DocRows]
Pool = Model[DocRows, Floats2d]
ToTokens = Model[DocRows, list[Floats2d]]
Backprop = Callable[[Floats2d], Any]
# What they return has the callback for the gradient.
Encoded = tuple[DocRows, Backprop]
Tokens = tuple[list[Floats2d], Callable[[list[Floats2d]], Floats2d]]
# The rows of a batch, and which of its Docs is meant.
Known = tuple[DocRows, int]


def join(ops: Any, arrays: list[Any]) -> tuple[Any, list[int]]:
    """Concatenate the rows of Docs into the vectors and the starts of DocRows."""
    # Some encoders return half precision, which thinc does not take on a GPU.
    starts = [0, *np.cumsum([len(array) for array in arrays]).tolist()]
    return ops.xp.concatenate(arrays).astype(np.float32, copy=False), starts


def split(d_vectors: Any, arrays: list[Any], starts: list[int]) -> list[Any]:
    """Cut the gradient of joined rows into that of each array, in its precision."""
    parts = [d_vectors[a:b] for a, b in pairwise(starts)]
    pairs = zip(parts, arrays, strict=True)
    return [part.astype(array.dtype, copy=False) for part, array in pairs]


def join_rows(ops: Any, docs: Sequence[Doc], parts: Sequence[Known]) -> DocRows:
    """Join the rows of Docs, each the n-th of a batch."""
    arrays = [rows.vectors[slice(*rows.starts[i : i + 2])] for rows, i in parts]
    vectors, starts = join(ops, arrays)
    encodings = [rows.encodings[i] for rows, i in parts]
    has_cls = parts[0][0].cls is not None
    cls = [(rows.cls or [])[i] for rows, i in parts] if has_cls else None
    return DocRows(list(docs), vectors, starts, encodings, cls)


def encoder_rows(tok2vec: Model[list[Doc], Any]) -> ToRows:
    """Make the layer.

    tok2vec (Model[List[Doc], List[Floats2d]]): Any tok2vec. The rows of a transformer
        (a listener to one, or one inside) are its wordpieces: the layer that pools them
        into tokens is left out. Those of any other are its tokens.
    """
    layers = tok2vec.layers
    last = layers[-1] if layers else tok2vec
    grad_factor = last.attrs.get("grad_factor", 1.0)
    if last.name == "rows_to_tokens":
        return _rows("encoder_rows", forward_rows, layers[0], grad_factor)
    if last.name == "trfs2arrays":
        source = layers[0] if len(layers) == 2 else chain(*layers[:-1])
        return _rows("wordpiece_rows", forward_wordpieces, source, grad_factor)
    if tok2vec.name == "transformer":
        # `nlp.replace_listeners` puts a transformer alone into the config in the place
        # of a listener that is deeper inside than `model.tok2vec`.
        from spacy_transformers.layers.split_trf import split_trf_batch

        source = chain(tok2vec, split_trf_batch())
        return _rows("wordpiece_rows", forward_wordpieces, source, 1.0)
    if tok2vec.name in (_WRAPPED, *CURATED_LISTENERS):
        listener = layers[1] if tok2vec.name == _WRAPPED else tok2vec
        pooling = listener.layers[-1]
        # It stays a layer, without being called: the listener has a reference to it.
        unpooled: Any = Model("unpooled", _forward_unpooled, layers=pooling.layers)
        listener.replace_node(pooling, unpooled)
        return _rows("curated_rows", forward_curated, tok2vec)
    return _rows("token_rows", forward_tokens, tok2vec)


def _rows(name: str, forward: Any, source: Any, grad_factor: float = 1.0) -> ToRows:
    attrs = {"grad_factor": grad_factor}
    dims: dict[str, int | None] = {"nO": None}
    return Model(name, forward, init=init, layers=[source], dims=dims, attrs=attrs)


def forward_rows(model: ToRows, docs: list[Doc], is_train: bool) -> Encoded:
    """Return the rows of `spanft_encoder`, or of an encoder inside, as they are."""
    rows, backprop = model.layers[0](docs, is_train)
    return rows, lambda d_vectors: backprop(d_vectors * model.attrs["grad_factor"])


def forward_tokens(model: ToRows, docs: list[Doc], is_train: bool) -> Encoded:
    """Return one row for each token."""
    arrays, backprop_source = model.layers[0](docs, is_train)
    encodings = [encoding_of_tokens(len(doc)) for doc in docs]
    vectors, starts = join(model.ops, arrays)
    rows = DocRows(docs, vectors, starts, encodings, None)
    return rows, lambda d_vectors: backprop_source(split(d_vectors, arrays, starts))


def init(model: ToRows, X: list[Doc] | None = None, Y: Any = None) -> None:
    """Set the width of the rows."""
    source = model.layers[0]
    source.initialize(X=X)
    # A transformer that is not this component's own has been initialized already.
    widths = [node.maybe_get_dim("nO") for node in source.walk()]
    width = source.maybe_get_dim("nO") or next(filter(None, widths), None)
    if width is None:
        raise no_transformer()
    model.set_dim("nO", width)


def forward_wordpieces(model: ToRows, docs: list[Doc], is_train: bool) -> Encoded:
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
    # A window that was cut off has no end; that others have one stays known.
    windows = (strings for data in datas for strings in data.wordpieces.strings)
    has_end = model.attrs.get("has_end") or any("</s>" in x for x in windows)
    model.attrs["has_end"] = has_end
    encodings, cls = [], []
    for doc, data, tensor in zip(docs, datas, tensors, strict=True):
        if tensor is None:
            encodings.append(encoding_of_tokens(0))
            cls.append(-1)
        else:
            encodings.append(_wordpieces_of(model.ops, doc, data, tensor.shape[1]))
            cls.append(row_of_text(encodings[-1], partial(_is_cls, data, has_end)))
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


def _wordpieces_of(ops: Any, doc: Doc, data: Any, width: int) -> Encoding:
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


def _is_cls(data: Any, has_end: bool, row: int) -> bool:
    """Whether a row of a Doc is [CLS] by the name of its wordpiece."""
    windows = data.wordpieces.strings
    window, column = divmod(row, len(windows[0]))
    name = windows[window][column]
    # In decoders (Llama), <s> only begins a text, and has seen nothing of it.
    return name in _CLS and (name != "<s>" or has_end)


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


def forward_curated(model: ToRows, docs: list[Doc], is_train: bool) -> Encoded:
    """Return one row for each wordpiece. Listeners receive no [CLS]."""
    source = model.layers[0]
    if source.name in CURATED_LISTENERS and not is_train:
        check_annotated(docs)
    elif source.name in CURATED_LISTENERS and not has_heard_curated(source):
        raise no_transformer()
    states, backprop_source = source(docs, is_train)
    ops = model.ops
    if docs and not isinstance(states[0], Ragged):  # Docs of no transformer: zeros
        states = [Ragged(zeros, ops.alloc1i(len(zeros)) + 1) for zeros in states]
    arrays = [state.dataXd for state in states]
    vectors, starts = join(ops, arrays)
    encodings = []
    for n, state in zip(map(len, arrays), states, strict=True):
        n_rows = ops.to_numpy(state.lengths)
        encodings.append(encoding_of_wordpieces(np.arange(n), n_rows, [n], max(1, n)))

    def backprop(d_vectors: Floats2d) -> Any:
        pairs = zip(split(d_vectors, arrays, starts), states, strict=True)
        return backprop_source([Ragged(part, state.lengths) for part, state in pairs])

    return DocRows(docs, vectors, starts, encodings, None), backprop


def _forward_unpooled(model: Model[Any, Any], X: Any, is_train: bool) -> Any:
    """Return the wordpieces of Docs that a transformer has seen, or X itself."""
    states = [
        x._.trf_data.last_hidden_layer_state if isinstance(x, Doc) else x for x in X
    ]
    return states, lambda d_states: d_states


def check_annotated(docs: list[Doc]) -> None:
    """Raise where no transformer ran, of which a listener would make zeros."""
    for doc in docs:
        is_there = doc.has_extension("trf_data") and doc._.trf_data is not None
        if len(doc) and not is_there and not is_sample(doc):
            raise no_transformer()


def no_transformer() -> SpanftError:
    """Return the error of a listener without a transformer."""
    return SpanftError(
        "There is no transformer before this component to listen to. Put one before it "
        'in [nlp] pipeline (factory = "spanft_encoder"), and name it as upstream in '
        'the component\'s [...model.tok2vec], or leave upstream at "*". One of '
        "spacy-transformers that is frozen must be taken from a trained pipeline "
        "(source = ...), and be among the annotating_components."
    )


def rows_to_tokens(pooling: Pooling, grad_factor: float = 1.0) -> ToTokens:
    """Make the layer, which pools a token's wordpieces in all windows that have them.

    So does spacy-transformers. A token without any wordpiece becomes zeros.
    """
    return Model(
        "rows_to_tokens",
        forward_pooled,
        init=init_pooled,
        layers=[with_nonempty(pooling)],
        dims={"nO": None},
        attrs={"grad_factor": grad_factor},
    )


def init_pooled(model: ToTokens, X: DocRows | None = None, Y: Any = None) -> None:
    """Initialize the pooling, which may have weights, with a row of the width."""
    if X is not None:
        row = model.ops.alloc2f(1, X.vectors.shape[1])
        model.layers[0].initialize(X=Ragged(row, model.ops.asarray1i([1])))


def forward_pooled(model: ToTokens, X: DocRows, is_train: bool) -> Tokens:
    """Apply the layer."""
    ops: Any = model.ops
    pairs = zip(X.starts, X.encodings, strict=False)
    indices = np.concatenate([start + encoding.rows for start, encoding in pairs])
    sizes = np.concatenate([encoding.n_rows for encoding in X.encodings])
    rows, counts = upload(ops, indices, sizes)
    wordpieces = Ragged(X.vectors[rows], counts)
    vectors, backprop_pooling = model.layers[0](wordpieces, is_train)

    def backprop(dY: list[Floats2d]) -> Floats2d:
        d_rows: Any = ops.xp.zeros_like(X.vectors)
        d_wordpieces = backprop_pooling(ops.xp.concatenate(dY)).dataXd
        # A row may be one of several tokens.
        ops.scatter_add(d_rows, rows, d_wordpieces * model.attrs["grad_factor"])
        return d_rows

    return ops.unflatten(vectors, list(map(len, X.docs))), backprop
