"""What a pipeline predicts for texts, in the words of `Doc.to_json`."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import import_file

from ..util import SEGMENTER, WRITER
from ..util.pipelines import load
from .workers import gpu_of_process

# By column; offsets count characters.
Annotations: TypeAlias = dict[str, Any]


class Pipeline(NamedTuple):
    """A pipeline to load.

    name (str): Its name or path.
    code (Optional[str]): A Python file that registers what it needs.
    gpu_id (int): The GPU, or -1 for the CPU.
    """

    name: str
    code: str | None
    gpu_id: int


def annotate(pipeline: Pipeline, texts: Sequence[str]) -> list[Annotations | str]:
    """Return the annotations of each text, or the reason why there are none."""
    nlp = load_once(pipeline)
    with nlp.memory_zone():
        return _annotate(nlp, texts)


@lru_cache(maxsize=1)
def load_once(pipeline: Pipeline) -> Language:
    """Load a pipeline and keep it in this process."""
    if pipeline.code is not None:
        import_file("python_code", pipeline.code)
    return load(pipeline.name, gpu_of_process(pipeline.gpu_id))


def _annotate(nlp: Language, texts: Sequence[str]) -> list[Annotations | str]:
    try:
        return [_annotations_of(doc, nlp) for doc in nlp.pipe(texts)]
    except Exception as error:
        if len(texts) == 1:
            return [f"{type(error).__name__}: {' '.join(str(error).split())}"]
    # One text is to blame, or there are too many for the memory.
    half = len(texts) // 2
    return [*_annotate(nlp, texts[:half]), *_annotate(nlp, texts[half:])]


def _annotations_of(doc: Doc, nlp: Language) -> Annotations:
    factories = {name: nlp.get_pipe_meta(name).factory for name in nlp.pipe_names}
    exclusive = [name for name, factory in factories.items() if factory == "textcat"]
    annotations: Annotations = {}
    if len(exclusive) == 1:
        labels = nlp.get_pipe(exclusive[0]).labels  # type: ignore[attr-defined]
        annotations["label"] = max(labels, key=lambda label: doc.cats[label])
    if doc.cats:
        annotations["cats"] = {label: float(doc.cats[label]) for label in doc.cats}
    if doc.has_annotation("ENT_IOB"):
        annotations["ents"] = _spans(doc.ents)
    groups = {
        key: _spans(group)
        for key, group in sorted(doc.spans.items())
        # What a segmenter wrote is no prediction.
        if factories.get(group.attrs.get(WRITER)) != SEGMENTER
    }
    return {**annotations, "spans": groups} if groups else annotations


def _spans(spans: Any) -> list[dict[str, Any]]:
    """Return the offsets and labels, with scores if the component stored them."""
    rows: list[dict[str, Any]] = [
        {"start": span.start_char, "end": span.end_char, "label": span.label_}
        for span in spans
    ]
    scores = getattr(spans, "attrs", {}).get("scores", ())
    if len(scores) == len(rows):
        for row, score in zip(rows, scores, strict=True):
            row["score"] = float(score)
    return rows
