"""The component `score_scaler`: a score in its own range, from a label's in [0, 1]."""

import math
from collections.abc import Iterable, Iterator

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc

from .errors import Errors, ReaderError

SCORE = "score"


def check_range(low: float, high: float) -> None:
    """Raise for a range that nothing can be in.

    low (float): The lowest score.
    high (float): The highest score.
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ReaderError(Errors.BAD_RANGE.format(low=low, high=high))


def to_unit(score: float, low: float, high: float) -> float:
    """Move a score into [0, 1], where `textcat_multilabel` learns it.

    score (float): The score.
    low (float): The lowest one.
    high (float): The highest one.
    RETURNS (float): What share of the way from low to high it is.
    """
    return (score - low) / (high - low)


def from_unit(share: float, low: float, high: float) -> float:
    """Move a share in [0, 1] back to the score.

    share (float): What `to_unit` gave, or a model predicted.
    low (float): The lowest score.
    high (float): The highest score.
    RETURNS (float): The score.
    """
    return low + share * (high - low)


@Language.factory(
    "score_scaler",
    requires=["doc.cats"],
    assigns=["doc._.score"],
    default_config={"label": SCORE, "low": 0.0, "high": 1.0},
)
def make_score_scaler(
    nlp: Language, name: str, label: str, low: float, high: float
) -> "ScoreScaler":
    """Make the component.

    nlp (Language): The pipeline.
    name (str): The component's name in it.
    label (str): The label whose value in doc.cats is the score in [0, 1].
    low (float): The lowest score.
    high (float): The highest score.
    RETURNS (ScoreScaler): The component.
    """
    return ScoreScaler(name, label=label, low=low, high=high)


class ScoreScaler(Pipe):
    """Writes `doc._.score`, between low and high."""

    def __init__(
        self,
        name: str = "score_scaler",
        *,
        label: str = SCORE,
        low: float = 0.0,
        high: float = 1.0,
    ) -> None:
        """Make the component.

        name (str): The component's name in the pipeline.
        label (str): The label whose value in doc.cats is the score in [0, 1].
        low (float): The lowest score.
        high (float): The highest score.
        """
        check_range(low, high)
        self.name = name
        self.label = label
        self.low = low
        self.high = high
        if not Doc.has_extension("score"):
            Doc.set_extension("score", default=None)

    def __call__(self, doc: Doc) -> Doc:
        """Scale the score of one Doc.

        doc (Doc): The Doc.
        RETURNS (Doc): The same Doc.
        """
        if self.label not in doc.cats:
            raise ReaderError(
                Errors.NO_SCORE.format(
                    name=self.name,
                    label=self.label,
                    there=", ".join(doc.cats) or "none",
                )
            )
        doc._.score = from_unit(doc.cats[self.label], self.low, self.high)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 1000) -> Iterator[Doc]:
        """Scale the scores of a stream of Docs.

        stream (Iterable[Doc]): The Docs.
        batch_size (int): Not used: there is nothing to do for many at once.
        YIELDS (Doc): The same Docs.
        """
        error_handler = self.get_error_handler()
        for doc in stream:
            try:
                self(doc)
            except Exception as error:
                error_handler(self.name, self, [doc], error)
                continue
            yield doc
