"""Why an arm answers as it does, for the texts that a page shows."""

import warnings
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, NamedTuple

from ...errors import SpanftError, Warnings
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


def reasons_in_subprocess(
    path: str, component: str, texts: Sequence[tuple[str, str]]
) -> list[Why]:
    """Explain texts in a process of its own.

    path (str): A pipeline, by name or path, or predictions.
    component (str): The component that classifies them.
    texts (Sequence[tuple[str, str]]): Texts, with what is right for them.
    RETURNS (list[Why]): Why each has its label; nothing if that cannot be known.
    """
    if is_written(path) or not texts:
        return []
    try:
        return run_in_subprocess(reasons, path, component, texts)
    except (BrokenProcessPool, SpanftError) as error:
        # All has been measured by now: a page without reasons is better than none.
        text = Warnings.NO_REASONS.format(path=path, reason=error)
        warnings.warn(text, stacklevel=2)
        return []


def reasons(path: str, component: str, texts: Sequence[tuple[str, str]]) -> list[Why]:
    """Explain texts in this process: see `reasons_in_subprocess`."""
    found = explained(load(path, -1), component, (text for text, _ in texts))
    golds = (gold for _, gold in texts)
    # A component without spans explains nothing.
    return [_why(one, gold) for one, gold in zip(found, golds, strict=False)]


def _why(explanation: "Explanation", gold: str) -> Why:
    """Say why a label was given, and not the right one or else the second one."""
    label, against = explanation.label, explanation.rival()
    if not explanation.is_exclusive:
        label = _mistaken(explanation, gold)
    elif gold in explanation.labels and gold != label:
        against = gold
    reasons = explanation.of(label, against)
    largest = sorted(reasons.strongest(), key=lambda pair: -abs(pair[1]))
    phrases = [(part.text, added) for part, added in largest[:_N_PHRASES]]
    rest = reasons.total - sum(added for _, added in phrases)
    return Why(reasons.label, against, reasons.total, phrases, rest)


def _mistaken(explanation: "Explanation", gold: str) -> str:
    """Find the label that is most wrongly given or withheld; else the best one."""
    golds = gold.split(", ")
    logits = explanation.logits
    wrong = [name for name in logits if (logits[name] > 0) != (name in golds)]
    return max(wrong, key=lambda name: abs(logits[name]), default=explanation.label)
