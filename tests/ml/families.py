"""What every encoder is tried with, and a plain loop that says what it must find.

DOCS has what breaks alignments: an empty Doc in the middle of the batch, white space
that is a token, characters that no vocabulary holds, and capital letters.
"""

DOCS = [
    "New York is not a very good city.",
    "the  film \n was unbelievable",
    "",
    "\u6771 \U0001f600 in the united states",
    "  un\u00fcbelievable, caf\u00e9! ",
]
PAIRS = [
    ("New York is a city.", "it is not  bad"),
    ("", "good"),
    ("\u6771 film", " \U0001f600 "),
    ("very bad city " * 9, "very good film " * 8),
]


def expected_rows(text, offsets, token, begin=0):
    """Give the wordpieces with characters of a token, or of nothing but space behind.

    begin (int): Where the text, in which the offsets count, begins in the Doc.
    """
    start, end = token.idx - begin, token.idx - begin + len(token)
    actual = []
    for i, (a, b) in enumerate(offsets):
        is_space = text[a:b].isspace()
        inside = text[max(a, start) : max(start, min(b, end + is_space))]
        if inside.strip() or (inside and is_space):
            actual.append(i)
    return actual
