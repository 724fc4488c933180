"""Predictions of a pipeline for all rows of a file, of any size."""

from .run import Predicted, predict

__all__ = ["Predicted", "predict"]
