"""A stream of Docs, cut into what is computed at once."""

from collections.abc import Iterable, Iterator

from spacy.tokens import Doc

# The vectors of so many tokens, and no more, are computed ahead.
_MOST_TOKENS = 2**16


def batches_of(stream: Iterable[Doc], n_docs: int) -> Iterator[list[Doc]]:
    """Cut a stream into batches of so many Docs, or of as many as memory is for.

    stream (Iterable[Doc]): The Docs.
    n_docs (int): How many a batch has at most.
    YIELDS (list[Doc]): The batches.
    """
    docs: list[Doc] = []
    n_tokens = 0
    for doc in stream:
        docs.append(doc)
        n_tokens += len(doc)
        if len(docs) == n_docs or n_tokens >= _MOST_TOKENS:
            yield docs
            docs, n_tokens = [], 0
    if docs:
        yield docs
