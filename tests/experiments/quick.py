"""What makes hundreds of tiny pipelines quick, and changes nothing of what is tested.

It is for the process of the tests: what they start as a user would is without it.
"""

import catalogue
from spacy.lang.en import English

# Each pipeline goes through all of them, which takes most of the time to make one.
KEPT = [" ", "\n", "\t", "don't", "Don't", "can't", "isn't", "it's", "It's"]


def few_exceptions():
    """Let English have a few of its 1,347 exceptions."""
    exceptions = English.Defaults.tokenizer_exceptions
    English.Defaults.tokenizer_exceptions = {word: exceptions[word] for word in KEPT}


def sort_entry_points():
    """Sort the entry points: a registry looks for its own at every call."""
    entry_points = catalogue.AVAILABLE_ENTRY_POINTS
    catalogue.AVAILABLE_ENTRY_POINTS = {
        group: list(entry_points.select(group=group)) for group in entry_points.groups
    }
