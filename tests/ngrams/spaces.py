"""A tokenizer that is none of spaCy's, in a file that workers import in a moment."""

from types import SimpleNamespace


class Spaces:
    """Splits whole lines, or fails."""

    def __init__(self, fails=False):
        self.fails = fails

    def __call__(self, text):
        if self.fails:
            raise ZeroDivisionError
        return [SimpleNamespace(text=word) for word in text.split()]
