"""The wordpieces of spacy-curated-transformers, as the flat rows of a batch."""

from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from itertools import pairwise
from typing import Any

import numpy as np
from packaging.version import Version
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d, Ragged

from ...errors import SpanftError
from ...util._compat import has_heard_curated
from ..alignment import Encoding, encoding_of_wordpieces
from .doc_rows import DocRows, as_type_of, check_annotated, init, join, starts_of

_WRAPPED = "wrapped_transformer_and_listener"
_LISTENERS = ("last_transformer_layer_listener", "scalar_weighting_listener")
# Up to which version, and from which one of NumPy, they crash in training.
_CRASHES, _NEW = Version("0.3.1"), Version("2.4")

# It reads a file, and is asked for in each step.
_version = cache(version)

InT = list[Doc]
OutT = DocRows


def is_curated(tok2vec: Model[InT, Any]) -> bool:
    """Say whether a tok2vec is a curated transformer, or listens to one.

    tok2vec (Model[List[Doc], List[Floats2d]]): Any tok2vec.
    """
    return tok2vec.name in (_WRAPPED, *_LISTENERS)


def curated_rows(tok2vec: Model[InT, Any]) -> Model[InT, OutT]:
    """Make the layer. It has no row for [CLS]: that is dropped before anybody listens.

    tok2vec (Model[List[Doc], List[Floats2d]]): A curated transformer, or a listener.
        What pools its wordpieces into tokens is left out of it.
    RETURNS (Model[List[Doc], DocRows]): Docs to rows.
    """
    listener = tok2vec.layers[1] if tok2vec.name == _WRAPPED else tok2vec
    pooling = listener.layers[-1]
    # It stays a layer, without being called: the listener has a reference to it.
    listener.replace_node(
        pooling, Model("unpooled", _forward_unpooled, layers=pooling.layers)
    )
    return Model(
        "curated_rows", forward, init=init, layers=[tok2vec], dims={"nO": None}
    )


def forward(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[Floats2d], Any]]:
    """Take one row for each wordpiece."""
    _check_transformer(model.layers[0], docs, is_train)
    states, backprop_source = model.layers[0](docs, is_train)
    ops = model.ops
    if docs and not isinstance(states[0], Ragged):  # Docs of no transformer: zeros
        states = [Ragged(one, ops.alloc1i(len(one)) + 1) for one in states]
    arrays = [state.dataXd for state in states]
    starts = starts_of(arrays)
    encodings = [_encoding(ops, state) for state in states]
    rows = DocRows(docs, join(ops, arrays), starts, encodings, None)

    def backprop(d_vectors: Floats2d) -> Any:
        parts = zip(states, pairwise(starts), strict=True)
        return backprop_source(
            [
                Ragged(as_type_of(state.dataXd, d_vectors[a:b]), state.lengths)
                for state, (a, b) in parts
            ]
        )

    return rows, backprop


def _encoding(ops: Any, state: Ragged) -> Encoding:
    """Say which rows are those of which token: they follow one another."""
    lengths = ops.to_numpy(state.lengths)
    n = int(lengths.sum())
    return encoding_of_wordpieces(np.arange(n), lengths, [n], max(1, n))


def _forward_unpooled(
    model: Model[Any, list[Ragged]], X: Any, is_train: bool
) -> tuple[list[Ragged], Callable[[list[Ragged]], list[Ragged]]]:
    """Give the wordpieces of Docs that a transformer has seen, or those given."""
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
    elif not has_heard_curated(source):
        raise SpanftError(
            "There is no transformer for this component to listen to. Put one before "
            'it in [nlp] pipeline (factory = "transformer"), and name it in the '
            'component\'s [...model.tok2vec] upstream, or leave upstream at "*". A '
            "transformer that is frozen in training must be taken from a trained "
            "pipeline (source = ...), and be among the annotating_components."
        )
    else:
        _check_numpy(source.ops)


def _check_numpy(ops: Any) -> None:
    """Raise where the component of the transformer makes a float of an array.

    NumPy from 2.4 on refuses that for arrays of one dimension, CuPy does not.
    """
    theirs = _version("spacy-curated-transformers")
    if ops.xp is np and Version(theirs) <= _CRASHES and Version(np.__version__) >= _NEW:
        raise SpanftError(
            f"spacy-curated-transformers {theirs} cannot be trained with NumPy "
            f'{np.__version__}: run pip install "numpy<2.4".'
        )
