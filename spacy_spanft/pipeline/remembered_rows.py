"""What an encoder that is not trained has given, so that each text is encoded once."""

from tempfile import TemporaryFile
from typing import Any
from weakref import finalize

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model

from ..ml.layers.doc_rows import DocRows
from .kept_rows import join_rows, tokens_of

Key = tuple[str, bytes]
# More than that is on disk.
MOST_BYTES = 2**30


class RememberedRows:
    """Rows by text and tokens: in memory, and then in a file without a name."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        """Make it empty.

        most_bytes (int): How much may be in memory.
        """
        self.most_bytes = most_bytes
        self._found: dict[Key, DocRows] = {}
        self._on_disk: dict[Key, tuple[int, tuple[int, ...]]] = {}
        self._file: Any = None
        self._n_bytes = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy it empty: a file cannot be copied.

        RETURNS (tuple): What makes the copy.
        """
        return RememberedRows, (self.most_bytes,)

    def encode(
        self, model: Model[list[Doc], DocRows], docs: list[Doc], may_add: bool
    ) -> DocRows:
        """Encode what is not remembered yet.

        model (Model[List[Doc], DocRows]): The encoder, which is always the same.
        docs (list[Doc]): The Docs.
        may_add (bool): Whether that is remembered, too.
        RETURNS (DocRows): Their rows.
        """
        known = [self._get(model.ops, doc) for doc in docs]
        missing = [doc for doc, rows in zip(docs, known, strict=True) if rows is None]
        found = model.predict(missing)
        if may_add:
            self._add(model.ops, found)
        if len(missing) == len(docs):
            return found
        new = ((found, i) for i in range(len(missing)))
        places = [next(new) if rows is None else (rows, 0) for rows in known]
        return join_rows(model.ops, docs, places)

    def _add(self, ops: Any, rows: DocRows) -> None:
        vectors = ops.to_numpy(rows.vectors)
        for i, doc in enumerate(rows.docs):
            key = _key(doc)
            if key in self._found:
                continue
            own = vectors[rows.starts[i] : rows.starts[i + 1]].copy()
            if self._n_bytes + own.nbytes > self.most_bytes:
                self._on_disk[key] = self._write(own)
                own = own[:0]
            self._n_bytes += own.nbytes
            cls = None if rows.cls is None else [rows.cls[i]]
            self._found[key] = DocRows([], own, [], [rows.encodings[i]], cls)

    def clear(self) -> None:
        """Forget everything."""
        self._found.clear()
        self._on_disk.clear()
        self._n_bytes = 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def _get(self, ops: Any, doc: Doc) -> DocRows | None:
        key = _key(doc)
        rows = self._found.get(key)
        if rows is None:
            return None
        vectors: Any = self._read(key) if key in self._on_disk else rows.vectors
        starts = [0, len(vectors)]
        return rows._replace(docs=[doc], vectors=ops.asarray(vectors), starts=starts)

    def _write(self, vectors: Any) -> tuple[int, tuple[int, ...]]:
        if self._file is None:
            self._file = TemporaryFile(prefix="spanft-")  # noqa: SIM115 (see `clear`)
            finalize(self, self._file.close)
        place = self._file.seek(0, 2)
        self._file.write(vectors.tobytes())
        return place, vectors.shape

    def _read(self, key: Key) -> Any:
        place, shape = self._on_disk[key]
        self._file.seek(place)
        data = self._file.read(4 * shape[0] * shape[1])
        return np.frombuffer(data, np.float32).reshape(shape)


def _key(doc: Doc) -> Key:
    """Tell apart what has other wordpieces or other tokens."""
    return doc.text, tokens_of(doc)
