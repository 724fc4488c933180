"""Which phrases decided: predictions traced to the spans that made them."""

from .explain import explain, explain_pipe
from .explanation import Explanation, Part, Reasons
from .phrases import Phrase, phrases

__all__ = [
    "Explanation",
    "Part",
    "Phrase",
    "Reasons",
    "explain",
    "explain_pipe",
    "phrases",
]
