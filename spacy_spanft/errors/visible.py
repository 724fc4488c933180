"""Names and texts of others, as a terminal may show them."""

import re

# What moves the cursor, changes the direction of writing, or cannot be written.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


# What may stay where a text has several lines.
LAYOUT = "\n\t"


def visible(text: str, keep: str = "") -> str:
    r"""Show characters that a terminal would obey, such as ESC, by their numbers.

    text (str): Any text.
    keep (str): Those that stay as they are.
    RETURNS (str): The text, with \x1b in the place of ESC.
    """
    return _HIDDEN.sub(lambda found: _escape(found[0], keep), text)


def _escape(character: str, keep: str) -> str:
    return character if character in keep else ascii(character)[1:-1]
