"""The configs of all tasks: templates, spans added to them, settings fitted to data."""

from .encoders import (
    ENCODERS,
    check_encoder,
    default_encoder,
    describe_encoder,
    is_here,
)
from .fitting import fitting_epochs
from .making import (
    Made,
    config_for_data,
    config_text,
    lacks_dictionary,
    make_config,
    task_config,
    train_command,
)
from .sources import guess_task, tokenizer_of
from .templates import LISTENERS, REGIMES, TASKS

__all__ = [
    "ENCODERS",
    "LISTENERS",
    "REGIMES",
    "TASKS",
    "Made",
    "check_encoder",
    "config_for_data",
    "config_text",
    "default_encoder",
    "describe_encoder",
    "fitting_epochs",
    "guess_task",
    "is_here",
    "lacks_dictionary",
    "make_config",
    "task_config",
    "tokenizer_of",
    "train_command",
]
