"""A matrix of trainings: every arm with every seed on every task."""

from .arms import ArmConfig, read_arms
from .data import check_data
from .gpus import places_of, read_gpus
from .plan import Run, plan_runs
from .running import Failure, check_jobs, run_matrix

__all__ = [
    "ArmConfig",
    "Failure",
    "Run",
    "check_data",
    "check_jobs",
    "places_of",
    "plan_runs",
    "read_arms",
    "read_gpus",
    "run_matrix",
]
