"""Trained pipelines for others: a model card, and an upload to the Hugging Face hub."""

from .card import model_card
from .saved import Saved, opened
from .upload import Pushed, push

__all__ = ["Pushed", "Saved", "model_card", "opened", "push"]
