"""Several pipelines as one: their scores averaged, their spans put to the vote."""

from collections import Counter
from collections.abc import Sequence
from statistics import mean

from spacy.tokens import Doc, Span
from spacy.training import Example

from ..errors import ComparisonError, Errors
from .measure import Measured, Setup, alone, describe, n_parameters, predict

Key = tuple[int, int, str]


def measure_ensemble_alone(paths: Sequence[str], setup: Setup) -> Measured:
    """Measure pipelines as one, in a process of its own.

    paths (Sequence[str]): The pipelines, by name or path.
    setup (Setup): What they are measured with.
    RETURNS (Measured): What was found.
    """
    return alone(measure_ensemble, paths, setup)


def measure_ensemble(paths: Sequence[str], setup: Setup) -> Measured:
    """Measure pipelines as one, in this process: all of them are in memory at once.

    paths (Sequence[str]): The pipelines, by name or path.
    setup (Setup): What they are measured with.
    RETURNS (Measured): What was found; weights and seconds are those of all.
    """
    found = [predict(path, setup) for path in paths]
    columns = zip(*(one.examples for one in found), strict=True)
    examples = [
        Example(average([one.predicted for one in column]), column[0].reference)
        for column in columns
    ]
    seconds = sum(one.seconds for one in found)
    total = sum(n_parameters(one.nlp) for one in found)
    together = found[0]._replace(examples=examples, seconds=seconds)
    return describe(together, setup)._replace(n_parameters=total)


def average(docs: Sequence[Doc]) -> Doc:
    """Make one Doc of several predictions of the same text.

    Scores of labels are averaged. An entity, or a span of any group, stays if more than
    half of the Docs have it; as no Doc has entities that overlap, these do not either.

    docs (Sequence[Doc]): The predictions.
    RETURNS (Doc): A new Doc with the words of the first one.
    """
    first = docs[0]
    words = [token.text for token in first]
    if any([token.text for token in doc] != words for doc in docs):
        raise ComparisonError(Errors.OTHER_WORDS.format(text=first.text[:80]))
    made = first.copy()
    labels = {label: 0 for doc in docs for label in doc.cats}
    made.cats = {name: mean(doc.cats.get(name, 0.0) for doc in docs) for name in labels}
    made.ents = _elected(made, [doc.ents for doc in docs])
    for key in {key: 0 for doc in docs for key in doc.spans}:
        groups = [doc.spans.get(key, []) for doc in docs]
        made.spans[key] = _elected(made, groups)
    return made


def _elected(doc: Doc, groups: Sequence[Sequence[Span]]) -> list[Span]:
    """Keep what more than half of the groups have."""
    votes: Counter[Key] = Counter()
    for group in groups:
        votes.update({(span.start, span.end, span.label_) for span in group})
    return [
        Span(doc, start, end, label)
        for (start, end, label), n in sorted(votes.items())
        if 2 * n > len(groups)
    ]
