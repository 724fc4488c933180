"""Experiments: train arms on tasks with several seeds, compare them, report."""

from .comparison import Comparison, compare
from .experiment import run_experiment
from .matrix import ArmConfig, plan_runs, read_arms, run_matrix

__all__ = [
    "ArmConfig",
    "Comparison",
    "compare",
    "plan_runs",
    "read_arms",
    "run_experiment",
    "run_matrix",
]
