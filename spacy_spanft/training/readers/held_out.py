"""A corpus in one piece as two: a part to train on, and one that is held out."""

import random
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from spacy.language import Language
from spacy.training import Example

from ...errors import Errors, ReaderError, Warnings, check_setting
from ...errors.shortening import listed
from ..gold import labels_in
from .columns import SCORE

Corpus = Callable[[Language], Iterator[Example]]
SHARE = 0.2
# Scores are as far apart as quarters of the texts.
_N_QUANTILES = 4


def held_out_corpus(
    corpus: Corpus, part: Literal["train", "dev"], share: float = SHARE, seed: int = 0
) -> Corpus:
    """Build `spacy-spanft.HeldOutCorpus.v1`: one of the two parts of another corpus.

    Of each label the same share is held out; of texts with several labels, of the
    rarest. A text that is there several times is in one part alone, and in that to
    train on if it would be more than the share. The parts are always the same for the
    same corpus.

    corpus (Callable[[Language], Iterator[Example]]): The corpus.
    part (Literal["train", "dev"]): "dev" is what is held out, "train" the rest.
    share (float): How much is held out.
    seed (int): Draws it.
    RETURNS (Callable[[Language], Iterator[Example]]): The part.
    """
    is_share = isinstance(share, float) and 0 < share < 1
    check_setting("share", share, is_share, "a number above 0 and below 1")

    def read(nlp: Language) -> Iterator[Example]:
        examples = list(corpus(nlp))
        is_held_out = held_out(examples, share, seed)
        wanted = part == "dev"
        if wanted:
            _check(examples, is_held_out)
        for example, is_dev in zip(examples, is_held_out, strict=True):
            if is_dev == wanted:
                yield example

    return read


def _check(examples: Sequence[Example], is_held_out: Sequence[bool]) -> None:
    """Raise if nothing is held out; warn of labels that nothing else has."""
    if not any(is_held_out):
        n_texts = len({example.reference.text for example in examples})
        text = {"n_rows": len(examples), "n_texts": n_texts}
        raise ReaderError(Errors.NOTHING_HELD_OUT.format(**text))
    labels: dict[bool, set[str]] = {True: set(), False: set()}
    for example, is_dev in zip(examples, is_held_out, strict=True):
        labels[is_dev].update(labels_in(example.reference))
    if alone := sorted(labels[True] - labels[False]):
        warnings.warn(
            Warnings.HELD_OUT_ALONE.format(labels=listed(alone)), stacklevel=2
        )


def held_out(examples: Sequence[Example], share: float, seed: int) -> list[bool]:
    """Say which examples are held out.

    share (float): How much of each label is held out, one text at least if there are
        several.
    seed (int): Draws it.
    RETURNS (list[bool]): Whether each is.
    """
    texts = [example.reference.text for example in examples]
    left = set(texts)
    strata: dict[str, list[str]] = defaultdict(list)
    for text, stratum in zip(texts, _strata(examples, share), strict=True):
        strata[stratum].append(text)
    chance, n_rows = random.Random(seed), Counter(texts)
    drawn: set[str] = set()
    for _, members in sorted(strata.items()):
        # Each text once, whatever other labels it has elsewhere.
        own = [text for text in dict.fromkeys(members) if text in left]
        left -= set(own)
        drawn.update(_drawn(own, n_rows, share, chance))
    if not drawn:  # each text has a label of its own
        drawn.update(_drawn(list(dict.fromkeys(texts)), n_rows, share, chance))
    return [text in drawn for text in texts]


def _drawn(
    texts: list[str], n_rows: Counter[str], share: float, chance: random.Random
) -> list[str]:
    """Draw texts that have about a share of the rows, and one at least of several."""
    wanted = share * sum(n_rows[text] for text in texts)
    found: list[str] = []
    n_found = 0
    order = chance.sample(texts, len(texts))
    for text in order:
        # One that is there too often to be held out is left to the others.
        if n_found + n_rows[text] / 2 <= wanted:
            found.append(text)
            n_found += n_rows[text]
    if not found and len(texts) > 1:
        found = [min(order, key=lambda text: n_rows[text])]
    return found


def _strata(examples: Sequence[Example], share: float) -> list[str]:
    """Name what of each example is as frequent in both parts."""
    scores = [example.reference.cats.get(SCORE) for example in examples]
    labels = [set(labels_in(example.reference)) for example in examples]
    if not any(labels) and None not in scores:
        ranks = sorted(range(len(scores)), key=lambda i: (scores[i], i))
        n_parts = max(1, min(_N_QUANTILES, int(share * len(scores))))
        places = {i: rank * n_parts // len(scores) for rank, i in enumerate(ranks)}
        return [str(places[i]) for i in range(len(scores))]
    counts = Counter(label for own in labels for label in own)
    return [min(own, key=lambda one: (counts[one], one), default="") for own in labels]
