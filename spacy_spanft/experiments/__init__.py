"""Experiments: train arms on tasks with several seeds, compare them, report."""

from .arms import ArmConfig, read_arms
from .comparison import Comparison, compare
from .experiment import run_experiment
from .plan import plan_runs
from .running import run_matrix

__all__ = [
    "ArmConfig",
    "Comparison",
    "compare",
    "plan_runs",
    "read_arms",
    "run_experiment",
    "run_matrix",
]
