"""spaCy's own format, which all commands read."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from spacy.tokens import DocBin
from spacy.training import Example

from ...errors import SpanftError, counted
from ..gold import cats_in, entities_in, spans_in
from .columns import SCORE

# How many labels are listed, and how many characters of each.
_N_LABELS = 10
_LONGEST_LABEL = 30


def is_docbins(path: str | Path) -> bool:
    """Whether a path names a .spacy file, or a folder, in which spaCy looks for them.

    path (Union[str, Path]): The path.
    """
    folder = Path(path)
    if folder.is_dir() and not any(folder.rglob("*.spacy")):
        raise SpanftError(f"{str(path)!r} is a folder without .spacy files.")
    return folder.is_dir() or folder.suffix == ".spacy"


class Converted(NamedTuple):
    """Docs in spaCy's format, and a summary for people.

    summary (str): "3 docs: 2 good, 1 bad".
    """

    docs: DocBin
    summary: str


def convert(
    examples: Iterable[Example], *, score: bool = False, gold_tokens: bool = True
) -> Converted:
    """Convert the references of Examples to spaCy's format.

    Empty Docs are left out, as spaCy does when it reads such data.

    examples (Iterable[Example]): The Examples.
    score (bool): Whether the texts have scores instead of labels.
    gold_tokens (bool): Whether pipelines get the Docs' own tokens. spaCy does so where
        it is unknown which tokens are followed by a space, as in CoNLL's columns.
    RETURNS (Converted): The Docs.
    """
    docs, labels = DocBin(), Counter[str]()
    scores = []
    n_empty = 0
    for example in examples:
        doc = example.reference
        if not len(doc):
            n_empty += 1
            continue
        if not gold_tokens:
            doc.has_unknown_spaces = False
        if score:
            scores.append(doc.cats[SCORE])
        spans = list(entities_in(doc)) or list(spans_in(doc))
        labels.update([*cats_in(doc), *spans])
        docs.add(doc)
    content = _summary(labels)
    if scores:
        content = f"scores from {min(scores):g} to {max(scores):g}"
    empty = f"; {n_empty:,} empty texts left out" if n_empty else ""
    return Converted(docs, f"{counted(len(docs), 'doc')}: {content}{empty}")


def _summary(labels: Counter[str]) -> str:
    if not labels:
        return "no label"
    most = [
        f"{n:,} {label[:_LONGEST_LABEL]}{'...' * (len(label) > _LONGEST_LABEL)}"
        for label, n in labels.most_common(_N_LABELS)
    ]
    n_more = len(labels) - len(most)
    more = f" and {counted(n_more, 'more label')}" if n_more else ""
    return ", ".join(most) + more
