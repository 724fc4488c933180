"""The configs of all tasks, declared once: a base each, and what is changed in it."""

from .bases import TASKS, Task, base
from .data import concerns, look, told
from .making import make_config, task_config
from .regimes import REGIMES
from .writing import to_text

__all__ = [
    "REGIMES",
    "TASKS",
    "Task",
    "base",
    "concerns",
    "look",
    "make_config",
    "task_config",
    "to_text",
    "told",
]
