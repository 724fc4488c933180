"""What a segmenter takes and gives."""

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from spacy.tokens import Doc

from ..errors import Errors, SpanftError, shown

# The first token, the token after the last, and perhaps a label.
Segment: TypeAlias = tuple[int, int] | tuple[int, int, str]
# The spans of one Doc: disjoint and in order. Tokens in none of them stand alone.
Segmentation: TypeAlias = Sequence[Segment]


@runtime_checkable
class Segmenter(Protocol):
    """Cuts Docs into spans.

    Any callable of this type can be registered with `@registry.segmenters(...)`. One
    that takes a dictionary has `initialize(nlp, dictionary)` as well; one that has
    data to save has `to_bytes()` and `from_bytes(data)`, and may have `to_disk(path)`
    and `from_disk(path)`, which are given a folder of its own.
    """

    def __call__(self, docs: Sequence[Doc]) -> list[Segmentation]:
        """Cut a batch of Docs.

        docs (Sequence[Doc]): The Docs; they are not changed.
        RETURNS (list[Segmentation]): The spans of each Doc.
        """
        ...


def check_docs(docs: Iterable[Doc]) -> None:
    """Raise for anything else that a segmenter is called with, such as a text.

    docs (Iterable[Doc]): What should be Docs.
    """
    if isinstance(docs, str | Doc) or not isinstance(docs, Iterable):
        raise SpanftError(Errors.NOT_DOCS.format(value=shown(docs)))
    for doc in docs if isinstance(docs, Sequence) else ():
        if not isinstance(doc, Doc):
            raise SpanftError(Errors.NOT_DOCS.format(value=shown(docs)))
