"""Why a pipeline gives a text its label."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch
from thinc.api import Model

from ..errors import Errors, SpanftError
from ..ml.alignment import Encoding, Pieces
from .contributions import POOLS, contributions
from .explanation import Explanation, Part


def explain(
    nlp: Language, text: str | Doc, *, component: str | None = None
) -> Explanation:
    """Say why a text has its label.

    nlp (Language): A trained pipeline that classifies over spans.
    text (Union[str, Doc]): The text.
    component (Optional[str]): The component; None takes the first one that does.
    RETURNS (Explanation): What its scores are made of.
    """
    return next(explain_pipe(nlp, [text], component=component))


def explain_pipe(
    nlp: Language,
    texts: Iterable[str | Doc],
    *,
    component: str | None = None,
    batch_size: int | None = None,
) -> Iterator[Explanation]:
    """Say why texts have their labels, batch by batch.

    nlp (Language): A trained pipeline that classifies over spans.
    texts (Iterable[Union[str, Doc]]): The texts.
    component (Optional[str]): The component; None takes the first one that does.
    batch_size (Optional[int]): How many texts at a time; None for the pipeline's own.
    YIELDS (Explanation): What the scores of each are made of.
    """
    name = _component(nlp, component)
    pipe: Any = nlp.get_pipe(name)
    later = nlp.pipe_names[nlp.pipe_names.index(name) :]
    size = nlp.batch_size if batch_size is None else batch_size
    docs = nlp.pipe(texts, disable=later, batch_size=size)
    labels, is_exclusive = tuple(pipe.labels), not pipe.model.attrs["multi_label"]
    for batch in minibatch(docs, size):
        rows = pipe.model.get_ref("rows").predict(batch)
        for doc, encoding, found in zip(
            batch, rows.encodings, contributions(pipe.model, rows), strict=True
        ):
            parts = _parts(doc, encoding, found.pieces)
            yield Explanation(doc, labels, is_exclusive, parts, found)


def _component(nlp: Language, name: str | None) -> str:
    """Find the component that classifies over spans."""
    components: Any = nlp.pipeline
    found = [key for key, one in components if _has_spans(getattr(one, "model", None))]
    if name is None and found:
        return found[0]
    if name is None:
        raise SpanftError(Errors.NO_SPAN_CLASSIFIER)
    if name not in found:
        there = ", ".join(map(repr, found)) or "none"
        raise SpanftError(Errors.NO_CLASSIFIER.format(name=name, there=there))
    return name


def _has_spans(model: Any) -> bool:
    if not isinstance(model, Model) or not model.has_ref("pooled"):
        return False
    return any(node.name in POOLS for node in model.walk())


def _parts(doc: Doc, encoding: Encoding, pieces: Pieces) -> list[Part]:
    """Name the pieces by the tokens whose rows they have."""
    n_rows = 1 + max(encoding.rows.max(initial=0), pieces.rows.max(initial=0))
    token_of = np.full(n_rows, -1)
    # The first token that has a row keeps it.
    tokens = np.repeat(np.arange(len(encoding.n_rows)), encoding.n_rows)
    token_of[encoding.rows[::-1]] = tokens[::-1]
    ends = np.cumsum(pieces.lengths)
    parts = []
    for start, end in zip(ends - pieces.lengths, ends, strict=True):
        mine = token_of[pieces.rows[start:end]]
        mine = mine[mine >= 0]
        if len(mine):
            first, last = int(mine.min()), int(mine.max()) + 1
            parts.append(Part(doc[first:last].text, first, last))
        else:
            parts.append(Part(""))
    return parts
