"""What is private of others is there, and does what we rely on."""

import spacy

from spacy_spanft.util import _compat


def test_what_spacy_package_requires_and_writes():
    nlp = spacy.blank("en", meta={"requirements": ["nltk>=3.9"]})
    nlp.add_pipe("span_segmenter")
    required, ours = _compat.third_party_requirements(nlp)
    assert required == "nltk>=3.9"
    assert ours.startswith("spacy-spanft>=")
    assert _compat.readme_of_spacy(nlp.meta).startswith("| Feature |")
