"""The component `bilou_ner`: named entities by a tag of each token."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from spacy.attrs import ENT_IOB, ENT_TYPE, IS_SPACE, SENT_START
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.pipeline.tagger import DEFAULT_TAGGER_MODEL
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example, validate_examples, validate_get_examples
from thinc.types import Floats2d

from ..errors import SpanftError, check_number, check_setting, listed, shown, warn
from ..ml.bilou import (
    OUT,
    Allowed,
    Bools,
    Entity,
    Floats,
    Ints,
    Tagger,
    best_tags,
    entity_probabilities,
    never_found,
    spans_of_tags,
    tag_names,
)
from ..ml.cross_entropy import (
    check_smoothing,
    check_weight_names,
    cross_entropy,
    read_weights,
)
from ..util import WRITER

# token.ent_iob. A token that is blocked begins an entity without a label.
_INSIDE, _BEGIN = 1, 3


class Entities(NamedTuple):
    """The predicted entities of a Doc, and their probabilities if asked for."""

    spans: list[Entity]
    scores: Floats | None


@Language.factory(
    "bilou_ner",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config={
        "model": {
            "@architectures": "spacy-spanft.BilouTagger.v1",
            "dropout": 0.1,
            "tok2vec": DEFAULT_TAGGER_MODEL["tok2vec"],
        },
        "scorer": {"@scorers": "spacy.ner_scorer.v1"},
    },
    default_score_weights={
        "ents_f": 1.0,
        "ents_p": 0.0,
        "ents_r": 0.0,
        "ents_per_type": None,
    },
)
class BilouNER(TrainablePipe):
    """Tags each token with BILUO, and writes doc.ents.

    Of all sequences of tags that make entities the most probable one is taken. No
    entity begins or ends with white space, crosses the beginning of a sentence, or
    overlaps one that is in doc.ents already. Where the gold data has such, nothing is
    learned from it.

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
    scorer (Optional[Callable]): The scorer of the entities.
    """

    def __init__(
        self,
        nlp: Language,
        name: str,
        model: Tagger,
        scores_key: str | None = None,
        threshold: float = 0.0,
        class_weights: dict[str, float] | list[Any] | None = None,
        label_smoothing: float = 0.0,
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        """Make the component."""
        expected = "a number from 0 to 1"
        check_number("threshold", threshold, lambda x: 0 <= x <= 1, expected)
        check_smoothing(label_smoothing)
        self.vocab = nlp.vocab
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
        """Add a label, to a trained pipeline as well; return 0 if it was there."""
        if label in self.labels:
            return 0
        self._allow_extra_label()
        self.vocab.strings.add(label)  # raises for what is no string
        self.cfg["labels"].append(label)
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

        labels (Optional[Iterable[str]]): The labels; None takes those of the examples.
        """
        validate_get_examples(get_examples, "BilouNER.initialize")
        if labels is None:
            ents = (ent for eg in get_examples() for ent in eg.reference.ents)
            labels = sorted({ent.label_ for ent in ents})
        for label in labels:
            self.add_label(label)
        self._require_labels()
        check_weight_names(self.name, self.class_weights, ["O", *self.labels])
        self._warn_of_unlearnable(get_examples())
        self.model.set_dim("nO", len(tag_names(self.labels)), force=True)
        self.model.initialize(X=[eg.predicted for eg in islice(get_examples(), 10)])

    def predict(self, docs: Iterable[Doc]) -> list[Entities]:
        """Predict the entities of each Doc, without writing them.

        They have probabilities where there is a threshold or a key for these.
        """
        docs = list(docs)
        lengths = [len(doc) for doc in docs]
        if not any(lengths):
            return [Entities([], np.zeros(0)) for _ in docs]
        joined = self.model.ops.xp.concatenate(self.model.predict(docs))
        shares = self.model.ops.to_numpy(joined)
        logs = np.log(np.maximum(shares, np.finfo(shares.dtype).tiny))
        allowed = allowed_tags(docs)
        best = best_tags(logs, lengths, allowed)
        spans = [spans_of_tags(x) for x in np.split(best, np.cumsum(lengths)[:-1])]
        if self.scores_key is None and not self.threshold:
            return [Entities(of_doc, None) for of_doc in spans]
        scores = entity_probabilities(logs, lengths, allowed, spans)
        pairs = zip(spans, scores, strict=True)
        return [_above(self.threshold, *pair) for pair in pairs]

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[Entities]) -> None:
        """Write the entities, beside those that are there already."""
        labels = [self.vocab.strings.add(label) for label in self.labels]
        written: set[Doc] = set()
        for doc, entities in zip(docs, scores, strict=True):
            spans = [Span(doc, a, b, label=labels[i]) for a, b, i in entities.spans]
            if doc not in written:  # it may stand in a batch twice
                _write_entities(doc, spans)
                written.add(doc)
            if self.scores_key is not None and entities.scores is not None:
                _write_scores(doc, self.scores_key, spans, entities.scores.tolist())

    def get_loss(
        self, examples: Iterable[Example], scores: Sequence[Floats2d]
    ) -> tuple[float, list[Floats2d]]:
        """Return the loss, and its gradient with respect to the logits.

        It is weighted cross-entropy, summed over the tokens that line up with the gold
        data.
        """
        examples = list(examples)
        validate_examples(examples, "BilouNER.get_loss")
        ops: Any = self.model.ops
        tags = tag_names(self.labels)
        weights = [self.class_weights.get(tag[2:] or "O", 1.0) for tag in tags]
        wanted = self._truths(examples), weights, self.label_smoothing
        loss, d_shares = cross_entropy(ops, ops.xp.concatenate(scores), *wanted)
        return loss, ops.unflatten(d_shares, [len(eg.predicted) for eg in examples])

    def _warn_of_unlearnable(self, examples: Iterable[Example]) -> None:
        """Warn of gold entities that cannot be predicted."""
        texts = []
        for doc, tags, never in self._gold_tags(examples):
            spans = spans_of_tags(np.where(never, tags, OUT))
            texts += [doc[start:end].text for start, end, _ in spans]
        if texts:
            warn(
                f"{len(texts)} entities of the training data begin or end with white "
                f"space, or cross the beginning of a sentence: {self.name!r} never "
                "predicts such, and learns nothing from them. The first is "
                f"{shown(texts[0])}."
            )

    def _truths(self, examples: Iterable[Example]) -> Ints:
        """Return the gold tags of all tokens, -1 where there is nothing to learn."""
        gold = self._gold_tags(examples)
        return np.concatenate([np.where(never, -1, tags) for _, tags, never in gold])

    def _gold_tags(
        self, examples: Iterable[Example]
    ) -> Iterator[tuple[Doc, Ints, Bools]]:
        """Yield each predicted Doc, its gold tags, and which are never predicted.

        A tag is -1 where the gold data has none.
        """
        numbers = {name: i for i, name in enumerate(tag_names(self.labels))}
        numbers |= {"-": -1, "": -1}
        for example in examples:
            names = [tag or "" for tag in example.get_aligned_ner()]
            if new := next((name for name in names if name not in numbers), None):
                raise SpanftError(
                    f"{self.name!r} knows no label {new[2:]!r}, which the data has; it "
                    f"knows: {listed(self.labels)}. Add it before training: "
                    f"nlp.get_pipe({self.name!r}).add_label({new[2:]!r})"
                )
            tags = np.array([numbers[name] for name in names], np.int64)
            doc = example.predicted
            yield doc, tags, never_found(tags, allowed_tags([doc]))


def allowed_tags(docs: Iterable[Doc]) -> Allowed:
    """Return what each token of the Docs may be."""
    attrs = [ENT_IOB, IS_SPACE, SENT_START]
    columns = np.concatenate([doc.to_array(attrs) for doc in docs]).T
    ent_iob, is_space, sent_start = columns
    # In an entity, or blocked, by another component or an earlier run.
    is_taken = (ent_iob == _INSIDE) | (ent_iob == _BEGIN)
    return Allowed(~is_taken, is_space == 0, sent_start != 1)


def _above(threshold: float, spans: list[Entity], scores: Floats) -> Entities:
    is_above = scores >= threshold
    kept = [span for span, is_in in zip(spans, is_above, strict=True) if is_in]
    return Entities(kept, scores[is_above])


def _write_entities(doc: Doc, spans: Sequence[Span]) -> None:
    """Write entities beside those that are there already; blocked tokens stay so."""
    iob, kind = doc.to_array([ENT_IOB, ENT_TYPE]).T
    blocked = np.flatnonzero((iob == _BEGIN) & (kind == 0)).tolist()
    doc.set_ents([*doc.ents, *spans], blocked=[doc[i : i + 1] for i in blocked])


def _write_scores(
    doc: Doc, key: str, spans: Sequence[Span], scores: Sequence[float]
) -> None:
    """Write the probabilities of entities, beside those of an earlier run."""
    before = doc.spans.get(key, SpanGroup(doc))
    expected = "a key of doc.spans that no segmenter writes"
    check_setting("scores_key", key, WRITER not in before.attrs, expected)
    known = zip(before, before.attrs.get("scores", ()), strict=False)
    score_of = {_bounds_of(span): score for span, score in known}
    score_of |= zip(map(_bounds_of, spans), scores, strict=True)
    scored = [span for span in doc.ents if _bounds_of(span) in score_of]
    attrs = {"scores": [score_of[_bounds_of(span)] for span in scored]}
    doc.spans[key] = SpanGroup(doc, spans=scored, attrs=attrs)


def _bounds_of(span: Span) -> tuple[int, int, int]:
    return span.start, span.end, span.label
