"""The configs of all tasks: templates, spans added to them, settings fitted to data."""

from .bases import TASKS, Task, base
from .detecting import guess_columns, guess_task
from .encoders import ENCODERS, LISTENERS, check_encoder
from .fitting import fit_to_data, fitting_epochs
from .making import config_text, make_config, task_config, train_command
from .regime_blocks import REGIMES
from .summary import tokenizer_of

__all__ = [
    "ENCODERS",
    "LISTENERS",
    "REGIMES",
    "TASKS",
    "Task",
    "base",
    "check_encoder",
    "config_text",
    "fit_to_data",
    "fitting_epochs",
    "guess_columns",
    "guess_task",
    "make_config",
    "task_config",
    "tokenizer_of",
    "train_command",
]
