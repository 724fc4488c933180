"""Pipelines at scale: predictions for whole files, model cards, and the hub."""

from .parts import Parts
from .prediction import Predicted, find_source, predict
from .publishing import model_card, push
from .saved_pipeline import read_saved

__all__ = [
    "Parts",
    "Predicted",
    "find_source",
    "model_card",
    "predict",
    "push",
    "read_saved",
]
