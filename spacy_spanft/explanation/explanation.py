"""Why a text has the label that it has: which phrases made its score."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span

from ..errors import check_setting
from .contributions import Contributions, Floats


class Part(NamedTuple):
    """A span, a token in no span, or a wordpiece that the tokenizer added.

    text (str): Its text; empty for what the tokenizer added.
    start (int): Its first token; -1 for what the tokenizer added.
    end (int): The token after the last one; -1 likewise.
    """

    text: str
    start: int = -1
    end: int = -1


class Explanation(NamedTuple):
    """The scores of a text, and what they are made of.

    doc (Doc): The Doc, with the predictions in doc.cats.
    labels (tuple[str, ...]): The labels.
    is_exclusive (bool): Whether exactly one of them is right.
    parts (list[Part]): The parts of the text that were pooled, in order.
    found (Contributions): What each of them, [CLS] and the biases add.
    """

    doc: Doc
    labels: tuple[str, ...]
    is_exclusive: bool
    parts: list[Part]
    found: Contributions

    @property
    def logits(self) -> dict[str, float]:
        """The logits: scores of the labels before a softmax or a logistic function."""
        return dict(zip(self.labels, self.found.logits.tolist(), strict=True))

    @property
    def label(self) -> str:
        """The label with the highest score."""
        scores = self.logits
        return max(scores, key=lambda label: scores[label])

    def rival(self, label: str | None = None) -> str | None:
        """Find the best other label, if one of them must be right.

        label (Optional[str]): The label; None takes the one with the highest score.
        RETURNS (Optional[str]): The other one.
        """
        scores = self.logits
        label = self.label if label is None else label
        others = [name for name in scores if name != label]
        if not (self.is_exclusive and others):
            return None
        return max(others, key=lambda name: scores[name])

    def of(self, label: str | None = None, against: str | None = None) -> "Reasons":
        """Say what speaks for a label.

        label (Optional[str]): The label; None takes the one with the highest score.
        against (Optional[str]): Another label, in whose place it was chosen. None asks
            for the score of the label alone.
        RETURNS (Reasons): What each part adds.
        """
        numbers = {name: i for i, name in enumerate(self.labels)}
        label = self.label if label is None else label
        check_labels(label, against, self.labels)

        def of(values: Floats) -> Any:
            mine = values[..., numbers[label]]
            return mine if against is None else mine - values[..., numbers[against]]

        found = self.found
        added = of(found.of_pieces).tolist()
        sums = (found.whole_text, found.similarity, found.bias, found.logits)
        whole_text, similarity, bias, total = (float(of(one)) for one in sums)
        parts = list(zip(self.parts, added, strict=True))
        return Reasons(
            label=label,
            against=against,
            total=total,
            parts=parts,
            bias=bias,
            whole_text=whole_text,
            similarity=similarity,
            prediction=self.doc.cats[label],
        )


class Reasons(NamedTuple):
    """What speaks for a label: all of it together makes up the total.

    Of entities, tokens and spans the parts are tokens, and neither the whole text nor
    a similarity adds anything.

    label (str): The label.
    against (Optional[str]): In whose place it was chosen, if that was asked.
    total (float): The logit, or its difference from that of the other label.
    parts (list[tuple[Part, float]]): What each part adds, in the order of the text.
    bias (float): What is added whatever the text.
    whole_text (float): What its vector adds: [CLS], or the mean of the wordpieces.
    similarity (float): What that of the texts of a pair adds.
    span (Optional[Part]): What has the label; None for the whole text.
    own (Optional[list[float]]): Of entities and tokens, how much of what each part adds
        it adds to its own tag, and not as a neighbor to that of another token.
    prediction (Optional[float]): What doc.cats has for the label: its probability, or
        the score that is predicted; None for entities, tokens and spans.
    """

    label: str
    against: str | None
    total: float
    parts: list[tuple[Part, float]]
    bias: float
    whole_text: float = 0.0
    similarity: float = 0.0
    span: Part | None = None
    own: list[float] | None = None
    prediction: float | None = None

    def strongest(self, n: int | None = None) -> list[tuple[Part, float]]:
        """List the parts that have a text, and first what adds most.

        n (Optional[int]): How many; None for all.
        RETURNS (list[tuple[Part, float]]): Parts and what they add.
        """
        is_right = n is None or (isinstance(n, Integral) and n >= 0)
        check_setting("n", n, is_right, "null, or a whole number of 0 or more")
        named = [(part, added) for part, added in self.parts if part.text]
        return sorted(named, key=lambda pair: -pair[1])[:n]


def check_labels(label: str, against: str | None, labels: Sequence[str]) -> None:
    """Raise if a label, or the one that it is compared with, is not there.

    label (str): The label.
    against (Optional[str]): Another label, in whose place it was chosen.
    labels (Sequence[str]): Those that there are.
    """
    for name, value in (("label", label), ("against", against)):
        others = [one for one in labels if name == "label" or one != label]
        there = ", ".join(map(repr, others))
        expected = (
            f"one of {there}" if there else "left out, as there is only one label"
        )
        check_setting(name, value, value is None or value in others, expected)


def check_span(doc: Doc, span: Span) -> None:
    """Raise if a span is not one of a Doc, or has no token."""
    is_there = isinstance(span, Span) and span.doc is doc and len(span) > 0
    expected = "a span of one token or more of the explanation's own doc"
    value = span.text if isinstance(span, Span) else span
    check_setting("span", value, is_there, expected)
