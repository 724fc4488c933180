"""A matrix of trainings: every arm with every seed on every task."""

from .arms import ArmConfig, read_arms
from .plan import Run, check_data, plan_runs
from .run import Failure, run_matrix

__all__ = [
    "ArmConfig",
    "Failure",
    "Run",
    "check_data",
    "plan_runs",
    "read_arms",
    "run_matrix",
]
