"""Names and texts of others, as a terminal may show them."""

import re

# What moves the cursor, changes the direction of writing, or cannot be written.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Show characters that a terminal would obey, such as ESC, by their numbers.

    text (str): Any text.
    RETURNS (str): One line of text, with \x1b in the place of ESC.
    """
    return _HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
