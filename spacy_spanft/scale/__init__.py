"""Pipelines at scale: predictions for whole files, model cards, and the hub."""

from .model_card import model_card
from .parts import Parts
from .predicting import Predicted, predict
from .saved_pipeline import Saved, opened
from .upload import Pushed, push

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
