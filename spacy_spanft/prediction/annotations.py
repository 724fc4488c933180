"""What a pipeline says of a text, as spaCy's JSON has it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc, SpanGroup

from ..errors import Errors, SpanftError
from ..errors.shortening import listed
from ..util.names import SEGMENTER, WRITER

# The factory of spaCy's whose labels exclude each other.
_EXCLUSIVE = "textcat"


class Shape(NamedTuple):
    """What a pipeline says of each text.

    labels (list[str]): The labels of which one is right; [] if there are none such.
    cats (list[str]): The labels that have scores.
    has_ents (bool): Whether it finds entities.
    spans (list[str]): The keys of other spans.
    """

    labels: list[str]
    cats: list[str]
    has_ents: bool
    spans: list[str]

    @property
    def columns(self) -> list[str]:
        """Name what is written."""
        there = {
            "label": self.labels,
            "cats": self.cats,
            "ents": self.has_ents,
            "spans": self.spans,
        }
        return [name for name, is_there in there.items() if is_there]


def shape_of(nlp: Language, doc: Doc, name: str) -> Shape:
    """Find out what a pipeline says of texts.

    nlp (Language): The pipeline.
    doc (Doc): A text that has gone through it.
    name (str): The pipeline's name, for the message.
    RETURNS (Shape): What it says.
    """
    exclusive = [
        list(nlp.get_pipe(pipe).labels)  # type: ignore[attr-defined]
        for pipe in nlp.pipe_names
        if nlp.get_pipe_meta(pipe).factory == _EXCLUSIVE
    ]
    labels = exclusive[0] if len(exclusive) == 1 else []
    has_ents = doc.has_annotation("ENT_IOB")
    found = Shape(labels, list(doc.cats), has_ents, sorted(_groups(nlp, doc)))
    if not found.columns:
        pipes = listed(nlp.pipe_names) or "nothing"
        raise SpanftError(Errors.PREDICTS_NOTHING.format(name=name, pipes=pipes))
    return found


def annotations_of(nlp: Language, doc: Doc, shape: Shape) -> dict[str, Any]:
    """Say what a pipeline has found in a text.

    nlp (Language): The pipeline.
    doc (Doc): The text.
    shape (Shape): What it says of each text. Raises if this one has something else.
    RETURNS (dict[str, Any]): The label, scores, entities and spans; offsets count
        characters.
    """
    groups = _groups(nlp, doc)
    _check("doc.cats", doc.cats, shape.cats)
    _check("doc.spans", groups, shape.spans)
    found: dict[str, Any] = {}
    if shape.labels:
        found["label"] = max(shape.labels, key=lambda label: doc.cats[label])
    if shape.cats:
        found["cats"] = {label: float(doc.cats[label]) for label in shape.cats}
    if shape.has_ents:
        found["ents"] = _spans(doc.ents)
    if shape.spans:
        found["spans"] = {key: _spans(groups[key]) for key in shape.spans}
    return found


def _groups(nlp: Language, doc: Doc) -> dict[str, SpanGroup]:
    """Leave out what a segmenter wrote: what is in it, nobody has predicted."""
    segmenters = [
        name for name in nlp.pipe_names if nlp.get_pipe_meta(name).factory == SEGMENTER
    ]
    return {
        key: group
        for key, group in doc.spans.items()
        if group.attrs.get(WRITER) not in segmenters
    }


def _spans(spans: Any) -> list[dict[str, Any]]:
    """Write spans down, with their scores where a component has given some."""
    found: list[dict[str, Any]] = [
        {"start": span.start_char, "end": span.end_char, "label": span.label_}
        for span in spans
    ]
    scores = getattr(spans, "attrs", {}).get("scores")
    if scores is not None and len(scores) == len(found):
        for one, score in zip(found, scores, strict=True):
            one["score"] = float(score)
    return found


def _check(name: str, found: Iterable[str], expected: list[str]) -> None:
    if set(found) != set(expected):
        text = {"name": name, "found": listed(sorted(found)) or "nothing"}
        text["expected"] = listed(expected) or "nothing"
        raise SpanftError(Errors.OTHER_SHAPE.format(**text))
