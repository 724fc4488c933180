"""One encoder for several components: each text is encoded once."""

from collections import Counter
from collections.abc import Container, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from spacy.attrs import LENGTH, SPACY
from spacy.tokens import Doc
from thinc.api import Model

from ..layers.doc_rows import DocRows, join_rows

# Vectors of a frozen encoder beyond that are computed again.
MAX_FROZEN_BYTES = 2**29
_MAX_SEEN = 2**18


class _Unread(NamedTuple):
    rows: DocRows
    index: int  # type: ignore[assignment]
    tokens: bytes
    n_readers: int


class SharedEncoder:
    """An encoder, with the vectors that components have yet to read.

    They belong to their Doc as an attribute would (the table holds it weakly), until
    the last component has read them: a Doc that is kept does not keep its vectors.
    """

    def __init__(self, model: Model[list[Doc], DocRows]) -> None:
        """Share an encoder.

        model (Model[List[Doc], DocRows]): The encoder.
        """
        self.model = model
        self.frozen_rows = FrozenRows()
        self._unread: WeakKeyDictionary[Doc, _Unread] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy the encoder without the vectors: a copy has other Docs."""
        return SharedEncoder, (self.model,)

    def keep(self, rows: DocRows, n_readers: int) -> None:
        """Keep the vectors of a batch until they have been read.

        rows (DocRows): The vectors.
        n_readers (int): The number of listeners that will read each Doc's once.
        """
        if n_readers == 0:
            return
        vectors = rows._replace(docs=[])  # a Doc in here would never be freed
        counts = Counter(rows.docs)
        for index, doc in enumerate(rows.docs):
            n = n_readers * counts[doc]
            self._unread[doc] = _Unread(vectors, index, _tokens_of(doc), n)

    def _take(self, doc: Doc) -> _Unread | None:
        """Return the vectors of a Doc, unless it was read or retokenized since."""
        unread = self._unread.pop(doc, None)
        if unread is None or unread.tokens != _tokens_of(doc):
            return None
        if unread.n_readers > 1:
            self._unread[doc] = unread._replace(n_readers=unread.n_readers - 1)
        return unread

    def rows_of(self, docs: Sequence[Doc], learn: bool = False) -> DocRows:
        """Return the vectors of Docs, which need not have been in the pipeline.

        docs (Sequence[Doc]): The Docs.
        learn (bool): Whether a component learns from them while the encoder is frozen,
            so that it will ask for the same texts again.
        RETURNS (DocRows): Their vectors, as in prediction.
        """
        unread = [self._take(doc) for doc in docs]
        missing = [doc for doc, rows in zip(docs, unread, strict=True) if rows is None]
        if missing or not docs:
            encoded = self.frozen_rows.encode(self.model, missing)
        new = iter(range(len(missing)))
        places = [(r.rows, r.index) if r else (encoded, next(new)) for r in unread]
        rows = join_rows(self.model.ops, docs, places) if any(unread) else encoded
        if learn:
            self.frozen_rows.add(self.model.ops, rows)
        return rows

    def forget(self) -> None:
        """Forget all vectors: another encoder gives others."""
        self._unread.clear()
        self.frozen_rows.clear()


class FrozenRows:
    """The vectors of the texts that others learn from while the encoder is frozen.

    Texts that are predicted in between are remembered at their second time, so that
    those of an evaluation are, and those of a stream are not.
    """

    def __init__(self, max_bytes: int = MAX_FROZEN_BYTES) -> None:
        """Begin with none.

        max_bytes (int): The size of all vectors together.
        """
        self.max_bytes = max_bytes
        self._rows: dict[tuple[str, bytes], DocRows] = {}
        self._seen: set[int] = set()
        self._n_bytes = 0

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self._rows)

    def encode(self, model: Model[list[Doc], DocRows], docs: list[Doc]) -> DocRows:
        """Encode the Docs whose vectors are not known.

        model (Model[List[Doc], DocRows]): The encoder, always the same one.
        docs (list[Doc]): The Docs.
        RETURNS (DocRows): The vectors of all.
        """
        if not self._rows:
            return model.predict(docs)
        known = [self._rows.get(_key_of(doc)) for doc in docs]
        missing = [doc for doc, rows in zip(docs, known, strict=True) if rows is None]
        encoded = model.predict(missing)
        hashes = [hash(_key_of(doc)) for doc in missing]
        self.add(model.ops, encoded, only=self._seen.intersection(hashes))
        if len(self._seen) > _MAX_SEEN:
            self._seen.clear()
        self._seen.update(hashes)
        if len(missing) == len(docs):
            return encoded
        new = iter(range(len(missing)))
        places = [(rows, 0) if rows else (encoded, next(new)) for rows in known]
        return join_rows(model.ops, docs, places)

    def add(self, ops: Any, rows: DocRows, only: Container[int] | None = None) -> None:
        """Remember the vectors of a batch, as far as there is room.

        ops (Ops): The operations of the encoder's device.
        rows (DocRows): The vectors.
        only (Optional[Container[int]]): The hashes of the texts to remember; None
            remembers all.
        """
        for index, doc in enumerate(rows.docs):
            key = _key_of(doc)
            if key in self._rows or not (only is None or hash(key) in only):
                continue
            part = join_rows(ops, [], [(rows, index)])
            self._n_bytes += part.vectors.nbytes
            if self._n_bytes > self.max_bytes:
                self._n_bytes -= part.vectors.nbytes
                continue
            # A slice would keep all of the batch.
            self._rows[key] = part._replace(vectors=part.vectors.copy())

    def clear(self) -> None:
        """Forget all of them."""
        self._rows.clear()
        self._seen.clear()
        self._n_bytes = 0


def _tokens_of(doc: Doc) -> bytes:
    """Return where the tokens of a Doc are, which retokenizing changes."""
    return doc.to_array([LENGTH, SPACY]).tobytes()


def _key_of(doc: Doc) -> tuple[str, bytes]:
    return doc.text, _tokens_of(doc)
