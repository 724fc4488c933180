"""The `@segmenters` registry, beside spaCy's own."""

import catalogue
from spacy.util import registry

if not hasattr(registry, "segmenters"):
    registry.segmenters = catalogue.create("spacy", "segmenters", entry_points=True)

__all__ = ["registry"]
