"""The component `text_regressor`: a score for each text, such as 0 to 5."""

from collections.abc import Callable, Iterable
from typing import Any

from spacy.language import Language
from spacy.pipeline.textcat_multilabel import (
    DEFAULT_MULTI_TEXTCAT_MODEL,
    MultiLabel_TextCategorizer,
)
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from ..errors import SpanftError, check_setting, shown
from ..ml.cross_entropy import target_layers


@Language.factory(
    "text_regressor",
    assigns=["doc.cats"],
    default_config={
        "model": DEFAULT_MULTI_TEXTCAT_MODEL,
        "scorer": {"@scorers": "spacy-spanft.regression_scorer.v1"},
    },
    default_score_weights={"cats_pearson": 0.5, "cats_spearman": 0.5},
)
class TextRegressor(MultiLabel_TextCategorizer):
    """A `textcat_multilabel` with one label whose truth is anything from 0 to 1.

    spaCy's own accepts only 0 and 1. The loss is the same, the squared difference from
    the truth after a logistic function. doc.cats has the score itself, in the gold data
    and in the predictions.

    model (Model[List[Doc], Floats2d]): A model for textcat_multilabel, such as
        spacy-spanft.SpanTextCat.v1 with exclusive_classes = false.
    low (float): The lowest score.
    high (float): The highest score.
    label (str): The score's name in doc.cats.
    scorer (Optional[Callable]): The scorer.
    """

    def __init__(
        self,
        nlp: Language,
        name: str,
        model: Model[list[Doc], Any],
        low: float = 0.0,
        high: float = 1.0,
        label: str = "score",
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        """Make the component."""
        is_range = float("-inf") < low < high < float("inf")
        check_setting("high", high, is_range, f"a number above low = {low}")
        if model.attrs.get("multi_label") is False:
            raise SpanftError(
                f"The model of {name!r} would always be sure of its only label. Set "
                f"[components.{name}.model] exclusive_classes = false."
            )
        super().__init__(nlp.vocab, model, name, threshold=0.5, scorer=scorer)
        self.low = low
        self.high = high
        self.label = label

    def add_label(self, label: str) -> int:
        """Add the name of the score, the only label."""
        expected = f"{self.label!r}: it predicts a score and no labels"
        check_setting(f"label of {self.name}", label, label == self.label, expected)
        return super().add_label(label)

    def initialize(  # type: ignore[override]
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
    ) -> None:
        """Prepare for training."""
        if any(target_layers(self.model)):
            raise SpanftError(
                f"{self.name!r} learns a score. class_weights and label_smoothing are "
                "for labels: remove them."
            )
        examples = list(get_examples())
        if not any(self.label in example.reference.cats for example in examples):
            there = sorted({label for eg in examples for label in eg.reference.cats})
            raise SpanftError(
                f"{self.name!r} learns doc.cats[{shown(self.label)}], but no "
                f"example has it (there are: {', '.join(there) or 'none'}). Name "
                "the column of the scores in the corpus (score = ...), or set "
                f"[components.{self.name}] label to what they are called."
            )
        super().initialize(lambda: examples, nlp=nlp, labels=[self.label])

    def set_annotations(self, docs: Iterable[Doc], scores: Any) -> None:
        """Write the scores, (n_docs, 1), from low to high."""
        for doc, share in zip(docs, scores[:, 0].tolist(), strict=True):
            doc.cats[self.label] = self.low + share * (self.high - self.low)

    def _examples_to_truth(self, examples: Iterable[Example]) -> tuple[Any, Any]:
        truths, not_missing = super()._examples_to_truth(examples)
        return (truths - self.low) / (self.high - self.low), not_missing

    def _validate_categories(self, examples: Iterable[Example]) -> None:
        """Raise for a score that is out of range."""
        for example in examples:
            score = example.reference.cats.get(self.label, self.low)
            if not self.low <= score <= self.high:
                raise SpanftError(
                    f"{self.name!r} learns scores between low = {self.low} and "
                    f"high = {self.high}, and found {score} at "
                    f"{shown(example.reference.text[:60])}. Set "
                    f"[components.{self.name}] low and high to the range of the data."
                )
