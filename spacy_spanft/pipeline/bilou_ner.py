"""The component `bilou_ner`: named entities by a tag of each token."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from confection import Config
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc, Span
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats2d

from ..errors import Errors, SpanftError, Warnings, check_number
from ..ml.alignment import check_spans_key
from ..ml.bilou import KINDS, OUT, Floats, Ints, best_tags, spans_of_tags, tag_names
from ..ml.cross_entropy import (
    check_smoothing,
    check_weight_names,
    cross_entropy,
    read_weights,
)
from ..ml.entity_probabilities import Entity, entity_probabilities
from .found_entities import write_entities, write_scores
from .gold_tags import allowed_tags, gold_tags

DEFAULT_MODEL = """
[model]
@architectures = "spacy-spanft.BilouTagger.v1"
dropout = 0.1

[model.tok2vec]
@architectures = "spacy.HashEmbedCNN.v2"
pretrained_vectors = null
width = 96
depth = 4
embed_size = 2000
window_size = 1
maxout_pieces = 3
subword_features = true
"""


@Language.factory(
    "bilou_ner",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config={
        "model": Config().from_str(DEFAULT_MODEL)["model"],
        "scores_key": None,
        "threshold": 0.0,
        "class_weights": None,
        "label_smoothing": 0.0,
        "scorer": {"@scorers": "spacy.ner_scorer.v1"},
    },
    default_score_weights={
        "ents_f": 1.0,
        "ents_p": 0.0,
        "ents_r": 0.0,
        "ents_per_type": None,
    },
)
def make_bilou_ner(
    nlp: Language,
    name: str,
    model: Model[list[Doc], list[Floats2d]],
    scores_key: str | None,
    threshold: float,
    class_weights: dict[str, float] | list[Any] | None,
    label_smoothing: float,
    scorer: Callable[..., dict[str, Any]] | None,
) -> "BilouNER":
    """Make the component.

    nlp (Language): The pipeline.
    name (str): The component's name in it.
    model (Model[List[Doc], List[Floats2d]]): Docs to the probabilities of tags, such as
        spacy-spanft.BilouTagger.v1.
    scores_key (Optional[str]): The key in doc.spans of the entities with their
        probabilities, which are in its attrs["scores"]; None computes none.
    threshold (float): Entities that are less probable are left out.
    class_weights (Optional[Union[Dict[str, float], List]]): How much the tokens of a
        label count in training, such as {"GPE": 3.0} or [["GPE", 3.0]]; those outside
        of entities are "O". Others count once.
    label_smoothing (float): The share of each token's tag that is spread over all tags
        in training.
    scorer (Optional[Callable]): What scores the entities.
    RETURNS (BilouNER): The component.
    """
    return BilouNER(
        nlp.vocab,
        model,
        name,
        scores_key=scores_key,
        threshold=threshold,
        class_weights=class_weights,
        label_smoothing=label_smoothing,
        scorer=scorer,
    )


class Found(NamedTuple):
    """The entities of a Doc.

    entities (list[Entity]): Their start, end and label's number.
    scores (Optional[Floats]): How probable they are; None if nobody asked.
    """

    entities: list[Entity]
    scores: Floats | None


class BilouNER(TrainablePipe):
    """Tags each token with BILUO, and writes doc.ents.

    Of all sequences of tags that make entities the most probable one is taken. No
    entity begins or ends with white space, crosses the beginning of a sentence, or
    overlaps one that is in doc.ents already. Where the gold data has such, nothing is
    learned from it.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[list[Doc], list[Floats2d]],
        name: str = "bilou_ner",
        *,
        scores_key: str | None = None,
        threshold: float = 0.0,
        class_weights: dict[str, float] | list[Any] | None = None,
        label_smoothing: float = 0.0,
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        """Make the component.

        vocab (Vocab): The pipeline's vocabulary.
        model (Model[List[Doc], List[Floats2d]]): Docs to the probabilities of tags.
        name (str): The component's name in the pipeline.
        scores_key (Optional[str]): The key in doc.spans of the entities with their
            probabilities; None computes none.
        threshold (float): Entities that are less probable are left out.
        class_weights (Optional[Union[Dict[str, float], List]]): How much the tokens of
            each label, and of "O", count in training; None counts all once.
        label_smoothing (float): The share of each token's tag that is spread over all.
        scorer (Optional[Callable]): What scores the entities.
        """
        if scores_key is not None:
            check_spans_key(scores_key, "scores_key")
        expected = "a number from 0 to 1"
        check_number("threshold", threshold, lambda x: 0 <= x <= 1, expected)
        check_smoothing(label_smoothing)
        self.vocab = vocab
        self.model = model
        self.name = name
        self.scores_key = scores_key
        self.threshold = threshold
        self.class_weights = read_weights(class_weights)
        self.label_smoothing = label_smoothing
        self.cfg: dict[str, Any] = {"labels": []}
        self.scorer = scorer

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of entities."""
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> tuple[str, ...]:
        """The labels, for `spacy init labels`."""
        return self.labels

    def add_label(self, label: str) -> int:
        """Add a label, to a trained pipeline as well.

        label (str): The label.
        RETURNS (int): 0 if it was there already, otherwise 1.
        """
        if not isinstance(label, str) or not label:
            raise SpanftError(Errors.BAD_LABEL.format(label=label, name=self.name))
        if label in self.labels:
            return 0
        self._allow_extra_label()
        self.cfg["labels"].append(label)
        self.vocab.strings.add(label)
        if self.model.has_dim("nO"):
            n_tags = len(tag_names(self.labels))
            self.model = self.model.attrs["resize_output"](self.model, n_tags)
        return 1

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: Iterable[str] | None = None,
    ) -> None:
        """Prepare for training.

        get_examples (Callable[[], Iterable[Example]]): Gives a sample of the data.
        nlp (Optional[Language]): The pipeline.
        labels (Optional[Iterable[str]]): The labels; None takes those of the examples.
        """
        validate_get_examples(get_examples, "BilouNER.initialize")
        if isinstance(labels, str):
            raise SpanftError(Errors.ONE_LABEL.format(name=self.name, labels=labels))
        if labels is None:
            labels = {e.label_ for eg in get_examples() for e in eg.reference.ents}
            labels = sorted(labels)
        labels = list(dict.fromkeys([*self.labels, *labels]))
        if labels and not self.labels:
            self._check_n_tags(labels, Errors.WRONG_N_TAGS)
        for label in labels:
            self.add_label(label)
        if not self.labels:
            raise SpanftError(Errors.NO_ENTITIES.format(name=self.name))
        check_weight_names(self.name, self.class_weights, ["O", *self.labels])
        self._warn_of_never_found(get_examples())
        self.model.set_dim("nO", len(tag_names(self.labels)), force=True)
        self.model.initialize(X=[eg.predicted for eg in islice(get_examples(), 10)])

    def predict(self, docs: Iterable[Doc]) -> list[Found]:
        """Find the entities of each Doc.

        docs (Iterable[Doc]): The Docs, which stay as they are.
        RETURNS (list[Found]): For each Doc its entities, and their probabilities where
            there is a threshold or a key for them.
        """
        docs = list(docs)
        is_text = any(map(len, docs))
        return self.decode(docs, self.model.predict(docs) if is_text else [])

    def decode(self, docs: list[Doc], tags: Sequence[Floats2d]) -> list[Found]:
        """Find the entities of each Doc from the probabilities of its tags.

        docs (list[Doc]): The Docs, which stay as they are.
        tags (Sequence[Floats2d]): What the model predicts of them; none if no Doc has
            a token.
        RETURNS (list[Found]): What `predict` gives.
        """
        if not len(tags):
            return [Found([], np.zeros(0)) for _ in docs]
        lengths = [len(doc) for doc in docs]
        joined = self.model.ops.xp.concatenate(tags)
        shares = self.model.ops.to_numpy(joined)
        logs = np.log(np.maximum(shares, np.finfo(shares.dtype).tiny))
        allowed = allowed_tags(docs)
        best = best_tags(logs, lengths, allowed)
        ends = np.cumsum([0, *lengths]).tolist()
        entities = [spans_of_tags(best[start:end]) for start, end in pairwise(ends)]
        if self.scores_key is None and not self.threshold:
            return [Found(own, None) for own in entities]
        scores = entity_probabilities(logs, lengths, allowed, entities)
        return [self._probable(*pair) for pair in zip(entities, scores, strict=True)]

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[Found]) -> None:
        """Write the entities, beside those that are there already.

        docs (Iterable[Doc]): The Docs.
        scores (Sequence[Found]): What `predict` found.
        """
        labels = [self.vocab.strings.add(label) for label in self.labels]
        for doc, own in zip(docs, scores, strict=True):
            found = [
                Span(doc, start, end, label=labels[label])
                for start, end, label in own.entities
            ]
            write_entities(doc, found)
            if self.scores_key is not None and own.scores is not None:
                write_scores(doc, self.scores_key, found, own.scores.tolist())

    def get_loss(
        self, examples: Iterable[Example], scores: Sequence[Floats2d]
    ) -> tuple[float, list[Floats2d]]:
        """Compare with the gold tags: weighted cross-entropy, summed over the tokens.

        Tokens that do not line up with the gold data, or of which it says nothing, are
        left out.

        examples (Iterable[Example]): The examples.
        scores (Sequence[Floats2d]): The probabilities of their tags.
        RETURNS (tuple[float, list[Floats2d]]): The loss, and its gradient with respect
            to what goes into the softmax.
        """
        examples = list(examples)
        validate_examples(examples, "BilouNER.get_loss")
        shares: Any = self.model.ops.xp.concatenate(scores)
        loss, d_shares = cross_entropy(
            self.model.ops,
            shares,
            self._truths(examples),
            self._weights(),
            self.label_smoothing,
        )
        ends = np.cumsum([0, *(len(eg.predicted) for eg in examples)]).tolist()
        return loss, [d_shares[start:end] for start, end in pairwise(ends)]

    def _weights(self) -> list[float]:
        """Say how much each tag counts."""
        of = {
            label: self.class_weights.get(label, 1.0) for label in ("O", *self.labels)
        }
        return [of["O"], *(of[label] for label in self.labels for _ in KINDS)]

    def _probable(self, entities: list[Entity], scores: Floats) -> Found:
        """Leave out what is less probable than the threshold."""
        enough = scores >= self.threshold
        kept = [
            one for one, is_enough in zip(entities, enough, strict=True) if is_enough
        ]
        return Found(kept, scores[enough])

    def from_bytes(self, *args: Any, **settings: Any) -> "BilouNER":
        """Load the component."""
        super().from_bytes(*args, **settings)
        return self._checked()

    def from_disk(self, *args: Any, **settings: Any) -> "BilouNER":
        """Load the component."""
        super().from_disk(*args, **settings)
        return self._checked()

    def _checked(self) -> "BilouNER":
        """Raise if labels and model are not those of one component."""
        self._check_n_tags(self.labels, Errors.LABELS_OF_OTHERS)
        return self

    def _check_n_tags(self, labels: Sequence[str], message: str) -> None:
        """Raise if the model was made for another number of tags."""
        found = self.model.get_ref("output_layer").maybe_get_dim("nO")
        needed = len(tag_names(labels))
        if found not in (None, needed):
            place = {"name": self.name, "found": found, "needed": needed}
            raise SpanftError(message.format(**place, n_labels=len(labels)))

    def _warn_of_never_found(self, examples: Iterable[Example]) -> None:
        """Warn of gold entities that cannot be predicted."""
        found = []
        for doc, tags, never in gold_tags(examples, self.labels, self.name):
            spans = spans_of_tags(np.where(never, tags, OUT))
            found += [doc[start:end].text for start, end, _ in spans]
        if found:
            place = {"name": self.name, "n": len(found), "first": found[0]}
            warnings.warn(Warnings.NEVER_FOUND.format(**place), stacklevel=2)

    def _truths(self, examples: Iterable[Example]) -> Ints:
        """Number the gold tags of all tokens, -1 where there is nothing to learn."""
        gold = gold_tags(examples, self.labels, self.name)
        return np.concatenate([np.where(never, -1, tags) for _, tags, never in gold])
