"""A layer that stands for a shared encoder inside the model of another component."""

from collections.abc import Callable
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ...errors import SpanftError
from ..encoder.sharing import SharedEncoder
from .doc_rows import DocRows

InT = list[Doc]
OutT = DocRows
Backprop = Callable[[Floats2d], Any]


class EncoderListener(Model[InT, OutT]):
    """Returns the rows of a shared encoder, and sends their gradient back to it."""

    def __init__(self, upstream: str) -> None:
        """Make the layer.

        upstream (str): The name of the encoder's component; "*" for any.
        """
        super().__init__("encoder_listener", forward, init=init, dims={"nO": None})
        self.upstream_name = upstream
        self.encoder: SharedEncoder | None = None
        self._received: tuple[DocRows, Backprop] | None = None

    def receive(self, rows: DocRows, backprop: Backprop) -> None:
        """Keep the rows of the next batch, and the callback for their gradient."""
        self._received = rows, backprop

    def take(self, docs: InT) -> tuple[OutT, Backprop]:
        """Return what was received, once.

        docs (list[Doc]): The batch.
        RETURNS (tuple[DocRows, Callable]): The rows, and the callback for their
            gradient. If nothing was received, the encoder is not trained: it predicts.
        """
        if self._received is None:
            return self.shared.rows_of(docs, learn=True), no_gradient
        (rows, backprop), self._received = self._received, None
        if list(map(id, docs)) != list(map(id, rows.docs)):
            raise SpanftError(
                f"A component that listens to the encoder {self.upstream_name!r} was "
                "given other Docs to learn from than the encoder. Update both in one "
                "call of nlp.update."
            )
        return rows, backprop

    @property
    def shared(self) -> SharedEncoder:
        """The encoder."""
        if self.encoder is None:
            raise SpanftError(
                f"A component listens to the encoder {self.upstream_name!r}, and none "
                "of that name is before it. Add one: nlp.add_pipe("
                '"spanft_encoder", before=...), or set upstream to the name of yours.'
            )
        return self.encoder


def forward(model: EncoderListener, docs: InT, is_train: bool) -> tuple[OutT, Backprop]:
    """Apply the layer."""
    if is_train:
        return model.take(docs)
    return model.shared.rows_of(docs), no_gradient


def init(model: EncoderListener, X: InT | None = None, Y: Any = None) -> None:
    """Load an encoder that spaCy does not initialize because it is frozen."""
    if model.encoder is not None:
        model.encoder.model.initialize()
        model.set_dim("nO", model.encoder.model.get_dim("nO"), force=True)


def no_gradient(d_rows: Floats2d) -> list[Doc]:
    """Drop the gradient of an encoder that is not trained."""
    return []
