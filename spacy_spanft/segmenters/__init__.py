"""Segmenters: callables from Docs to spans, in a registry of their own."""

from .registry import registry
from .types import Segment, Segmentation, Segmenter

__all__ = ["Segment", "Segmentation", "Segmenter", "registry"]
