"""What init says of the time that a training takes."""

import pytest

from spacy_spanft.configs import timing


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(3, "10 seconds"), (74, "70 seconds"), (130, "2 minutes"), (9000, "2.5 hours")],
)
def test_times_are_rounded(seconds, words):
    assert timing.duration(seconds) == words
