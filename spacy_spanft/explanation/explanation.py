"""The result: the logits of a text, or of its spans, as sums of what each part adds."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from ..errors import SpanftError, listed, shown

Floats = NDArray[np.float32]


class Part(NamedTuple):
    """A span or a token: its text, its first token, and the token after its last one.

    A wordpiece that the tokenizer added, such as [CLS], has no text.
    """

    text: str
    start: int = -1
    end: int = -1


class Contributions(NamedTuple):
    """The logit of each label: of_parts.sum(axis=0) + bias + whole_text + similarity.

    of_parts (Floats): What each part adds, (n_parts, n_labels).
    bias (Floats): What is added whatever the text, (n_labels,).
    whole_text (Floats): What the vector of the whole text ([CLS], or the mean of its
        wordpieces) adds that is not due to any part, (n_labels,); 0 for spans.
    similarity (Floats): What the similarity of a pair of texts adds, (n_labels,).
    """

    parts: list[Part]
    of_parts: Floats
    bias: Floats
    whole_text: Floats
    similarity: Floats

    @property
    def logits(self) -> Floats:
        """The scores before a softmax or a logistic function, (n_labels,)."""
        return self.of_parts.sum(axis=0) + self.bias + self.whole_text + self.similarity


class Reasons(NamedTuple):
    """What speaks for one label: total = parts + bias + whole_text + similarity.

    against (Optional[str]): The label that it is compared with, if any.
    total (float): The logit, or its difference from that of the other label.
    parts (list[tuple[Part, float]]): What each part adds, in the order of the text.
    spread (list[float]): What each part gets of the rest, which no part of the text
        adds by itself. The other numbers are exact, this is an estimate.
    span (Optional[Part]): The entity or span with the label; None for the whole text.
    prediction (Optional[float]): The text's value in doc.cats, a probability, or the
        score of a regressor.
    """

    label: str
    against: str | None
    total: float
    parts: list[tuple[Part, float]]
    bias: float
    whole_text: float
    similarity: float
    spread: list[float]
    span: Part | None
    prediction: float | None

    @property
    def shares(self) -> list[tuple[Part, float]]:
        """What each part of the text adds, with what was spread: total - bias."""
        pairs = zip(self.parts, self.spread, strict=True)
        return [(part, added + more) for (part, added), more in pairs if part.text]

    def strongest(self, n: int | None = None) -> list[tuple[Part, float]]:
        """Return the n largest shares; None returns all of them."""
        return sorted(self.shares, key=lambda pair: -pair[1])[:n]

    @property
    def others(self) -> float:
        """What the wordpieces that the tokenizer added are worth: [CLS] and [SEP]."""
        return sum(added for part, added in self.parts if not part.text)


class Explanation(NamedTuple):
    """The scores of a text, or of spans in it.

    Where a method takes a span, that is any span of the Doc, or None for a text whose
    label is explained. A label that is None is the predicted one.

    labels (tuple[str, ...]): The labels. Entities, and spans of which exactly one label
        is right, also have "O", no label at all.
    is_exclusive (bool): Whether exactly one of them is right.
    spans (Optional[list[Span]]): The predicted entities or spans, if it has any.
    trace (Callable): From a span to its Contributions.
    lost (Optional[Callable]): Returns what the logits of the text lose when each part
        is deleted, (n_parts, n_labels).
    """

    doc: Doc
    labels: tuple[str, ...]
    is_exclusive: bool
    spans: list[Span] | None
    trace: Callable[[Span | None], Contributions]
    lost: Callable[[], Floats] | None = None

    def contributions(self, span: Span | None = None) -> Contributions:
        """Return what adds up to the logits of all labels."""
        if (span is None) != (self.spans is None):
            raise SpanftError("Name a span if a component labels spans, and only then.")
        return self.trace(span)

    @property
    def logits(self) -> dict[str, float]:
        """The logits of the text."""
        return self._logits(None)

    @property
    def label(self) -> str:
        """The label of the text with the highest score."""
        return self._predicted(None)

    def rival(self, label: str | None = None, span: Span | None = None) -> str | None:
        """Return the best other label, if exactly one of them is right."""
        logits = self._logits(span)
        logits.pop(label or self._predicted(span), None)
        has_rival = self.is_exclusive and len(logits) > 0
        return max(logits, key=logits.__getitem__) if has_rival else None

    def of(
        self,
        label: str | None = None,
        against: str | None = None,
        span: Span | None = None,
    ) -> Reasons:
        """Explain the logit of a label, or its difference from that of another one."""
        parts, *sums = self.contributions(span)
        label = label or self._predicted(span)
        weights = self._weight(label)
        if against is not None:
            weights = weights - self._weight(against)
        if not weights.any():
            raise SpanftError(f"label and against are both {shown(label)}.")
        added, *rest = (values @ weights for values in sums)
        bias, whole_text, similarity = map(float, rest)
        spread = np.zeros(len(parts))
        if self.lost is not None and len(parts):
            is_named = np.array([bool(part.text) for part in parts])
            others = float(added[~is_named].sum())
            lost = self.lost() @ weights * is_named
            # The rest is shared among the parts whose deletion takes from it.
            left = whole_text + similarity + others
            shares = np.maximum(lost * np.sign(left), 0)
            shares = shares if shares.any() else is_named
            spread = left * shares / max(shares.sum(), 1e-12)
        return Reasons(
            label,
            against,
            float(added.sum() + sum(rest)),
            list(zip(parts, added.tolist(), strict=True)),
            bias,
            whole_text,
            similarity,
            spread.tolist(),
            span=None if span is None else Part(span.text, span.start, span.end),
            prediction=self.doc.cats[label] if span is None else None,
        )

    def reasons(
        self, label: str | None = None, against: str | None = None
    ) -> list[Reasons]:
        """Explain the label of the text, or that of each predicted span.

        against (Optional[str]): The label to compare it with; None takes the rival, as
            does the predicted label itself.
        """
        spans = [None] if self.spans is None else self.spans
        reasons = []
        # White space may have no wordpiece of its own to share a score among.
        is_bare = self.spans is None and not any(x.text for x in self.trace(None).parts)
        for span in [] if is_bare else spans:
            name, other = label or self._predicted(span), against
            if other is None or (label is None and other == name):
                other = self.rival(name, span)
            reasons.append(self.of(name, other, span))
        return reasons

    def _logits(self, span: Span | None) -> dict[str, float]:
        logits = self.contributions(span).logits.tolist()
        return dict(zip(self.labels, logits, strict=True))

    def _predicted(self, span: Span | None) -> str:
        """Return the label that a span has, or else the one with the highest score."""
        logits = self._logits(span)
        label = span.label_ if span is not None else ""
        return label or max(logits, key=logits.__getitem__)

    def _weight(self, label: str) -> Floats:
        """Return 1 for a label, and 0 for all others."""
        if label not in self.labels:
            expected = f"one of {listed(self.labels)}"
            raise SpanftError(f"label is {shown(label)}, but must be {expected}.")
        return np.array([name == label for name in self.labels], "f")
