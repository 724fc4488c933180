"""Stands for a shared encoder inside the model of another component."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ...errors import Errors, SpanftError
from .doc_rows import DocRows

InT = list[Doc]
OutT = DocRows
NAME = "encoder_listener"


class Source(Protocol):
    """What a listener listens to: the component that owns the encoder."""

    name: str

    def load(self) -> None:
        """Load the encoder, if there is none yet."""

    def rows_of(self, docs: Sequence[Doc]) -> DocRows:
        """Give the rows of Docs, as in prediction."""

    def frozen_rows_of(self, docs: Sequence[Doc]) -> DocRows:
        """Give the same in training, where the encoder is not trained."""


class EncoderListener(Model[InT, OutT]):
    """Gives the rows of a shared encoder, and takes their gradient back to it."""

    def __init__(self, upstream: str) -> None:
        """Make the layer.

        upstream (str): The name of the encoder's component; "*" for any.
        """
        super().__init__(NAME, forward, init=init, dims={"nO": None})
        self.upstream_name = upstream
        self.source: Source | None = None
        self._received: tuple[DocRows, Callable[[Floats2d], Any]] | None = None

    def receive(self, rows: DocRows, backprop: Callable[[Floats2d], Any]) -> None:
        """Keep the rows of the batch that is trained on.

        rows (DocRows): Its rows.
        backprop (Callable[[Floats2d], Any]): What takes their gradient.
        """
        self._received = rows, backprop

    def hand_out(self, docs: InT) -> tuple[OutT, Callable[[Floats2d], Any]]:
        """Give what was received, once.

        docs (list[Doc]): The batch.
        RETURNS (tuple[DocRows, Callable]): The rows, and what takes their gradient. If
            nothing was received, the encoder is not trained, and it predicts.
        """
        if self._received is None:
            return self._source().frozen_rows_of(docs), no_gradient
        (rows, backprop), self._received = self._received, None
        if len(docs) != len(rows.docs) or any(
            one is not other for one, other in zip(docs, rows.docs, strict=True)
        ):
            raise SpanftError(Errors.OTHER_BATCH.format(name=self.upstream_name))
        return rows, backprop

    def rows_of(self, docs: InT) -> OutT:
        """Give the rows of Docs, as in prediction."""
        return self._source().rows_of(docs)

    def _source(self) -> Source:
        if self.source is None:
            raise SpanftError(Errors.NO_UPSTREAM.format(name=self.upstream_name))
        return self.source


def forward(
    model: EncoderListener, docs: InT, is_train: bool
) -> tuple[OutT, Callable[[Floats2d], Any]]:
    """Apply the layer."""
    if is_train:
        return model.hand_out(docs)
    return model.rows_of(docs), no_gradient


def init(model: EncoderListener, X: InT | None = None, Y: Any = None) -> None:
    """Load an encoder that spaCy does not initialize, as it is frozen."""
    if model.source is not None:
        model.source.load()


def no_gradient(d_rows: Floats2d) -> list[Doc]:
    """Take a gradient of which nothing is made."""
    return []
