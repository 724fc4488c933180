"""One encoder for several components: each text is encoded once."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

from spacy.attrs import LENGTH, SPACY
from spacy.tokens import Doc
from thinc.api import Model, chain
from thinc.types import Floats2d

from ...errors import SpanftError
from ..layers.encoder_rows import (
    Backprop,
    DocRows,
    Encoded,
    Known,
    ToRows,
    join_rows,
    rows_to_tokens,
)
from ..layers.sequences import Pooling

Tok2Vec = Model[list[Doc], list[Floats2d]]
# Vectors of a frozen encoder beyond that are computed again.
MAX_FROZEN_BYTES = 2**29
_MAX_SEEN = 2**18


class _Unread(NamedTuple):
    known: Known
    tokens: bytes
    n_readers: int


class SharedEncoder:
    """An encoder, with the vectors that components have yet to read.

    They belong to their Doc as an attribute would (the table holds it weakly), until
    the last component has read them: a Doc that is kept does not keep its vectors,
    unless a component that would have read them is disabled.

    While the encoder is frozen, the vectors of texts that components learn from are
    remembered; of those that are predicted in between at their second time, so that
    those of an evaluation are, and those of a stream are not.
    """

    def __init__(self, model: ToRows) -> None:
        """Share an encoder."""
        self.model = model
        self._n_bytes_left = MAX_FROZEN_BYTES
        self.frozen_rows: dict[tuple[str, bytes], DocRows] = {}
        self._seen: set[int] = set()
        self._unread: WeakKeyDictionary[Doc, _Unread] = WeakKeyDictionary()
        self.listeners: WeakSet[EncoderListener] = WeakSet()

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy the encoder without the vectors: a copy has other Docs."""
        return SharedEncoder, (self.model,)

    def __deepcopy__(self, memo: dict[int, Any]) -> "SharedEncoder":
        """Copy the encoder where its component is copied, which begins with its model.

        spaCy copies the model of each head that resumes its training.
        """
        model = memo.get(id(self.model))
        return self if model is None else SharedEncoder(model)

    def keep(self, rows: DocRows, n_readers: int) -> None:
        """Keep the vectors of a batch until each Doc's were read `n_readers` times."""
        if n_readers == 0:
            return
        vectors = rows._replace(docs=[])  # a Doc in here would never be freed
        counts = Counter(rows.docs)
        for index, doc in enumerate(rows.docs):
            n = n_readers * counts[doc]
            self._unread[doc] = _Unread((vectors, index), _tokens_of(doc), n)

    def rows_of(
        self, docs: Sequence[Doc], learn: bool = False, counts: bool = True
    ) -> DocRows:
        """Return the vectors of Docs, which need not have been in the pipeline.

        learn (bool): Whether a component learns from them while the encoder is frozen,
            so that it will ask for the same texts again.
        counts (bool): Whether this is one of the readings for which they are kept.
        """
        known = list(map(self._take if counts else self._known, docs))
        rows = self._completed(docs, known, self.encode)
        if learn:
            self._remember(rows)
        return rows

    def encode(self, docs: list[Doc]) -> DocRows:
        """Encode Docs, but for texts that are remembered."""
        if not self.frozen_rows:
            return self.model.predict(docs)
        keys = list(map(_key_of, docs))
        remembered = map(self.frozen_rows.get, keys)
        known = [None if part is None else (part, 0) for part in remembered]
        rows = self._completed(docs, known, self.model.predict)
        self._remember(rows, [hash(key) in self._seen for key in keys])
        if len(self._seen) > _MAX_SEEN:
            self._seen.clear()
        self._seen.update(map(hash, keys))
        return rows

    def forget(self) -> None:
        """Forget all vectors: another encoder gives others."""
        self._unread.clear()
        self.frozen_rows.clear()
        self._seen.clear()
        self._n_bytes_left = MAX_FROZEN_BYTES

    def _known(self, doc: Doc) -> Known | None:
        """Return the vectors of a Doc, unless it was read or retokenized since."""
        unread = self._unread.get(doc)
        if unread is None or unread.tokens != _tokens_of(doc):
            return None
        return unread.known

    def _take(self, doc: Doc) -> Known | None:
        known, unread = self._known(doc), self._unread.pop(doc, None)
        if known and unread and unread.n_readers > 1:
            self._unread[doc] = unread._replace(n_readers=unread.n_readers - 1)
        return known

    def _completed(
        self,
        docs: Sequence[Doc],
        known: list[Known | None],
        encode: Callable[[list[Doc]], DocRows],
    ) -> DocRows:
        """Join the rows that are known with those of the other Docs."""
        missing = [doc for doc, part in zip(docs, known, strict=True) if part is None]
        if len(missing) == len(docs):
            return encode(missing)
        encoded = encode(missing) if missing else None
        new = iter(range(len(missing)))
        parts: Any = [part or (encoded, next(new)) for part in known]
        return join_rows(self.model.ops, docs, parts)

    def _remember(self, rows: DocRows, wanted: Sequence[bool] | None = None) -> None:
        """Remember the vectors of texts, or of those wanted, while there is room."""
        for index, doc in enumerate(rows.docs):
            key = _key_of(doc)
            if key in self.frozen_rows or not (wanted is None or wanted[index]):
                continue
            part = join_rows(self.model.ops, [], [(rows, index)])
            if part.vectors.nbytes <= self._n_bytes_left:
                self._n_bytes_left -= part.vectors.nbytes
                self.frozen_rows[key] = part


def _tokens_of(doc: Doc) -> bytes:
    """Return where the tokens of a Doc are, which retokenizing changes."""
    return doc.to_array([LENGTH, SPACY]).tobytes()


def _key_of(doc: Doc) -> tuple[str, bytes]:
    return doc.text, _tokens_of(doc)


class EncoderListener(Model[list[Doc], DocRows]):
    """Returns the rows of a shared encoder, and sends their gradient back to it."""

    def __init__(self, upstream: str) -> None:
        """Make the layer; `upstream` names the encoder's component, "*" any."""
        super().__init__("encoder_listener", forward, init=init, dims={"nO": None})
        self.upstream_name = upstream
        self.encoder: SharedEncoder | None = None
        self.received: Encoded | None = None

    def receive(self, rows: DocRows, backprop: Backprop) -> None:
        """Keep the rows of the next batch, and the callback for their gradient."""
        self.received, self._lengths = (rows, backprop), list(map(len, rows.docs))

    def take(self, docs: list[Doc]) -> Encoded:
        """Return what was received, once; what is not trained sends nothing."""
        if self.received is None:
            return self.shared.rows_of(docs, learn=True), no_gradient
        (rows, backprop), self.received = self.received, None
        is_same = list(map(id, docs)) == list(map(id, rows.docs))
        if not is_same or list(map(len, docs)) != self._lengths:
            raise SpanftError(
                f"A component that listens to the encoder {self.upstream_name!r} was "
                "given other Docs than the encoder, or other tokens. Update both in "
                "one nlp.update, and retokenize before the encoder. If it was left out "
                "of the last update, call finish_batch() of the encoder's component."
            )
        return rows, backprop

    @property
    def shared(self) -> SharedEncoder:
        """The encoder, or an error where there is none to listen to."""
        if self.encoder is None:
            raise SpanftError(
                f"A component listens to the encoder {self.upstream_name!r}, and none "
                "of that name is before it. Add one: nlp.add_pipe("
                '"spanft_encoder", before=...), or set upstream to the name of yours.'
            )
        return self.encoder


def forward(model: EncoderListener, docs: list[Doc], is_train: bool) -> Encoded:
    """Apply the layer."""
    return model.take(docs) if is_train else (model.shared.rows_of(docs), no_gradient)


def init(model: EncoderListener, X: list[Doc] | None = None, Y: Any = None) -> None:
    """Load an encoder that spaCy does not initialize because it is frozen."""
    if model.encoder is not None:
        model.encoder.model.initialize()
        model.set_dim("nO", model.encoder.model.get_dim("nO"), force=True)


def no_gradient(d_rows: Floats2d) -> list[Doc]:
    """Drop the gradient of an encoder that is not trained."""
    return []


def encoder_listener(
    pooling: Pooling, upstream: str = "*", grad_factor: float = 1.0
) -> Tok2Vec:
    """Build `spacy-spanft.EncoderListener.v1`: a `spanft_encoder` as a tok2vec.

    pooling (Model[Ragged, Floats2d]): Makes one vector of a token's wordpieces, such
        as reduce_mean.v1. Layers that pool spans ignore it.
    upstream (str): The name of the encoder's component; "*" for any.
    grad_factor (float): The factor of the gradients.
    """
    return chain(EncoderListener(upstream), rows_to_tokens(pooling, grad_factor))


def tok2vec_encoder(
    encoder: ToRows, pooling: Pooling, grad_factor: float = 1.0
) -> Tok2Vec:
    """Build `spacy-spanft.Tok2VecEncoder.v1`: an encoder of a component's own.

    `nlp.replace_listeners` puts it in the place of a listener.

    encoder (Model[List[Doc], DocRows]): The encoder.
    pooling (Model[Ragged, Floats2d]): Makes one vector of a token's wordpieces.
    grad_factor (float): The factor of the gradients.
    """
    return chain(encoder, rows_to_tokens(pooling, grad_factor))


def replace_listener_cfg(
    encoder: dict[str, Any], listener: dict[str, Any]
) -> dict[str, Any]:
    """Return the config of what a listener is replaced with."""
    while "pooling" not in listener:  # spaCy gives what stands in model.tok2vec
        listener = listener["tok2vec"]
    return {
        "@architectures": "spacy-spanft.Tok2VecEncoder.v1",
        "encoder": encoder,
        "pooling": listener["pooling"],
        "grad_factor": listener.get("grad_factor", 1.0),
    }
