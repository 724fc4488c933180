"""What goes wrong, in words: the problem, the value, and the mend.

Everything a user can mend is raised as a `SpanftError`, so that the command
line can print the message alone, without a traceback.
"""

from .commands import CommandErrors
from .data import DataErrors
from .dictionaries import DictionaryErrors
from .matrix import MatrixErrors
from .models import ModelErrors
from .pretraining import PretrainingErrors
from .shortening import shown
from .warnings import Warnings

__all__ = [
    "AlignmentError",
    "ComparisonError",
    "ConfigError",
    "CorpusError",
    "DictionaryError",
    "Errors",
    "GpuError",
    "LabelError",
    "MatrixError",
    "PairError",
    "PretrainingError",
    "ReaderError",
    "RegimeError",
    "ScoreError",
    "SettingError",
    "SpanftError",
    "Warnings",
    "shown",
]


class SpanftError(ValueError):
    """Wrong input that the user can mend."""


class CorpusError(SpanftError):
    """Text that cannot be read."""


class DictionaryError(SpanftError):
    """A dictionary file that cannot be read, or a setting it cannot have."""


class AlignmentError(SpanftError):
    """Spans that cannot be pooled."""


class SettingError(SpanftError):
    """A setting that no layer can have."""


class PairError(SpanftError):
    """Two texts that cannot be told apart, or not be encoded as a pair."""


class ConfigError(SpanftError):
    """A config that spans cannot be put into."""


class ScoreError(SpanftError):
    """Scores that cannot be learnt."""


class LabelError(SpanftError):
    """Labels that a component cannot learn."""


class ComparisonError(SpanftError):
    """Pipelines that cannot be compared."""


class MatrixError(SpanftError):
    """Trainings that cannot be planned."""


class GpuError(SpanftError):
    """A GPU that cannot be used."""


class ReaderError(SpanftError):
    """Rows of which no examples can be made."""


class PretrainingError(SpanftError):
    """What an encoder cannot be pre-trained with."""


class RegimeError(SpanftError):
    """A way of training that a pipeline cannot have."""


class Errors(
    DictionaryErrors,
    ModelErrors,
    DataErrors,
    CommandErrors,
    MatrixErrors,
    PretrainingErrors,
):
    """All messages of errors."""
