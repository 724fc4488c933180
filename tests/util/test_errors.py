"""The messages of errors: each has a name of its own, and gaps that can be filled."""

import reprlib

from spacy_spanft.errors import Errors
from spacy_spanft.errors.codes import CODES, FRAGMENTS, NAMES
from spacy_spanft.errors.shortening import Message, listed, shown


def test_no_name_is_there_twice():
    """Of two messages with the same name, only one could ever be seen."""
    names = [
        name
        for part in Errors.__bases__
        for name in vars(part)
        if not name.startswith("_")
    ]
    assert len(names) > 100
    assert sorted(set(names)) == sorted(names)


def test_each_message_has_a_code():
    names = {name for part in Errors.__bases__ for name in vars(part) if name[0] != "_"}
    assert len(set(NAMES)) == len(NAMES)
    assert names - set(NAMES) == FRAGMENTS
    gone = set(NAMES) - names
    assert not gone, "a code that was taken out would move those after it"
    assert (CODES[NAMES[0]], CODES[NAMES[99]]) == ("SF001", "SF100")
    text = Errors.NO_ROWS.format(source="a.csv")
    assert text == f"[{CODES['NO_ROWS']}] There are no rows in a.csv."
    assert not Errors.BOMB.startswith("[")


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


def test_messages_shorten_what_they_show():
    message = Message("{a!r} and {{}} of {b:,}, {c}")
    assert message.format(a="x", b=1000, c="y") == "'x' and {} of 1,000, y"
    assert len(message.format(a=10**6 * "x", b=1, c=10**6 * "y")) < 750
