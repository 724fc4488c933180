"""The configs of all tasks: templates, spans added to them, settings fitted to data."""

from .making import config_for_data, config_text, task_config
from .templates import TASKS

__all__ = ["TASKS", "config_for_data", "config_text", "task_config"]
