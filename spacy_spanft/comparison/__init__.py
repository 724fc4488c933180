"""Trained pipelines side by side: scores, significance, size, speed and memory."""

from .compare import Comparison, compare

__all__ = ["Comparison", "compare"]
