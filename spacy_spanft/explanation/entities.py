"""Why tokens have the tags, and spans the entities, that a `bilou_ner` gives them."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc, Span

from ..errors import check_setting
from ..ml.bilou import tag_names
from ..pipeline.bilou_ner import BilouNER
from .contributions import Floats
from .explanation import Part, Reasons, check_labels, check_span
from .tokens import Ints, TokenContributions, token_contributions

OUTSIDE = "O"


class EntityExplanation(NamedTuple):
    """The scores of a text's tags, and what they are made of.

    doc (Doc): The Doc, with its entities.
    labels (tuple[str, ...]): The labels of entities.
    spans (list[Span]): The entities that the component found, and no other one.
    found (TokenContributions): What each token, its neighbors and the biases add.
    """

    doc: Doc
    labels: tuple[str, ...]
    spans: list[Span]
    found: TokenContributions

    @property
    def tags(self) -> list[str]:
        """The tag of each token: that of the entity that was found there, or O."""
        tags = [OUTSIDE] * len(self.doc)
        for ent in self.spans:
            tags[ent.start : ent.end] = _tags(ent.label_, len(ent))
        return tags

    def of(
        self, span: Span, label: str | None = None, against: str | None = OUTSIDE
    ) -> Reasons:
        """Say what speaks for an entity, summed over the tags of its tokens.

        span (Span): An entity, or any other span of the Doc.
        label (Optional[str]): The label; None takes that of the span, or, if it has
            none, the one with the highest sum.
        against (Optional[str]): Another label for the same span; "O" if it were no
            entity. None asks for the logits of the label alone.
        RETURNS (Reasons): What each token adds.
        """
        check_span(self.doc, span)
        label = label or span.label_ or self._best(span)
        if label == against == OUTSIDE:
            check_setting("against", against, False, f"another label than {OUTSIDE!r}")
        check_labels(label, against, (*self.labels, OUTSIDE))
        others = None if against is None else _tags(against, len(span))
        return self._reasons(span, label, against, _tags(label, len(span)), others)

    def of_token(
        self, i: int, tag: str | None = None, against: str | None = None
    ) -> Reasons:
        """Say what speaks for the tag of a token.

        i (int): The token.
        tag (Optional[str]): The tag, such as "B-ORG"; None takes the one that it has.
        against (Optional[str]): Another tag, in whose place it was chosen. None takes
            the best other one, or, where a tag is named, asks for its logit alone.
        RETURNS (Reasons): What each token adds.
        """
        is_number = isinstance(i, Integral) and not isinstance(i, bool)
        is_there = is_number and 0 <= i < len(self.doc)
        check_setting("i", i, is_there, f"from 0 to less than {len(self.doc)} tokens")
        names = tag_names(self.labels)
        if tag is None:
            tag = self.tags[i]
            row = self.found.logits[i]
            rivals = [name for name in names if name != tag]
            against = against or max(rivals, key=lambda name: row[names.index(name)])
        check_labels(tag, against, names)
        others = None if against is None else [against]
        return self._reasons(self.doc[i : i + 1], tag, against, [tag], others)

    def _numbers(self, tags: Sequence[str]) -> Ints:
        names = {name: number for number, name in enumerate(tag_names(self.labels))}
        return np.array([names[tag] for tag in tags], np.int64)

    def _best(self, span: Span) -> str:
        logits = self.found.logits[span.start : span.end]
        rows, n_tokens = np.arange(len(span)), len(span)

        def total(label: str) -> float:
            return float(logits[rows, self._numbers(_tags(label, n_tokens))].sum())

        return max(self.labels, key=total)

    def _reasons(
        self,
        span: Span,
        label: str,
        against: str | None,
        tags: list[str],
        others: list[str] | None,
    ) -> Reasons:
        """Add up what is added to some tags, less what is added to others."""
        found, n_tokens = self.found, len(self.doc)
        chosen = self._numbers(tags)

        def of(values: Floats, at: Ints) -> Floats:
            """Choose the tags of tokens that are numbered from the span's start."""
            rows = np.arange(len(at))
            added: Floats = values[rows, chosen[at]]
            return added if others is None else added - values[rows, rivals[at]]

        rivals = chosen if others is None else self._numbers(others)
        is_of_span = (found.targets >= span.start) & (found.targets < span.end)
        sources, targets = found.sources[is_of_span], found.targets[is_of_span]
        added = of(found.added[is_of_span], targets - span.start)
        total = np.bincount(sources, added, n_tokens)
        own = np.bincount(sources, added * (sources == targets), n_tokens)
        bias = of(found.bias[span.start : span.end], np.arange(len(span))).sum()
        adding = np.unique(sources).tolist()
        return Reasons(
            label=label,
            against=against,
            total=float(total.sum() + bias),
            parts=[(Part(self.doc[i].text, i, i + 1), float(total[i])) for i in adding],
            bias=float(bias),
            span=Part(span.text, span.start, span.end),
            own=own[adding].tolist(),
        )


def explain_entities(pipe: BilouNER, docs: list[Doc]) -> list[EntityExplanation]:
    """Let a `bilou_ner` find the entities of Docs, and take its scores apart.

    pipe (BilouNER): The component.
    docs (list[Doc]): The Docs, which get their entities.
    RETURNS (list[EntityExplanation]): What the scores of each are made of.
    """
    found = token_contributions(pipe.model, docs)
    ops: Any = pipe.model.ops
    is_text = any(map(len, docs))
    logits = [ops.asarray2f(one.logits) for one in found] if is_text else []
    set_before = [{(ent.start, ent.end) for ent in doc.ents} for doc in docs]
    pipe.set_annotations(docs, pipe.decode(docs, [ops.softmax(one) for one in logits]))
    explained = []
    for doc, others, own in zip(docs, set_before, found, strict=True):
        spans = [ent for ent in doc.ents if (ent.start, ent.end) not in others]
        explained.append(EntityExplanation(doc, pipe.labels, spans, own))
    return explained


def _tags(label: str, n_tokens: int) -> list[str]:
    """Name the tags of the tokens of an entity."""
    if label == OUTSIDE:
        return [OUTSIDE] * n_tokens
    kinds = "U" if n_tokens == 1 else "B" + "I" * (n_tokens - 2) + "L"
    return [f"{kind}-{label}" for kind in kinds]
