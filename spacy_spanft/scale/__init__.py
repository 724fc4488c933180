"""Pipelines at scale: predictions for whole files, model cards, and the hub."""

from .prediction import Predicted, predict
from .publishing import model_card, push
from .saved_pipeline import read_saved

__all__ = ["Predicted", "model_card", "predict", "push", "read_saved"]
