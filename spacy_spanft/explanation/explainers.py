"""Explain the predictions of a pipeline's component, in a stream of texts."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.pipeline import SpanCategorizer
from spacy.tokens import Doc
from spacy.util import minibatch
from thinc.api import Model

from ..errors import SpanftError, listed, shown
from ..pipeline.bilou_ner import BilouNER
from .explanation import Explanation, Part
from .span_scores import explain_entities, explain_spans
from .text_scores import Delete, explain_texts, is_over_spans

# From a component and Docs to the explanation of each Doc.
Explainer = Callable[[Any, list[Doc], Delete], Iterator[Explanation]]


def explain(nlp: Language, text: str, *, component: str | None = None) -> Explanation:
    """Explain the label of a text, or its entities or spans: see `explain_pipe`."""
    return next(explain_pipe(nlp, [text], component=component))


def explain_pipe(
    nlp: Language,
    texts: Iterable[str],
    *,
    component: str | None = None,
    batch_size: int | None = None,
) -> Iterator[Explanation]:
    """Explain the labels of texts, or their entities or spans, batch by batch.

    component (Optional[str]): The component; None takes the first one that classifies
        texts over spans, or else the first `bilou_ner` or `spancat`.
    batch_size (Optional[int]): The number of texts in a batch; None for the pipeline's.
    """
    if isinstance(texts, str):
        raise SpanftError(f"texts is {shown(texts)}, but must be a list or a stream.")
    explainers = _explainers(nlp)
    names = sorted(explainers, key=lambda name: explainers[name] is not explain_texts)
    name = component or next(iter(names), None)
    if name not in explainers:
        what = "This pipeline" if name is None else shown(name)
        raise SpanftError(
            f"{what} cannot be explained (components: {listed(nlp.pipe_names)}; "
            f"explainable: {listed(explainers)}). Use textcat, textcat_multilabel or "
            "text_regressor with spacy-spanft.SpanTextCat.v1, bilou_ner, or spancat."
        )
    pipe: Any = nlp.get_pipe(name)
    size = batch_size or nlp.batch_size
    later = nlp.pipe_names[nlp.pipe_names.index(name) :]
    # A Doc is read again as text: entities that it has would seem another component's.
    docs = nlp.pipe(map(str, texts), disable=later, batch_size=size)
    # Not a generator function, which would check nothing before the first text.
    return (
        explanation
        for batch in minibatch(docs, size)
        for explanation in explainers[name](pipe, batch, partial(_delete, nlp, later))
    )


def _delete(
    nlp: Language, later: list[str], doc: Doc, parts: list[Part]
) -> Iterator[Doc]:
    """Read a text again without each of its parts; the separator of a pair stays."""
    separator = nlp.config["nlp"]["tokenizer"].get("separator")
    docs = []
    for start, end in (part[1:] for part in parts):
        left = [t for t in doc if not start <= t.i < end or t.text == separator]
        spaces = [bool(token.whitespace_) for token in left]
        docs.append(Doc(doc.vocab, [token.text for token in left], spaces))
    return nlp.pipe(docs, disable=later)


def _explainers(nlp: Language) -> dict[str, Explainer]:
    explainers: dict[str, Explainer] = {}
    for name, pipe in nlp.pipeline:
        model = getattr(pipe, "model", None)
        if isinstance(pipe, BilouNER):
            explainers[name] = explain_entities
        elif isinstance(pipe, SpanCategorizer):
            explainers[name] = explain_spans
        elif isinstance(model, Model) and is_over_spans(model):
            explainers[name] = explain_texts
    return explainers


class Phrase(NamedTuple):
    """A phrase in lower case, how often it occurs, and what it adds on average."""

    text: str
    n: int
    added: float


def phrases(
    explanations: Iterable[Explanation], *, min_count: int = 3
) -> dict[str, list[Phrase]]:
    """Return, for each label, the phrases of a corpus that speak for it.

    Where exactly one label is right, what counts is how much more a phrase adds to a
    label than to the other labels on average: what it adds to all alike decides
    nothing.

    min_count (int): Leave out phrases that occur less often.
    RETURNS (dict[str, list[Phrase]]): By label, the best one first.
    """
    totals: dict[str, Any] = defaultdict(float)
    counts: Counter[str] = Counter()
    labels: tuple[str, ...] = ()
    for explanation in explanations:
        if explanation.spans is not None:
            raise SpanftError(
                "Phrases are listed for the labels of texts, and this component labels "
                "spans. Name a text classifier as component."
            )
        labels = explanation.labels
        parts, added, *_ = explanation.contributions()
        if explanation.is_exclusive and len(labels) > 1:
            others = added.sum(axis=1, keepdims=True) - added
            added = added - others / (len(labels) - 1)
        for part, row in zip(parts, added, strict=True):
            if text := " ".join(part.text.lower().split()):
                counts[text] += 1
                totals[text] += row
    often = [text for text, n in counts.items() if n >= min_count]
    of_labels = {}
    for i, label in enumerate(labels):
        means = ((text, float(totals[text][i]) / counts[text]) for text in often)
        best = [Phrase(text, counts[text], mean) for text, mean in means if mean > 0]
        of_labels[label] = sorted(best, key=lambda phrase: -phrase.added)
    return of_labels
