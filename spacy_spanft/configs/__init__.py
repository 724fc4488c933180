"""The configs of all tasks, declared once: a base each, and what is changed in it."""

from .bases import TASKS, Task, base
from .data import Seen, concerns, look, tokenizer_of, told
from .guessing import (
    fit_epochs,
    fit_range,
    fit_window,
    fitting_epochs,
    guess_columns,
    guess_task,
)
from .making import make_config, task_config, written
from .regimes import REGIMES
from .writing import to_text

__all__ = [
    "REGIMES",
    "TASKS",
    "Seen",
    "Task",
    "base",
    "concerns",
    "fit_epochs",
    "fit_range",
    "fit_window",
    "fitting_epochs",
    "guess_columns",
    "guess_task",
    "look",
    "make_config",
    "task_config",
    "to_text",
    "tokenizer_of",
    "told",
    "written",
]
