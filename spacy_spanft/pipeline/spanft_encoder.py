"""The component `spanft_encoder`: an encoder of Hugging Face that others share."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

from spacy.language import Language
from spacy.pipeline import Tok2Vec
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from thinc.api import Model, NumpyOps, Optimizer, reduce_mean

from ..errors import check_number, reported, warn
from ..ml.encoder.hf_encoder import is_trained
from ..ml.encoder.sharing import EncoderListener, SharedEncoder, no_gradient
from ..ml.layers.encoder_rows import DocRows, rows_to_tokens
from ..ml.layers.sequences import TorchOps
from ..util.pipelines import batches_of

# Vectors of more tokens are not computed ahead.
_MAX_TOKENS = 2**16

_TORCH_OPS = TorchOps()
GetExamples = Callable[[], Iterable[Example]]


@dataclass
class PendingGradient:
    """The sum of a batch's gradients, until all `n_left` listeners have sent theirs.

    Then `backprop` takes it, and if there is an optimizer, a step follows at once.
    """

    backprop: Callable[[Any], Any]
    n_left: int
    sgd: Optimizer | None
    gradient: Any = None


@Language.factory(
    "spanft_encoder",
    default_config={
        "model": {
            "@architectures": "spacy-spanft.HuggingFaceEncoder.v1",
            "name": "bert-base-uncased",
        }
    },
)
class SpanftEncoder(Tok2Vec):
    """Encodes Docs for the components after it that have an EncoderListener.

    A Doc loses its vectors as soon as all of them have read them. They are computed
    again for whoever asks later (`rows_of`).

    model (Model[List[Doc], DocRows]): spacy-spanft.HuggingFaceEncoder.v1.
    n_sorted (int): The number of batches of a stream that are sorted together.
    set_tensor (bool): Whether doc.tensor gets the mean of each token's wordpieces, for
        doc.similarity and the like.
    """

    def __init__(
        self,
        nlp: Language,
        name: str,
        model: Model[list[Doc], DocRows],
        n_sorted: int = 8,
        set_tensor: bool = False,
    ) -> None:
        """Make the component."""
        check_number("n_sorted", n_sorted, lambda n: n >= 1, "1 or more")
        super().__init__(nlp.vocab, model, name)
        self.n_sorted, self.set_tensor = n_sorted, set_tensor
        self.shared = SharedEncoder(model)
        self._pending: PendingGradient | None = None
        self._has_gradient = False
        self._tokens = rows_to_tokens(reduce_mean())

    def add_listener(self, listener: Any, component_name: str) -> None:
        """Let a listener of a component listen to this one."""
        super().add_listener(listener, component_name)
        if listener.encoder not in (None, self.shared):
            warn(
                f"{component_name!r} read the vectors of another encoder, and gets "
                f"those of {self.name!r} now. Train it again; or, to keep its own, "
                "call replace_listeners in its old pipeline before it is added here."
            )
        listener.encoder = self.shared
        self.shared.listeners.add(listener)

    def remove_listener(self, listener: Any, component_name: str) -> bool:
        """Do not expect a gradient of a listener any more."""
        self.shared.listeners.discard(listener)
        return super().remove_listener(listener, component_name)

    @property
    def listeners(self) -> list[Any]:
        """The listeners, also of components that were disabled when spaCy linked them.

        They may be enabled later, and learn.
        """
        return [*{*super().listeners, *self.shared.listeners}]

    def find_listeners(self, component: Any) -> None:
        """Add the listeners of another component to this one.

        spaCy calls it when a pipeline is loaded. On the CPU, the layers of other
        components get the matrix products of PyTorch.
        """
        model = getattr(component, "model", None)
        for node in model.walk() if isinstance(model, Model) else ():
            if type(node.ops) is NumpyOps:
                node.ops = _TORCH_OPS
            names = ("*", self.name)
            if isinstance(node, EncoderListener) and node.upstream_name in names:
                self.add_listener(node, component.name)

    def rows_of(self, docs: Sequence[Doc]) -> DocRows:
        """Return the vectors of Docs, which need not have been in the pipeline."""
        return self.shared.rows_of(docs, counts=False)

    def predict(self, docs: Iterable[Doc]) -> DocRows:
        """Encode Docs, all of them at once."""
        self.finish_backprop()
        return self.model.predict(list(docs))

    def set_annotations(self, docs: Iterable[Doc], rows: DocRows) -> None:
        """Keep the rows of Docs for the components after this one."""
        self.shared.keep(rows, sum(map(len, self.listener_map.values())))
        if self.set_tensor:
            tensors: list[Any] = self._tokens.predict(rows)
            for doc, tensor in zip(rows.docs, tensors, strict=True):
                doc.tensor = tensor.copy()  # not all of the batch

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Encode a stream, several batches at once: sorting saves padding."""
        self.finish_backprop()
        error_handler = self.get_error_handler()
        for docs in batches_of(stream, _MAX_TOKENS, batch_size * self.n_sorted):
            try:
                self.set_annotations(docs, self.shared.encode(docs))
                yield from docs
            except Exception as error:
                error_handler(self.name, self, docs, error)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Encode a batch for the listeners, which return its gradient.

        `drop` has no effect: the encoder has dropout of its own. Its loss is the square
        of the gradient.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, "SpanftEncoder.update")
        self.finish_batch()
        docs = [example.predicted for example in examples]
        backprop: Any
        if is_trained(self.model):
            rows, backprop = self.model.begin_update(docs)
        else:
            rows, backprop = self.shared.rows_of(docs, learn=True), no_gradient
        self._pending = PendingGradient(backprop, len(self.listeners), sgd)
        for listener in self.listeners:
            listener.receive(rows, partial(self._take, self._pending, losses))
        return losses

    def _take(
        self, pending: PendingGradient, losses: dict[str, float], d_rows: Any
    ) -> list[Doc]:
        """Take the gradient of a listener; the last one's goes through the encoder."""
        losses[self.name] += float((d_rows**2).sum())
        is_first = pending.gradient is None
        pending.gradient = d_rows if is_first else pending.gradient + d_rows
        pending.n_left -= 1
        if pending.n_left == 0 and pending is self._pending:
            self.finish_backprop()
        return []

    def finish_backprop(self) -> None:
        """Backpropagate the gradient of the listeners, if there is one."""
        pending = self._pending
        # A frozen listener sends none, and the others' waits for it.
        if pending is not None and pending.gradient is not None:
            self._pending, self._has_gradient = None, True
            pending.backprop(pending.gradient)
            if pending.sgd is not None:
                self._step(pending.sgd)

    def finish_batch(self) -> None:
        """Do what waits for listeners, even if none learned from the batch's last part.

        Then the step for its other parts was put off.
        """
        self.finish_backprop()
        pending = self._pending
        if pending is not None and pending.sgd is not None and self._has_gradient:
            self._step(pending.sgd)
        self._clear()

    def forget_batch(self) -> None:
        """Wait for no listener any more: all have had their turn."""
        self._pending = None

    def finish_update(self, sgd: Optimizer) -> None:
        """Update the encoder."""
        pending = self._pending
        if pending is not None and pending.gradient is None:
            # nlp.update(..., sgd=sgd) asks for it before listeners had their turn.
            pending.sgd = sgd
            return
        self.finish_backprop()
        self._step(sgd)

    def _step(self, sgd: Optimizer) -> None:
        self._pending, self._has_gradient = None, False
        if is_trained(self.model):
            self.shared.forget()
        super().finish_update(sgd)
        self._clear()

    def _clear(self) -> None:
        for listener in self.listeners:  # one may have been left out of the update
            listener.received = None

    def initialize(
        self, get_examples: GetExamples, *, nlp: Language | None = None
    ) -> None:
        """Load the encoder, if there is none yet."""
        self.model.initialize()

    def to_bytes(self, *args: Any, **settings: Any) -> bytes:
        """Return the component as bytes."""
        self.finish_batch()
        return super().to_bytes(*args, **settings)

    def to_disk(self, *args: Any, **settings: Any) -> None:
        """Save the component."""
        self.finish_batch()
        super().to_disk(*args, **settings)

    def from_bytes(self, *args: Any, **settings: Any) -> "SpanftEncoder":
        """Load the component."""
        with self._loading():
            super().from_bytes(*args, **settings)
        return self

    def from_disk(self, *args: Any, **settings: Any) -> "SpanftEncoder":
        """Load the component."""
        with self._loading():
            super().from_disk(*args, **settings)
        return self

    def _loading(self) -> AbstractContextManager[None]:
        """Add the name of the component to errors of reading its weights."""
        self.shared.forget()
        return reported(
            f"The encoder of {self.name!r} cannot be read (are all files of the saved "
            "pipeline whole, and no Git LFS pointers?)",
            Exception,
        )
