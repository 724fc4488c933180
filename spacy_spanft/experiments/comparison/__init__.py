"""Trained pipelines compared: scores, significance, size, speed and memory."""

from .comparing import Comparison, compare

__all__ = ["Comparison", "compare"]
