"""The configs of all tasks: templates, spans added to them, settings fitted to data."""

from .fitting import fitting_epochs
from .making import (
    Made,
    config_for_data,
    config_text,
    make_config,
    task_config,
    train_command,
)
from .sources import guess_task, tokenizer_of
from .templates import ENCODERS, LISTENERS, REGIMES, TASKS, check_encoder

__all__ = [
    "ENCODERS",
    "LISTENERS",
    "REGIMES",
    "TASKS",
    "Made",
    "check_encoder",
    "config_for_data",
    "config_text",
    "fitting_epochs",
    "guess_task",
    "make_config",
    "task_config",
    "tokenizer_of",
    "train_command",
]
