"""Why a pipeline predicts a label: its logit as a sum of what each part adds."""

from .explainers import Phrase, explain, explain_pipe, phrases
from .explanation import Contributions, Explanation, Part, Reasons

__all__ = ["Contributions", "Explanation", "Part", "Phrase", "Reasons"]
__all__ += ["explain", "explain_pipe", "phrases"]
