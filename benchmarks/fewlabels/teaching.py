"""Texts without labels beside those that have one: two cuts of a text, one label.

Once a classifier has learned a little, it labels other texts of the task, cut by
n-grams, where it is sure; from these it learns with other cuts of the same texts.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Any

from spacy.training import Example

from .segmenters import drop, spans_of, write_spans

# How sure it must be, and how much of the training has to be over by then.
SURE = 0.8
BEGIN = 0.25
# Of the spans of a text that are cut into tokens, and of the ends that are lost.
CUT = 0.3


class Teacher:
    """Adds to each batch as many texts that the classifier has labeled itself."""

    def __init__(
        self,
        component: Any,
        texts: Sequence[Example],
        n_steps: int,
        seed: int,
        is_recut: bool,
    ) -> None:
        """Make a teacher.

        component (TrainablePipe): The classifier.
        texts (Sequence[Example]): Texts with their spans; their labels are not read.
        n_steps (int): How many steps the training has.
        seed (int): Shuffles and cuts them.
        is_recut (bool): Whether the classifier learns from other cuts than it labels.
        """
        self._component = component
        self._first_step = BEGIN * n_steps
        self._is_recut = is_recut
        self._chance = random.Random(seed)
        self._cuts = {id(one): spans_of(one) for one in texts}
        self._stream = self._shuffled(texts)
        self._step = 0

    def __call__(self, batch: Sequence[Example]) -> list[Example]:
        """Add texts to a batch.

        batch (Sequence[Example]): Texts with labels.
        RETURNS (list[Example]): The same, and those of others that it is sure of.
        """
        self._step += 1
        if self._step <= self._first_step:
            return [*batch]
        others = [next(self._stream) for _ in batch]
        for one in others:
            write_spans(one.predicted, self._cuts[id(one)])
        scores = self._component.predict([one.predicted for one in others])
        pairs = zip(others, scores, strict=True)
        return [
            *batch,
            *(self._labeled(*pair) for pair in pairs if pair[1].max() >= SURE),
        ]

    def _labeled(self, text: Example, scores: Any) -> Example:
        """Give a text the label of the highest score, and cut it anew."""
        best = scores.argmax()
        labels = enumerate(self._component.labels)
        text.reference.cats = {label: float(i == best) for i, label in labels}
        if self._is_recut:
            doc, cut = text.predicted, self._cuts[id(text)]
            write_spans(doc, drop(cut, len(doc), self._chance, CUT))
        return text

    def _shuffled(self, texts: Sequence[Example]) -> Iterator[Example]:
        own = [*texts]
        while True:
            self._chance.shuffle(own)
            yield from own
