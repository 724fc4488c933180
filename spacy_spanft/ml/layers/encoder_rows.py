"""The vectors of any tok2vec, as the flat rows of a batch."""

from collections.abc import Callable
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..alignment import encoding_of_tokens
from .curated_rows import curated_source, forward_curated, is_curated
from .doc_rows import DocRows, join, no_transformer, split
from .wordpiece_rows import forward_wordpieces, is_transformer, wordpiece_source

InT = list[Doc]
OutT = DocRows


def encoder_rows(tok2vec: Model[InT, Any]) -> Model[InT, OutT]:
    """Make the layer.

    tok2vec (Model[List[Doc], List[Floats2d]]): Any tok2vec. The rows of a transformer
        (a listener to one, or one inside) are its wordpieces: the layer that pools them
        into tokens is left out. Those of any other are its tokens.
    RETURNS (Model[List[Doc], DocRows]): Docs to rows.
    """
    layers = tok2vec.layers
    if layers and layers[-1].name == "rows_to_tokens":
        grad_factor = layers[-1].attrs["grad_factor"]
        return _rows("encoder_rows", forward_rows, layers[0], grad_factor)
    if is_transformer(tok2vec):
        return _rows("wordpiece_rows", forward_wordpieces, *wordpiece_source(tok2vec))
    if is_curated(tok2vec):
        return _rows("curated_rows", forward_curated, curated_source(tok2vec))
    return _rows("token_rows", forward_tokens, tok2vec)


def _rows(
    name: str,
    forward: Callable[..., Any],
    source: Model[InT, Any],
    grad_factor: float | None = None,
) -> Model[InT, OutT]:
    attrs = {} if grad_factor is None else {"grad_factor": grad_factor}
    dims: dict[str, int | None] = {"nO": None}
    return Model(name, forward, init=init, layers=[source], dims=dims, attrs=attrs)


def forward_rows(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[Floats2d], Any]]:
    """Return the rows of `spanft_encoder`, or of an encoder inside, as they are."""
    rows, backprop_encoder = model.layers[0](docs, is_train)
    grad_factor = model.attrs["grad_factor"]

    def backprop(d_vectors: Floats2d) -> Any:
        return backprop_encoder(
            d_vectors * grad_factor if grad_factor != 1 else d_vectors
        )

    return rows, backprop


def forward_tokens(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[Floats2d], InT]]:
    """Return one row for each token."""
    arrays, backprop_source = model.layers[0](docs, is_train)
    encodings = [encoding_of_tokens(len(doc)) for doc in docs]
    vectors, starts = join(model.ops, arrays)
    rows = DocRows(docs, vectors, starts, encodings, None)
    return rows, lambda d_vectors: backprop_source(split(d_vectors, arrays, starts))


def init(model: Model[InT, OutT], X: InT | None = None, Y: Any = None) -> None:
    """Set the width of the rows."""
    source = model.layers[0]
    source.initialize(X=X)
    # A transformer that is not this component's own has been initialized already.
    widths = [node.maybe_get_dim("nO") for node in source.walk()]
    width = source.maybe_get_dim("nO") or next(filter(None, widths), None)
    if width is None:
        raise no_transformer()
    model.set_dim("nO", width)
