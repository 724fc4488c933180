"""Segmenters: callables from Docs to spans, in a registry of their own."""

from .registry import Segment, Segmentation, Segmenter, registry

__all__ = ["Segment", "Segmentation", "Segmenter", "registry"]
