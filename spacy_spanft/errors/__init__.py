"""What goes wrong, in words: the problem, the value, and what to do.

Everything a user can fix is raised as a `SpanftError`, so that the command
line can print the message alone, without a traceback.
"""

from collections.abc import Callable

from .codes import WithCodes, without_code
from .commands import CommandErrors
from .data import DataErrors
from .dictionaries import DictionaryErrors
from .explanation import ExplanationErrors
from .matrix import MatrixErrors
from .models import ModelErrors
from .prediction import PredictionErrors
from .pretraining import PretrainingErrors
from .publishing import PublishingErrors
from .shards import ShardErrors
from .shortening import counted, listed, meant, shown
from .visible import visible
from .warnings import Warnings

__all__ = [
    "ComparisonError",
    "CorpusError",
    "DictionaryError",
    "Errors",
    "ExtraError",
    "PairError",
    "PretrainingError",
    "ReaderError",
    "SpanftError",
    "Warnings",
    "check_number",
    "check_setting",
    "counted",
    "listed",
    "meant",
    "shown",
    "visible",
    "without_code",
]


class SpanftError(ValueError):
    """Wrong input that the user can fix."""


class CorpusError(SpanftError):
    """Text that cannot be read."""


class DictionaryError(SpanftError):
    """A dictionary file that cannot be read, or a setting it cannot have."""


class PairError(SpanftError):
    """Two texts that cannot be told apart, or not be encoded as a pair."""


class ExtraError(SpanftError):
    """A feature whose packages are not installed."""


class ComparisonError(SpanftError):
    """Pipelines that cannot be compared."""


class ReaderError(SpanftError):
    """Rows of which no examples can be made."""


class PretrainingError(SpanftError):
    """What an encoder cannot be pre-trained with."""


class Errors(
    DictionaryErrors,
    ModelErrors,
    DataErrors,
    CommandErrors,
    MatrixErrors,
    PretrainingErrors,
    PublishingErrors,
    PredictionErrors,
    ShardErrors,
    ExplanationErrors,
    metaclass=WithCodes,
):
    """All messages of errors, each with its code."""


def check_setting(
    name: str,
    value: object,
    is_right: bool,
    expected: str,
    error: type[SpanftError] = SpanftError,
) -> None:
    """Raise for a setting that cannot be.

    name (str): What it is called where it is set.
    value (object): What it is set to.
    is_right (bool): Whether it can be.
    expected (str): What it must be: "1 or more".
    error (type[SpanftError]): What to raise.
    """
    if not is_right:
        text = {"name": name, "value": value, "expected": expected}
        raise error(Errors.BAD_SETTING.format(**text))


def check_number(
    name: str, value: object, is_right: Callable[[float], bool], expected: str
) -> None:
    """Raise for a setting that is not a number, such as "0.1", or a wrong one.

    name (str): What it is called where it is set.
    value (object): What it is set to.
    is_right (Callable[[float], bool]): Whether a number can be.
    expected (str): What it must be: "a number from 0 to 1".
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    check_setting(name, value, is_number and is_right(value), expected)  # type: ignore[arg-type]
