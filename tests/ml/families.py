"""What every encoder is tried with, and a plain loop that says what it must find."""

import numpy as np

# An empty Doc among others, space that is a token, unknown characters, capital letters.
DOCS = [
    "New York is not a very good city.",
    "the  film \n was unbelievable",
    "",
    "\u6771 \U0001f600 in the united states",
    "  un\u00fcbelievable, caf\u00e9! ",
]
PAIRS = [
    ("New York is a city.", "it is not  bad"),
    *(("", "good"), ("bad", ""), (" new york", "walking  ")),
    ("\u6771 film", " \U0001f600 "),
    ("very bad city " * 9, "very good film " * 8),
]


def expected_rows(text, offsets, token):
    """Return the wordpieces with characters of a token, or of only space behind it."""
    start, end = token.idx, token.idx + len(token)
    actual = []
    for i, (a, b) in enumerate(offsets):
        is_space = text[a:b].isspace()
        inside = text[max(a, start) : max(start, min(b, end + is_space))]
        if inside.strip() or (inside and is_space):
            actual.append(i)
    return actual


def assert_aligned(doc, text, offsets, encoding):
    assert len(encoding.n_rows) == len(doc)
    assert len(doc) or not len(encoding.rows)
    rows_of_tokens = np.split(encoding.rows, np.cumsum(encoding.n_rows)[:-1])
    for token, rows in zip(doc, rows_of_tokens, strict=False):
        expected = expected_rows(text, offsets, token)
        assert rows.tolist() == expected, token
        assert expected or token.is_space, token
