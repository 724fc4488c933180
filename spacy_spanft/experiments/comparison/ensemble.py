"""Several pipelines as one: their scores averaged, their spans put to the vote."""

from collections import Counter
from collections.abc import Sequence
from statistics import mean
from typing import NamedTuple

from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import minibatch

from ...errors import ComparisonError, Errors
from ..cost import n_parameters
from .measure import (
    Measured,
    Setup,
    describe,
    open_predictions,
    run_in_subprocess,
    without_pipeline,
)
from .predicting import read_examples
from .written import is_written

Key = tuple[int, int, str]


class Vote(NamedTuple):
    """What one pipeline says of a text.

    words (int): The hash of its words.
    cats (dict[str, float]): The scores of labels.
    ents (list[Key]): The entities.
    spans (dict[str, list[Key]]): The groups of spans.
    """

    words: int
    cats: dict[str, float]
    ents: list[Key]
    spans: dict[str, list[Key]]


def measure_ensemble_in_subprocess(paths: Sequence[str], setup: Setup) -> Measured:
    """Measure pipelines as one, in a process of its own.

    paths (Sequence[str]): The pipelines, by name or path.
    setup (Setup): What they are measured with.
    RETURNS (Measured): What was found.
    """
    return run_in_subprocess(measure_ensemble, paths, setup)


def measure_ensemble(paths: Sequence[str], setup: Setup) -> Measured:
    """Measure pipelines as one, in this process, one after the other.

    Their votes are kept; of the pipelines, only the last one.

    paths (Sequence[str]): The pipelines, by name or path.
    setup (Setup): What they are measured with.
    RETURNS (Measured): What was found; weights and seconds are those of all.
    """
    votes: list[list[Vote]] = []
    n_weights, seconds = 0, 0.0
    for path in paths:
        found = open_predictions(path, setup)
        votes.append([vote_of(one.predicted) for batch in found for one in batch])
        n_weights += n_parameters(found.nlp)
        seconds += found.seconds
    columns = zip(*votes, strict=True)
    examples = zip(columns, read_examples(found.nlp, setup.data), strict=True)
    made = (
        Example(elect(one.predicted, column), one.reference) for column, one in examples
    )
    batches = minibatch(made, found.nlp.batch_size)
    told = describe(batches, found.nlp, paths[0], setup, lambda: seconds)
    if any(map(is_written, paths)):
        return without_pipeline(told)
    return told._replace(n_parameters=n_weights, seed=None)


def vote_of(doc: Doc) -> Vote:
    """Keep what was predicted for a text.

    RETURNS (Vote): What it says.
    """
    groups = {key: _keys(group) for key, group in doc.spans.items()}
    return Vote(_hash(doc), dict(doc.cats), _keys(doc.ents), groups)


def elect(doc: Doc, votes: Sequence[Vote]) -> Doc:
    """Write on a Doc what the votes say together.

    Scores of labels are averaged. An entity, or a span of any group, stays if more than
    half of the votes have it; as no Doc has entities that overlap, these do not either.

    doc (Doc): The Doc, without predictions.
    RETURNS (Doc): The same Doc.
    """
    words = _hash(doc)
    if any(vote.words != words for vote in votes):
        raise ComparisonError(Errors.OTHER_WORDS.format(text=doc.text[:80]))
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
    """Keep what more than half of the groups have."""
    votes: Counter[Key] = Counter()
    for group in groups:
        votes.update(set(group))
    return [
        Span(doc, start, end, label)
        for (start, end, label), n in sorted(votes.items())
        if 2 * n > len(groups)
    ]
