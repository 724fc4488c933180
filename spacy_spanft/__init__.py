"""Span fine-tuning for spaCy.

Everything a pipeline needs is found through entry points, so that
`nlp.add_pipe("span_segmenter")` works without importing this package.
"""

from .about import __version__
from .ngrams.dictionary import NgramDictionary
from .ngrams.provenance import Provenance
from .ngrams.readers import default_dictionary
from .pairs import join_pair, join_pairs

__all__ = [
    "NgramDictionary",
    "Provenance",
    "__version__",
    "default_dictionary",
    "join_pair",
    "join_pairs",
]
