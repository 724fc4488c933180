"""Gold entities as tags, and what a tag can never be."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from spacy.attrs import ENT_IOB, IS_SPACE, SENT_START
from spacy.tokens import Doc
from spacy.training import Example

from ..errors import Errors, SpanftError
from ..ml.bilou import Allowed, Bools, Ints, never_found, tag_names

# What token.ent_iob says; a token that is blocked begins an entity without a label.
INSIDE, BEGIN = 1, 3


def allowed_tags(docs: Iterable[Doc]) -> Allowed:
    """Find out what each token of the Docs may be."""
    attrs = [ENT_IOB, IS_SPACE, SENT_START]
    columns = np.concatenate([doc.to_array(attrs) for doc in docs]).T
    ent_iob, is_space, sent_start = columns
    # In an entity, or blocked, by another component or an earlier run.
    is_taken = (ent_iob == INSIDE) | (ent_iob == BEGIN)
    return Allowed(~is_taken, is_space == 0, sent_start != 1)


def gold_tags(
    examples: Iterable[Example], labels: Sequence[str], component: str
) -> Iterator[tuple[Doc, Ints, Bools]]:
    """Number the gold tags of each Doc, and say which can never be found.

    examples (Iterable[Example]): The examples.
    labels (Sequence[str]): The labels of entities.
    component (str): The name of the component that learns them.
    YIELDS (tuple[Doc, Ints, Bools]): The Doc that is predicted, the number of each
        token's tag (-1 where the gold data says nothing), and which are never found.
    """
    numbers = {name: i for i, name in enumerate(tag_names(labels))}
    numbers |= {"-": -1, "": -1}
    for example in examples:
        names = [tag or "" for tag in example.get_aligned_ner()]
        if new := next((name for name in names if name not in numbers), None):
            place = {"name": component, "label": new[2:], "labels": ", ".join(labels)}
            raise SpanftError(Errors.NEW_LABEL.format(**place))
        tags = np.array([numbers[name] for name in names], np.int64)
        doc = example.predicted
        yield doc, tags, never_found(tags, allowed_tags([doc]))
