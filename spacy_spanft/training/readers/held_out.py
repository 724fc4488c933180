"""A corpus in one piece as two: a part to train on, and a part that is held out."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Literal

from spacy.language import Language
from spacy.training import Example

from ...errors import SpanftError, check_setting, counted
from ..gold import labels_in
from .classification import Corpus


def held_out_corpus(
    corpus: Corpus, part: Literal["train", "dev"], share: float = 0.2, seed: int = 0
) -> Corpus:
    """Build `spacy-spanft.HeldOutCorpus.v1`: one of the two parts of another corpus.

    The same share of each label is held out; of texts with several labels, of the
    rarest. A text that occurs several times is in one part only, and in the training
    part if it would be more than the share. The same corpus always has the same parts.

    corpus (Callable[[Language], Iterator[Example]]): The corpus.
    part (Literal["train", "dev"]): "dev" is held out, "train" is the rest.
    share (float): How much is held out.
    seed (int): The seed of the draw.
    """
    check_setting("share", share, 0 < share < 1, "a number above 0 and below 1")

    def read(nlp: Language) -> Iterator[Example]:
        examples = list(corpus(nlp))
        is_held_out = held_out(examples, share, seed)
        for example, is_dev in zip(examples, is_held_out, strict=True):
            if is_dev == (part == "dev"):
                yield example

    return read


def held_out(examples: Sequence[Example], share: float, seed: int) -> list[bool]:
    """Return whether each example is held out."""
    texts = [example.reference.text for example in examples]
    labels = [set(labels_in(example.reference)) for example in examples]
    counts = Counter(chain.from_iterable(labels))
    left = set(texts)
    strata: dict[str, list[str]] = defaultdict(list)
    for text, names in zip(texts, labels, strict=True):
        strata[min(names, key=lambda x: (counts[x], x), default="")].append(text)
    chance, n_rows = random.Random(seed), Counter(texts)
    drawn: set[str] = set()
    for _, members in sorted(strata.items()):
        # Each text once, whatever other labels it has elsewhere.
        distinct = [text for text in dict.fromkeys(members) if text in left]
        left -= set(distinct)
        drawn.update(_draw(distinct, n_rows, share, chance))
    if not drawn:  # each text has another label
        drawn.update(_draw(list(dict.fromkeys(texts)), n_rows, share, chance))
    if not drawn:
        raise SpanftError(
            f"Nothing can be held out of {counted(len(n_rows), 'text')}. Add rows, or "
            "name dev data (--dev of spanft init)."
        )
    return [text in drawn for text in texts]


def _draw(
    texts: list[str], n_rows: Counter[str], share: float, chance: random.Random
) -> list[str]:
    """Draw texts with about a share of the rows, and at least one of several."""
    wanted = share * sum(n_rows[text] for text in texts)
    drawn: list[str] = []
    n_drawn = 0
    order = chance.sample(texts, len(texts))
    for text in order:
        # A text that is too frequent to be held out is trained on.
        if n_drawn + n_rows[text] / 2 <= wanted:
            drawn.append(text)
            n_drawn += n_rows[text]
    if not drawn and len(texts) > 1:
        drawn = [min(order, key=lambda text: n_rows[text])]
    return drawn
