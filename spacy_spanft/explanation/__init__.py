"""Which phrases decided: predictions traced to the spans that made them."""

from .candidates import SpanExplanation
from .entities import EntityExplanation
from .explain import explain, explain_pipe, text_classifiers
from .explanation import Explanation, Part, Reasons
from .phrases import Phrase, phrases

__all__ = [
    "EntityExplanation",
    "Explanation",
    "Part",
    "Phrase",
    "Reasons",
    "SpanExplanation",
    "explain",
    "explain_pipe",
    "phrases",
    "text_classifiers",
]
