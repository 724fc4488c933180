"""Why an arm answers as it does, for the texts that a page shows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...errors import SpanftError
from ...util.pipelines import load
from ..comparison.measure import run_in_subprocess
from ..comparison.written import is_written
from ..hook import explained

if TYPE_CHECKING:
    from ..hook import Explanation

_N_PHRASES = 5


class Why(NamedTuple):
    """What made a label.

    label (str): The label that a pipeline gave.
    against (Optional[str]): The label in whose place it was chosen.
    total (float): The label's logit, or how much more it is than that of the other.
    phrases (list[tuple[str, float]]): What adds or takes most, and how much.
    rest (float): What all else adds.
    """

    label: str
    against: str | None
    total: float
    phrases: list[tuple[str, float]]
    rest: float


def reasons_in_subprocess(path: str, texts: Sequence[tuple[str, str]]) -> list[Why]:
    """Explain texts in a process of its own.

    path (str): A pipeline, by name or path, or predictions.
    texts (Sequence[tuple[str, str]]): Texts, with what is right for them.
    RETURNS (list[Why]): Why each has its label; nothing if that cannot be known.
    """
    if is_written(path) or not texts:
        return []
    return run_in_subprocess(reasons, path, texts)


def reasons(path: str, texts: Sequence[tuple[str, str]]) -> list[Why]:
    """Explain texts in this process: see `reasons_in_subprocess`."""
    try:
        nlp = load(path, -1)
        found = list(explained(nlp, (text for text, _ in texts)))
    except SpanftError:  # it does not classify over spans, or is gone by now
        return []
    if not found:  # it labels entities, or spans
        return []
    return [_why(one, gold) for one, (_, gold) in zip(found, texts, strict=True)]


def _why(explanation: "Explanation", gold: str) -> Why:
    """Say why a label was given, and not the right one or else the second one."""
    is_wrong = gold in explanation.labels and gold != explanation.label
    against = gold if is_wrong and explanation.is_exclusive else explanation.rival
    reasons = explanation.of(explanation.label, against)
    largest = sorted(reasons.strongest(), key=lambda pair: -abs(pair[1]))
    phrases = [(part.text, added) for part, added in largest[:_N_PHRASES]]
    rest = reasons.total - sum(added for _, added in phrases)
    return Why(reasons.label, against, reasons.total, phrases, rest)
