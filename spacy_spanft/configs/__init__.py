"""The configs of all tasks, declared once: a base each, and what is changed in it."""

from .bases import TASKS, Task, base
from .data import Seen, concerns, look, tokenizer_of, told
from .encoders import ENCODERS, LISTENERS, check_encoder
from .guessing import (
    check_learnable,
    fit_epochs,
    fit_range,
    fit_window,
    fitting_epochs,
    guess_columns,
    guess_task,
    left_out_text,
    score_hint,
)
from .making import make_config, task_config, written
from .regimes import REGIMES
from .writing import to_text

__all__ = [
    "ENCODERS",
    "LISTENERS",
    "REGIMES",
    "TASKS",
    "Seen",
    "Task",
    "base",
    "check_encoder",
    "check_learnable",
    "concerns",
    "fit_epochs",
    "fit_range",
    "fit_window",
    "fitting_epochs",
    "guess_columns",
    "guess_task",
    "left_out_text",
    "look",
    "make_config",
    "score_hint",
    "task_config",
    "to_text",
    "tokenizer_of",
    "told",
    "written",
]
