"""Train every arm with every seed on every task."""

from .arms import ArmConfig, read_arms
from .plan import Run, plan_runs
from .running import Failure, read_gpus, run_matrix

__all__ = [
    "ArmConfig",
    "Failure",
    "Run",
    "plan_runs",
    "read_arms",
    "read_gpus",
    "run_matrix",
]
