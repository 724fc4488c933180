"""The wordpieces of spacy-curated-transformers, as the flat rows of a batch."""

from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
from packaging.version import Version
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d, Ragged

from ...errors import SpanftError
from ...util._compat import has_heard_curated
from ..alignment import Encoding, encoding_of_wordpieces
from .doc_rows import DocRows, check_annotated, join, no_transformer, split

_WRAPPED = "wrapped_transformer_and_listener"
_LISTENERS = ("last_transformer_layer_listener", "scalar_weighting_listener")
# The version up to which it crashes in training, and that of NumPy from which on.
_CRASHES, _NEW = Version("0.3.1"), Version("2.4")

# It reads a file, and is called in each step.
_version = cache(version)

InT = list[Doc]
OutT = DocRows


def is_curated(tok2vec: Model[InT, Any]) -> bool:
    """Whether a tok2vec is a curated transformer, or listens to one."""
    return tok2vec.name in (_WRAPPED, *_LISTENERS)


def curated_source(tok2vec: Model[InT, Any]) -> Model[InT, Any]:
    """Return a curated transformer, or a listener, without its pooling into tokens."""
    listener = tok2vec.layers[1] if tok2vec.name == _WRAPPED else tok2vec
    pooling = listener.layers[-1]
    # It stays a layer, without being called: the listener has a reference to it.
    unpooled: Any = Model("unpooled", _forward_unpooled, layers=pooling.layers)
    listener.replace_node(pooling, unpooled)
    return tok2vec


def forward_curated(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[Floats2d], Any]]:
    """Return one row for each wordpiece. Listeners receive no [CLS]."""
    _check_transformer(model.layers[0], docs, is_train)
    states, backprop_source = model.layers[0](docs, is_train)
    ops = model.ops
    if docs and not isinstance(states[0], Ragged):  # Docs of no transformer: zeros
        states = [Ragged(zeros, ops.alloc1i(len(zeros)) + 1) for zeros in states]
    arrays = [state.dataXd for state in states]
    vectors, starts = join(ops, arrays)
    encodings = [_encoding(ops, state) for state in states]

    def backprop(d_vectors: Floats2d) -> Any:
        pairs = zip(split(d_vectors, arrays, starts), states, strict=True)
        return backprop_source([Ragged(part, state.lengths) for part, state in pairs])

    return DocRows(docs, vectors, starts, encodings, None), backprop


def _encoding(ops: Any, state: Ragged) -> Encoding:
    """Return the rows of each token, which follow one another."""
    lengths = ops.to_numpy(state.lengths)
    n = int(lengths.sum())
    return encoding_of_wordpieces(np.arange(n), lengths, [n], max(1, n))


def _forward_unpooled(
    model: Model[Any, list[Ragged]], X: Any, is_train: bool
) -> tuple[list[Ragged], Callable[[list[Ragged]], list[Ragged]]]:
    """Return the wordpieces of Docs that a transformer has seen, or X itself."""
    states = [
        x._.trf_data.last_hidden_layer_state if isinstance(x, Doc) else x for x in X
    ]
    return states, lambda d_states: d_states


def _check_transformer(source: Model[InT, Any], docs: InT, is_train: bool) -> None:
    """Raise where a listener has nobody to listen to, or cannot be trained."""
    if source.name == _WRAPPED:
        return
    if not is_train:
        check_annotated(docs)
        return
    if not has_heard_curated(source):
        raise no_transformer()
    # It makes a float of an array of one dimension, which NumPy refuses from 2.4 on.
    theirs = _version("spacy-curated-transformers")
    is_new = source.ops.xp is np and Version(np.__version__) >= _NEW
    if is_new and Version(theirs) <= _CRASHES:
        raise SpanftError(
            f"spacy-curated-transformers {theirs} cannot be trained with NumPy "
            f'{np.__version__}: run pip install "numpy<2.4".'
        )
