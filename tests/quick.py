"""What makes each process of the tests quicker, whatever it runs."""

import gc
import sys

import catalogue


def before_imports():
    """Collect no garbage meanwhile, and list the entry points once.

    A registry looks for its own among all of them whenever it is asked.
    """
    gc.disable()
    listed = catalogue.AVAILABLE_ENTRY_POINTS
    if hasattr(listed, "select"):
        by_group = {group: list(listed.select(group=group)) for group in listed.groups}
        catalogue.AVAILABLE_ENTRY_POINTS = by_group


def after_imports():
    """Look for garbage seldom, and not among the million objects that are imported."""
    if "spacy" in sys.modules:
        keep_contractions()
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)
    gc.enable()


def keep_contractions():
    """Leave out most of the 1,347 exceptions of English.

    They take 0.2 seconds with each pipeline that is made, and again as it is loaded.
    """
    from spacy.lang.en import English

    everything = English.Defaults.tokenizer_exceptions
    kept = {text: everything[text] for text in everything if text.endswith("n't")}
    English.Defaults.tokenizer_exceptions = kept
