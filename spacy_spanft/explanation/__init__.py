"""Which phrases decided: predictions traced to the spans that made them."""

from .explain import explain, explain_pipe
from .explanation import Explanation, Part, Reasons

__all__ = ["Explanation", "Part", "Reasons", "explain", "explain_pipe"]
