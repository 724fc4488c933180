"""Dictionaries for the tests: random ones, and counts of a few lines."""

from hypothesis import strategies as st

from spacy_spanft import NgramDictionary

words = st.text(st.sampled_from("ab1é\u05d0🙂'\"-#"), min_size=1, max_size=4)
ngrams = st.lists(words, min_size=2, max_size=5).map(" ".join)
dictionaries = st.builds(
    NgramDictionary,
    st.dictionaries(ngrams, st.integers(1, 10**12), max_size=20),
    words=st.dictionaries(words, st.integers(1, 10**12), max_size=20),
    attr=st.sampled_from(["LOWER", "ORTH"]),
)


def counted(text, **settings):
    """Count the n-grams of the lines of a text."""
    return NgramDictionary.from_texts(text.split("\n"), **{"min_count": 1, **settings})
