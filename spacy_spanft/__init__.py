"""Span fine-tuning for spaCy.

Everything a pipeline needs is found through entry points, so that
`nlp.add_pipe("span_segmenter")` works without importing this package.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .util import __version__

if TYPE_CHECKING:
    from .configs.fine_tuning import train as train
    from .explanation.explainers import explain as explain
    from .explanation.explainers import explain_pipe as explain_pipe
    from .ml.pairs import join_pair as join_pair
    from .ml.pairs import join_pairs as join_pairs
    from .ngrams.dictionary import NgramDictionary as NgramDictionary
    from .ngrams.dictionary import default_dictionary as default_dictionary
    from .ngrams.provenance import Provenance as Provenance

_MODULES = {
    "NgramDictionary": "ngrams.dictionary",
    "Provenance": "ngrams.provenance",
    "default_dictionary": "ngrams.dictionary",
    "explain": "explanation.explainers",
    "explain_pipe": "explanation.explainers",
    "join_pair": "ml.pairs",
    "join_pairs": "ml.pairs",
    "train": "configs.fine_tuning",
}
__all__ = ["__version__", *_MODULES]


def __getattr__(name: str) -> Any:
    # All of these import spaCy, and with it PyTorch, which takes seconds: what does not
    # need them begins without.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)
