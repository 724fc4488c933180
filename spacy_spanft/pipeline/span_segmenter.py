"""The component `span_segmenter`: writes a segmentation to `doc.spans`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from spacy import util
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.training import Example

from ..errors import SpanftError, shown, warn
from ..ml.pairs import check_separator
from ..ngrams.dictionary import NgramDictionary
from ..segmenters import Segmentation, Segmenter
from ..segmenters.writing import (
    checked,
    other_writer,
    split_at_separators,
    with_singletons,
    write_spans,
)
from ..util.files import write_whole

DEFAULT_SPANS_KEY = "ngrams"
DEFAULT_SEGMENTER = {"@segmenters": "spacy-spanft.NgramSegmenter.v1"}


@Language.factory(
    "span_segmenter",
    assigns=["doc.spans"],
    default_config={"segmenter": DEFAULT_SEGMENTER},
)
class SpanSegmenter(Pipe):
    """Writes the spans into which a segmenter cuts a Doc: disjoint and in order.

    segmenter (Segmenter): The segmenter that cuts Docs.
    spans_key (str): The key in doc.spans.
    singletons (bool): Also write the tokens that are in no span, each as its own.
    overwrite (bool): Replace spans that another component wrote under the key.
    separator (Optional[str]): The separator between two texts, which no span crosses.
    dictionary (Optional[Union[str, Path]]): The file of the dictionary, which is read
        when it is needed; a saved pipeline has it.
    """

    def __init__(
        self,
        nlp: Language,
        name: str = "span_segmenter",
        *,
        segmenter: Segmenter,
        spans_key: str = DEFAULT_SPANS_KEY,
        singletons: bool = False,
        overwrite: bool = False,
        separator: str | None = None,
        dictionary: str | Path | None = None,
    ) -> None:
        """Make the component."""
        if separator is not None:
            check_separator(separator)
        self.name = name
        self.segmenter = segmenter
        self.spans_key = spans_key
        self.singletons = singletons
        self.overwrite = overwrite
        self.separator = separator
        self._unread = dictionary
        self._segmenter_name = getattr(segmenter, "__name__", type(segmenter).__name__)
        self._lang = nlp.lang

    def __call__(self, doc: Doc) -> Doc:
        """Cut a Doc, and return it with its spans."""
        return next(self.pipe([doc]), doc)

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 1000) -> Iterator[Doc]:
        """Cut a stream of Docs, a batch at a time, and yield them with their spans."""
        error_handler = self.get_error_handler()
        for docs in util.minibatch(stream, size=batch_size):
            try:
                self.set_annotations(docs, self.predict(docs))
                yield from docs
            except Exception as error:
                error_handler(self.name, self, docs, error)

    def predict(self, docs: Sequence[Doc]) -> list[Segmentation]:
        """Return the spans of each Doc without writing anything."""
        self._read_dictionary()
        if self._lang != "en" and getattr(self.segmenter, "has_default", False):
            warn(
                f"{self.name!r} cuts a pipeline of language {shown(self._lang)} "
                "with the default dictionary, which is English. Give it its own."
            )
        spans = self._segment(docs)
        if self.separator is None:
            return spans
        return split_at_separators(docs, spans, self.separator, self._segment)

    def _segment(self, docs: Sequence[Doc]) -> list[Segmentation]:
        """Let the segmenter cut Docs, and check its results."""
        name = self._segmenter_name
        results = self.segmenter(docs)
        pairs = zip(docs, results, strict=True)
        return [checked(doc, spans, name) for doc, spans in pairs]

    def set_annotations(
        self, docs: Sequence[Doc], segmentations: Sequence[Segmentation]
    ) -> None:
        """Write the spans. The key is written even where there are none."""
        target = {"key": self.spans_key, "writer": self.name}
        for doc, segmentation in zip(docs, segmentations, strict=True):
            if self.singletons:
                segmentation = with_singletons(segmentation, len(doc))
            other = other_writer(doc, segmentation, **target)
            if other and not self.overwrite:
                raise SpanftError(
                    f"doc.spans[{self.spans_key!r}] already exists, and was not "
                    f"written by {self.name!r} but by {other}. Give this "
                    "component another key, or let it overwrite the spans: "
                    'nlp.add_pipe("span_segmenter", config={"spans_key": '
                    '"other"}) or config={"overwrite": True}.'
                )
            write_spans(doc, segmentation, **target)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]] | None = None,
        *,
        nlp: Language | None = None,
        dictionary: str | Path | NgramDictionary | None = None,
    ) -> None:
        """Read the dictionary. It is saved with the pipeline.

        get_examples (Optional[Callable]): Not used: there is nothing to train.
        nlp (Optional[Language]): The pipeline.
        dictionary (Optional[Union[str, Path, NgramDictionary]]): The dictionary, or
            its file; None keeps what is there.
        """
        if dictionary is None:
            dictionary = self._unread
        if isinstance(dictionary, str | Path):
            dictionary = NgramDictionary.from_disk(dictionary)
        if hasattr(self.segmenter, "initialize"):
            self.segmenter.initialize(nlp, dictionary)
        elif dictionary is not None:
            raise SpanftError(
                f"The component {self.name!r} was given a dictionary at "
                f"initialization, but its segmenter {self._segmenter_name} "
                f"takes none. Remove [initialize.components.{self.name}], or use "
                "@segmenters = 'spacy-spanft.NgramSegmenter.v1'."
            )
        self._unread = None  # only now: a wrong one is asked for again

    def _read_dictionary(self) -> None:
        """Read the dictionary of the component's config, unless that is done."""
        if self._unread is not None:
            self.initialize(dictionary=self._unread)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the data of the segmenter; exclude "segmenter" to leave it out."""
        return util.to_bytes(self._parts("to_bytes"), exclude)

    def from_bytes(
        self, data: bytes, *, exclude: Iterable[str] = ()
    ) -> "SpanSegmenter":
        """Read the data of the segmenter."""
        util.from_bytes(data, self._parts("from_bytes"), exclude)
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the data of the segmenter in the component's folder."""
        util.to_disk(path, self._parts("to_disk"), exclude)

    def from_disk(
        self, path: str | Path, *, exclude: Iterable[str] = ()
    ) -> "SpanSegmenter":
        """Read the data of the segmenter from the component's folder."""
        util.from_disk(path, self._parts("from_disk"), exclude)
        return self

    def _parts(self, method: str) -> dict[str, Callable[..., Any]]:
        """Return how the segmenter saves or reads its data, if it has any."""
        segmenter: Any = self.segmenter
        files = {
            "to_disk": lambda path: write_whole(path, segmenter.to_bytes()),
            "from_disk": lambda path: segmenter.from_bytes(path.read_bytes()),
        }
        has_bytes = hasattr(segmenter, method.replace("disk", "bytes"))
        act = getattr(segmenter, method, files.get(method) if has_bytes else None)
        if act is None:
            return {}
        if method.startswith("to"):
            self._read_dictionary()
            return {"segmenter": act}

        def read(data: Any) -> None:
            self._unread = None  # which this is instead of
            act(data)

        return {"segmenter": read}
