"""Pipelines at scale: predictions for whole files, model cards, and the hub."""

from .parts import Parts
from .prediction import Predicted, predict
from .publishing import Pushed, model_card, push
from .saved_pipeline import Saved, opened

__all__ = [
    "Parts",
    "Predicted",
    "Pushed",
    "Saved",
    "model_card",
    "opened",
    "predict",
    "push",
]
