"""What a segmenter is, and the `@segmenters` registry beside spaCy's own."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import catalogue
from spacy.tokens import Doc
from spacy.util import registry as spacy_registry

registry: Any = spacy_registry
registry.segmenters = catalogue.create("spacy", "segmenters", entry_points=True)

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
        """Return the spans of each Doc of a batch, none of which is changed."""
        ...
