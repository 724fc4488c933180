"""The `@segmenters` registry, beside spaCy's own."""

from typing import Any

import catalogue
from spacy.util import registry as spacy_registry

registry: Any = spacy_registry

if not hasattr(registry, "segmenters"):
    registry.segmenters = catalogue.create("spacy", "segmenters", entry_points=True)

__all__ = ["registry"]
