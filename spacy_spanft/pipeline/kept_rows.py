"""The rows of the Docs that were encoded last, until others have used them."""

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from spacy.attrs import LENGTH, SPACY
from spacy.tokens import Doc

from ..ml.layers.doc_rows import DocRows

# A batch, and the number of a Doc in it.
Place = tuple[DocRows, int]


def tokens_of(doc: Doc) -> bytes:
    """Say where the tokens of a Doc are, which retokenizing changes.

    doc (Doc): A Doc.
    RETURNS (bytes): The same if tokens are where they were.
    """
    return doc.to_array([LENGTH, SPACY]).tobytes()


class KeptRows:
    """Rows of Docs, forgotten in the order in which they came."""

    def __init__(self, n_docs: int = 1) -> None:
        """Make it empty.

        n_docs (int): How many Docs are remembered at least.
        """
        self.n_docs = n_docs
        self._batches: deque[DocRows] = deque()
        self._places: dict[int, tuple[Place, bytes]] = {}
        self._n_kept = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy it empty: it knows Docs by their ids, which copies of them do not have.

        RETURNS (tuple): What makes the copy.
        """
        return KeptRows, (self.n_docs,)

    def add(self, rows: DocRows) -> None:
        """Remember the rows of a batch, and forget what is too old.

        rows (DocRows): The rows.
        """
        self._batches.append(rows)
        self._n_kept += len(rows.docs)
        for i, doc in enumerate(rows.docs):
            self._places[id(doc)] = (rows, i), tokens_of(doc)
        while self._n_kept - len(self._batches[0].docs) >= self.n_docs:
            self._forget(self._batches.popleft())

    def clear(self) -> None:
        """Forget everything."""
        self._batches.clear()
        self._places.clear()
        self._n_kept = 0

    def place_of(self, doc: Doc) -> Place | None:
        """Find the rows of a Doc, if they are there and still those of its tokens.

        RETURNS (Optional[Place]): A batch that has them, and where.
        """
        # The batch holds the Doc, so that no other one has its id.
        place, tokens = self._places.get(id(doc), (None, b""))
        return place if place is not None and tokens == tokens_of(doc) else None

    def _forget(self, rows: DocRows) -> None:
        self._n_kept -= len(rows.docs)
        for doc in rows.docs:
            if self._places[id(doc)][0][0] is rows:  # it was not encoded again since
                del self._places[id(doc)]


def join_rows(ops: Any, docs: Sequence[Doc], places: Sequence[Place]) -> DocRows:
    """Put the rows of Docs together.

    ops (Ops): Where the rows are.
    docs (Sequence[Doc]): The Docs, one at least.
    places (Sequence[Place]): For each a batch that has it, and where.
    RETURNS (DocRows): Their rows.
    """
    first, begin = places[0]
    of_one = all(rows is first for rows, _ in places)
    if of_one and all(b == a + 1 for (_, a), (_, b) in pairwise(places)):
        end = begin + len(docs)
        vectors: Any = first.vectors[first.starts[begin] : first.starts[end]]
        starts = [
            start - first.starts[begin] for start in first.starts[begin : end + 1]
        ]
    else:
        parts = [
            rows.vectors[rows.starts[i] : rows.starts[i + 1]] for rows, i in places
        ]
        vectors = ops.xp.concatenate(parts)
        starts = [0]
        for part in parts:
            starts.append(starts[-1] + len(part))
    encodings = [rows.encodings[i] for rows, i in places]
    cls = None if first.cls is None else [(rows.cls or [])[i] for rows, i in places]
    return DocRows(list(docs), vectors, starts, encodings, cls)
