"""Why spans have the labels that a `spancat` gives them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from spacy.ml.extract_spans import extract_spans
from spacy.tokens import Doc, Span
from thinc.api import Model
from thinc.types import Floats2d, Ragged

from ..errors import Errors, SpanftError
from .contributions import Floats
from .explanation import Part, Reasons, check_labels, check_span
from .linear import check_layers, pull_back

# The last layers whose logits are known.
_SCORERS = (
    ["linear", "logistic"],
    ["linear", "logistic_cross_entropy"],
    ["softmax"],
)
# A softmax may have a column for the spans without a label.
NO_LABEL = "O"


class SpanContributions(NamedTuple):
    """What is added to the logit of each label of one candidate.

    of_tokens (Floats): What each of its tokens adds, (n_tokens, n_labels).
    bias (Floats): What is added whatever the vectors of the tokens, (n_labels,).
    """

    of_tokens: Floats
    bias: Floats

    @property
    def logits(self) -> Floats:
        """The logits: scores of the labels before a softmax or a logistic function."""
        total: Floats = self.of_tokens.sum(axis=0) + self.bias
        return total


class SpanExplanation(NamedTuple):
    """The scores of a text's spans, and what they are made of.

    doc (Doc): The Doc, with its spans.
    labels (tuple[str, ...]): The labels, with O for none where that has a score, too.
    is_exclusive (bool): Whether exactly one of them is right.
    spans (list[Span]): The spans that the component found.
    vectors (Floats2d): Those of the tokens, from which the spans are scored.
    model (Model): What scores them.
    found (dict[tuple[int, int], SpanContributions]): What is added to the labels of the
        spans that were asked for so far, by start and end.
    """

    doc: Doc
    labels: tuple[str, ...]
    is_exclusive: bool
    spans: list[Span]
    vectors: Floats2d
    model: Model[Any, Any]
    found: dict[tuple[int, int], SpanContributions]

    def of(
        self, span: Span, label: str | None = None, against: str | None = None
    ) -> Reasons:
        """Say what speaks for the label of a span.

        span (Span): A span that was found, or any other one of the Doc.
        label (Optional[str]): The label; None takes that of the span, or, if it has
            none, the one with the highest score.
        against (Optional[str]): Another label. None asks for the score of the label
            alone.
        RETURNS (Reasons): What each token adds.
        """
        check_span(self.doc, span)
        found = self._contributions(span.start, span.end)
        label = label or span.label_ or self._in_order(span)[0]
        check_labels(label, against, self.labels)
        scores = _of_labels(found, self.labels, label, against)
        tokens = range(span.start, span.end)
        parts = [Part(self.doc[i].text, i, i + 1) for i in tokens]
        added = list(zip(parts, scores.of_tokens.tolist(), strict=True))
        return Reasons(
            label=label,
            against=against,
            total=float(scores.logits),
            parts=added,
            bias=float(scores.bias),
            span=Part(span.text, span.start, span.end),
        )

    def rival(self, span: Span, label: str | None = None) -> str | None:
        """Find the best other label of a span, if one of them must be right.

        span (Span): The span.
        label (Optional[str]): The label; None takes that of the span, or, if it has
            none, the one with the highest score.
        RETURNS (Optional[str]): The label.
        """
        check_span(self.doc, span)
        first, *rest = self._in_order(span)
        label = label or span.label_ or first
        others = [one for one in (first, *rest) if one != label]
        return others[0] if self.is_exclusive and others else None

    def _in_order(self, span: Span) -> list[str]:
        """List the labels, and first the one with the highest score."""
        logits = self._contributions(span.start, span.end).logits
        return [self.labels[i] for i in np.argsort(-logits, kind="stable")]

    def _contributions(self, start: int, end: int) -> SpanContributions:
        """Take the scores of a span apart, unless that was done before."""
        if (start, end) not in self.found:
            place = [[(start, end)]]
            found = span_contributions(self.model, [self.vectors], place)
            self.found[start, end] = found[0][start, end]
        return self.found[start, end]


def _of_labels(
    found: SpanContributions,
    labels: Sequence[str],
    label: str,
    against: str | None,
) -> SpanContributions:
    """Choose a label, or the difference of two."""
    of_tokens, bias = (part[..., labels.index(label)] for part in found)
    if against is None:
        return SpanContributions(of_tokens, bias)
    less_tokens, less_bias = (part[..., labels.index(against)] for part in found)
    return SpanContributions(of_tokens - less_tokens, bias - less_bias)


def explain_spans(pipe: Any, docs: list[Doc]) -> list[SpanExplanation]:
    """Let a `spancat` find the spans of Docs, and take their scores apart.

    pipe (SpanCategorizer): The component.
    docs (list[Doc]): The Docs, which get their spans.
    RETURNS (list[SpanExplanation]): What the scores of each are made of.
    """
    model: Any = pipe.model
    _output(model)
    check_layers(model.get_ref("reducer"))
    indices = pipe.suggester(docs, ops=model.ops)
    vectors = [model.ops.alloc2f(0, 0) for _ in docs]
    if any(map(len, docs)):
        vectors = model.get_ref("tok2vec").predict(docs)
    scores = model.ops.alloc2f(0, 0)
    if len(indices.dataXd):
        rows = _rows(model, vectors, indices)
        reduced = model.get_ref("reducer").predict(rows)
        scores = model.get_ref("scorer").predict(reduced)
    pipe.set_annotations(docs, (indices, scores))
    spans = [list(doc.spans[pipe.key]) for doc in docs]
    places = [sorted({(span.start, span.end) for span in own}) for own in spans]
    found = span_contributions(model, vectors, places)
    labels = tuple(pipe.labels)
    W, _ = _output(model)
    is_exclusive = any(one.name == "softmax" for one in model.get_ref("scorer").walk())
    labels += (NO_LABEL,) * (len(W) - len(labels))
    return [
        SpanExplanation(doc, labels, is_exclusive, own, tokens, model, shares)
        for doc, own, tokens, shares in zip(docs, spans, vectors, found, strict=True)
    ]


def span_contributions(
    model: Model[Any, Any],
    vectors: list[Floats2d],
    places: list[list[tuple[int, int]]],
) -> list[dict[tuple[int, int], SpanContributions]]:
    """Take the scores of spans apart.

    model (Model[Tuple[List[Doc], Ragged], Floats2d]): A `spacy.SpanCategorizer.v1`.
    vectors (list[Floats2d]): The tokens of each Doc.
    places (list[list[tuple[int, int]]]): Start and end of the spans of each.
    RETURNS (list[dict]): What adds up to the scores of each of them.
    """
    flat = [place for own in places for place in own]
    if not flat:
        return [{} for _ in places]
    ops: Any = model.ops
    indices = Ragged(ops.asarray2i(flat), ops.asarray1i([len(own) for own in places]))
    rows = _rows(model, vectors, indices)
    reducer, (W, b) = model.get_ref("reducer"), _output(model)
    logits = ops.to_numpy(reducer.predict(rows) @ W.T + b)
    D = ops.xp.broadcast_to(W[:, None], (len(W), len(flat), W.shape[1]))
    back = pull_back(reducer, rows, D)
    added = ops.to_numpy(ops.xp.einsum("lrw,rw->rl", back, rows.dataXd))
    of_spans = np.split(added, np.cumsum([end - start for start, end in flat])[:-1])
    found = (
        SpanContributions(own, row - own.sum(axis=0))
        for own, row in zip(of_spans, logits, strict=True)
    )
    return [{place: next(found) for place in own} for own in places]


def _rows(model: Any, vectors: list[Floats2d], indices: Ragged) -> Ragged:
    """Put the tokens of all spans one after the other."""
    ops: Any = model.ops
    lengths = ops.asarray1i([len(own) for own in vectors])
    tokens = Ragged(ops.flatten(vectors), lengths)
    return extract_spans().predict((tokens, indices))


def _output(model: Model[Any, Any]) -> tuple[Any, Any]:
    """Find the weights that make the logits of the labels."""
    refs = ("tok2vec", "reducer", "scorer")
    if not all(model.has_ref(name) for name in refs):
        raise SpanftError(Errors.CANNOT_EXPLAIN_LAYER.format(layer=model.name))
    scorer = model.get_ref("scorer")
    leaves = [node for node in scorer.walk() if not node.layers]
    if [node.name for node in leaves] not in _SCORERS:
        raise SpanftError(Errors.CANNOT_EXPLAIN_LAYER.format(layer=scorer.name))
    return leaves[0].get_param("W"), leaves[0].get_param("b")
