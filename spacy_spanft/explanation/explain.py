"""Why a pipeline gives a text, its entities or its spans their labels."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.pipeline import SpanCategorizer
from spacy.tokens import Doc
from spacy.util import minibatch
from thinc.api import Model

from ..errors import Errors, SpanftError, check_setting
from ..ml.alignment import Encoding, Ints, Pieces, read_spans
from ..pipeline.bilou_ner import BilouNER
from .candidates import explain_spans
from .contributions import POOLS, contributions
from .entities import explain_entities
from .explanation import Explanation, Part

# From a component and Docs to what the scores of each Doc are made of.
Explainer = Callable[[Any, list[Doc]], Iterable[Any]]


def explain(nlp: Language, text: str | Doc, *, component: str | None = None) -> Any:
    """Say why a text, its entities or its spans have their labels.

    nlp (Language): A trained pipeline with a component that can be explained.
    text (Union[str, Doc]): The text. A Doc is copied, and its entities found anew.
    component (Optional[str]): The component; None takes the first one that classifies
        over spans, or else the first `bilou_ner` or `spancat`.
    RETURNS (Union[Explanation, EntityExplanation, SpanExplanation]): What its scores
        are made of.
    """
    return next(explain_pipe(nlp, [text], component=component))


def explain_pipe(
    nlp: Language,
    texts: Iterable[str | Doc],
    *,
    component: str | None = None,
    batch_size: int | None = None,
) -> Iterator[Any]:
    """Say why texts, their entities or their spans have their labels, batch by batch.

    nlp (Language): A trained pipeline with a component that can be explained.
    texts (Iterable[Union[str, Doc]]): The texts. Docs are copied, and their entities
        found anew.
    component (Optional[str]): The component; None takes the first one that classifies
        over spans, or else the first `bilou_ner` or `spancat`.
    batch_size (Optional[int]): How many texts at a time; None for the pipeline's own.
    YIELDS (Union[Explanation, EntityExplanation, SpanExplanation]): What the scores of
        each are made of.
    """
    is_pipeline = isinstance(nlp, Language)
    check_setting("nlp", nlp, is_pipeline, "a pipeline, as spacy.load gives it")
    is_many = isinstance(texts, Iterable) and not isinstance(texts, str | bytes | Doc)
    check_setting("texts", texts, is_many, "a list of texts or Docs, or a stream")
    size = nlp.batch_size if batch_size is None else batch_size
    is_whole = isinstance(size, int) and not isinstance(size, bool)
    expected = "null, or a whole number of 1 or more"
    check_setting("batch_size", batch_size, is_whole and size >= 1, expected)
    name, explain_batch = _component(nlp, component)
    if not _is_initialized(nlp.get_pipe(name)):
        raise SpanftError(Errors.NOTHING_LEARNED.format(name=name))
    # A generator checks nothing before somebody asks for the first text.
    return _explained(nlp, texts, name, explain_batch, size)


def _is_initialized(pipe: Any) -> bool:
    """Say whether a component has all of its weights."""
    nodes = pipe.model.walk()
    return all(node.has_param(name) for node in nodes for name in node.param_names)


def _explained(
    nlp: Language,
    texts: Iterable[str | Doc],
    name: str,
    explain_batch: Explainer,
    size: int,
) -> Iterator[Any]:
    later = nlp.pipe_names[nlp.pipe_names.index(name) :]
    docs = nlp.pipe(map(_fresh, texts), disable=later, batch_size=size)
    for batch in minibatch(docs, size):
        yield from explain_batch(nlp.get_pipe(name), batch)


def _fresh(text: str | Doc) -> str | Doc:
    """Copy a Doc without its entities: they would be taken for another component's."""
    if isinstance(text, str):
        return text
    check_setting("text", text, isinstance(text, Doc), "a string or a Doc")
    doc = text.copy()
    doc.ents = ()
    return doc


def _component(nlp: Language, name: str | None) -> tuple[str, Explainer]:
    """Find a component that can be explained, and what does that."""
    found = _explainers(nlp)
    if name is None and found:
        # A text before what is in it.
        name = next(iter(text_classifiers(nlp) or found))
    if name is None:
        raise SpanftError(Errors.NO_SPAN_CLASSIFIER)
    if name not in found:
        there = ", ".join(map(repr, found)) or "none"
        raise SpanftError(Errors.NO_CLASSIFIER.format(name=name, there=there))
    return name, found[name]


def text_classifiers(nlp: Language) -> list[str]:
    """Name the components that classify texts over spans.

    nlp (Language): The pipeline.
    RETURNS (list[str]): Their names.
    """
    return [name for name, how in _explainers(nlp).items() if how is _explain_texts]


def _explainers(nlp: Language) -> dict[str, Explainer]:
    components: Any = nlp.pipeline
    return {name: how for name, one in components if (how := _explainer(one))}


def _explainer(pipe: Any) -> Explainer | None:
    """Find what explains a component, if anything does."""
    if isinstance(pipe, BilouNER):
        return explain_entities
    if isinstance(pipe, SpanCategorizer):
        return explain_spans
    return _explain_texts if _has_spans(getattr(pipe, "model", None)) else None


def _explain_texts(pipe: Any, docs: list[Doc]) -> Iterator[Explanation]:
    """Predict the labels of Docs, and take their scores apart."""
    labels, is_exclusive = tuple(pipe.labels), not pipe.model.attrs["multi_label"]
    rows = pipe.model.get_ref("rows").predict(docs)
    pooled, classified = pipe.model.get_ref("pooled"), pipe.model.layers[-1]
    # Not pipe.predict, which would encode the texts again.
    pipe.set_annotations(docs, classified.predict(pooled.predict(rows)))
    pools = (node for node in pipe.model.walk() if node.name in POOLS)
    key = next(pools).attrs.get("spans_key")
    for doc, encoding, found in zip(
        docs, rows.encodings, contributions(pipe.model, rows), strict=True
    ):
        parts = _parts(doc, encoding, found.pieces, key)
        yield Explanation(doc, labels, is_exclusive, parts, found)


def _has_spans(model: Any) -> bool:
    if not isinstance(model, Model) or not model.has_ref("pooled"):
        return False
    return any(node.name in POOLS for node in model.walk())


def _parts(doc: Doc, encoding: Encoding, pieces: Pieces, key: str | None) -> list[Part]:
    """Name the pieces by their spans, or by the tokens whose rows they have."""
    spans = [] if key is None else read_spans(doc, key).tolist()
    span_of = {i: span for span in spans for i in range(*span)}
    n_rows = 1 + max(encoding.rows.max(initial=0), pieces.rows.max(initial=0))
    token_of = np.full(n_rows, -1)
    # The first token that has a row keeps it.
    tokens = np.repeat(np.arange(len(encoding.n_rows)), encoding.n_rows)
    token_of[encoding.rows[::-1]] = tokens[::-1]
    last_of = _with_lone_tokens(token_of, encoding)
    ends = np.cumsum(pieces.lengths)
    parts = []
    for start, end in zip(ends - pieces.lengths, ends, strict=True):
        rows = pieces.rows[start:end]
        rows = rows[token_of[rows] >= 0]
        if len(rows):
            first, last = int(token_of[rows].min()), int(last_of[rows].max()) + 1
            # `max_rows` cuts off rows, and the span is the same.
            first, last = span_of.get(first, (first, last))
            parts.append(Part(doc[first:last].text, first, last))
        else:
            parts.append(Part(""))
    return parts


def _with_lone_tokens(token_of: Ints, encoding: Encoding) -> Ints:
    """Say which token of each row is the last that has no other row.

    token_of (Ints): The first token of each row; -1 of none.
    encoding (Encoding): The rows of each token: [UNK] may be that of several.
    RETURNS (Ints): The last tokens, those that have rows of their own left out.
    """
    owns = np.zeros(len(encoding.n_rows), bool)
    owns[token_of[token_of >= 0]] = True
    (lone,) = np.nonzero(~owns & (encoding.n_rows > 0))
    first_row = (np.cumsum(encoding.n_rows) - encoding.n_rows)[lone]
    last_of = token_of.copy()
    last_of[encoding.rows[first_row]] = lone
    return last_of
