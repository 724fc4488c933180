"""The messages of errors: each has a name of its own, and gaps that can be filled."""

from spacy_spanft.errors import Errors


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
