"""The component `span_segmenter`: writes a segmentation to `doc.spans`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any
import warnings

from spacy import util
from spacy.attrs import IDX, LENGTH
from spacy.errors import Errors as SpacyErrors
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example

from .errors import Errors, SpanftError, Warnings
from .ngrams.dictionary import NgramDictionary
from .segmenters import Segmentation, Segmenter

DEFAULT_SPANS_KEY = "ngrams"
DEFAULT_CONFIG = {
    "segmenter": {"@segmenters": "spacy-spanft.NgramSegmenter.v1"},
    "spans_key": DEFAULT_SPANS_KEY,
    "singletons": False,
    "overwrite": False,
}
# Every group written here carries the component's name under this attribute, so that
# a second run over a Doc is told from a clash with another component.
_WRITER = "span_segmenter"


@Language.factory(
    "span_segmenter", assigns=["doc.spans"], default_config=DEFAULT_CONFIG
)
def make_span_segmenter(
    nlp: Language,
    name: str,
    segmenter: Segmenter,
    spans_key: str,
    singletons: bool,
    overwrite: bool,
) -> "SpanSegmenter":
    """Make the component.

    nlp (Language): The pipeline.
    name (str): The component's name in it.
    segmenter (Segmenter): What cuts.
    spans_key (str): The key in doc.spans.
    singletons (bool): Also write the tokens that are in no span, each as its own.
    overwrite (bool): Replace spans that another component wrote under the key.
    RETURNS (SpanSegmenter): The component.
    """
    return SpanSegmenter(
        nlp,
        name,
        segmenter=segmenter,
        spans_key=spans_key,
        singletons=singletons,
        overwrite=overwrite,
    )


class SpanSegmenter(Pipe):
    """Writes the spans into which a segmenter cuts a Doc: disjoint and in order."""

    def __init__(
        self,
        nlp: Language,
        name: str = "span_segmenter",
        *,
        segmenter: Segmenter,
        spans_key: str = DEFAULT_SPANS_KEY,
        singletons: bool = False,
        overwrite: bool = False,
    ) -> None:
        """Make the component.

        nlp (Language): The pipeline.
        name (str): The component's name in it.
        segmenter (Segmenter): What cuts.
        spans_key (str): The key in doc.spans.
        singletons (bool): Also write the tokens in no span, each as its own.
        overwrite (bool): Replace spans that another component wrote under the key.
        """
        self.name = name
        self.segmenter = segmenter
        self.spans_key = spans_key
        self.singletons = singletons
        self.overwrite = overwrite
        self._lang = nlp.lang
