"""Several pipelines as one: scores averaged, spans by majority."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from statistics import mean
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import minibatch

from ...errors import ComparisonError, shown
from .predicting import read_examples

Key = tuple[int, int, str]


class Vote(NamedTuple):
    """One pipeline's predictions for a text; `words` is the hash of its tokens."""

    words: int
    cats: dict[str, float]
    ents: list[Key]
    spans: dict[str, list[Key]]


class Ensemble:
    """The predictions of several pipelines together, batch by batch.

    Weights and seconds are those of all; both are None if one of them is a file.
    """

    def __init__(
        self, open_predictions: Callable[[str], Any], paths: Sequence[str], data: str
    ):
        """Predict with one pipeline after the other; only their votes are kept.

        open_predictions (Callable[[str], Predictions]): Loads one pipeline, or file.
        paths (Sequence[str]): The pipelines.
        data (str): The test data.
        """
        self._data = data
        self._votes: list[list[Vote]] = []
        weights, seconds = [], []
        for path in paths:
            member = open_predictions(path)
            docs = (example.predicted for batch in member for example in batch)
            self._votes.append(list(map(vote_of, docs)))
            weights.append(member.n_parameters)
            seconds.append(member.seconds)
        self.nlp: Language = member.nlp
        self.n_parameters = None if None in weights else sum(weights)
        self.seconds = None if None in seconds else sum(seconds)

    def __iter__(self) -> Iterator[list[Example]]:
        """Put the predictions to the vote, batch by batch."""
        columns = zip(*self._votes, strict=True)
        pairs = zip(columns, read_examples(self.nlp, self._data), strict=True)
        examples = (Example(elect(e.predicted, vote), e.reference) for vote, e in pairs)
        yield from minibatch(examples, self.nlp.batch_size)


def vote_of(doc: Doc) -> Vote:
    """Return the predictions on a Doc."""
    groups = {key: _keys(group) for key, group in doc.spans.items()}
    return Vote(_hash(doc), dict(doc.cats), _keys(doc.ents), groups)


def elect(doc: Doc, votes: Sequence[Vote]) -> Doc:
    """Write the joint predictions on a Doc.

    Scores of labels are averaged. An entity, or a span of any group, stays if more than
    half of the votes have it, so that elected entities never overlap.
    """
    words = _hash(doc)
    if any(vote.words != words for vote in votes):
        raise ComparisonError(
            f"The pipelines of an ensemble split a text into other tokens: "
            f"{shown(doc.text)}. Use pipelines with the same tokenizer."
        )
    labels = {label: 0 for vote in votes for label in vote.cats}
    doc.cats = {name: mean(v.cats.get(name, 0.0) for v in votes) for name in labels}
    doc.ents = _elected(doc, [vote.ents for vote in votes])
    for key in {key: 0 for vote in votes for key in vote.spans}:
        doc.spans[key] = _elected(doc, [vote.spans.get(key, []) for vote in votes])
    return doc


def _hash(doc: Doc) -> int:
    return hash(tuple(token.text for token in doc))


def _keys(spans: Sequence[Span]) -> list[Key]:
    return [(span.start, span.end, span.label_) for span in spans]


def _elected(doc: Doc, groups: Sequence[Sequence[Key]]) -> list[Span]:
    votes = Counter(key for group in groups for key in set(group))
    return [
        Span(doc, start, end, label)
        for (start, end, label), n in sorted(votes.items())
        if 2 * n > len(groups)
    ]
