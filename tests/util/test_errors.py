"""Values in messages stay short, whatever they are."""

import reprlib

from spacy_spanft.errors import listed, shown


def test_values_are_shown_as_repr_does_until_they_are_long():
    for value in ("it's", 3, None, ["a", 1.5], {"a": ("b",)}, "half \ud800", True):
        assert shown(value) == repr(value)
    long = shown("a" + 1000 * "x" + "b")
    assert (long[:3], long[-2:], len(long)) == ("'ax", "b'", 200)
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    assert shown(deep) == reprlib.repr(deep)
    while deep:  # Python itself cannot free so deep a list
        deep = deep.pop()
    assert len(shown([1000 * "x"] * 1000)) == 200


def test_lists_name_the_first_and_count_the_rest():
    assert listed([]) == "none"
    assert listed({"a": 1, "b": 2}) == "'a', 'b'"
    assert listed(range(2012)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2,002 more"
    assert len(listed([1000 * "x"] * 1000)) < 500
