"""A page of texts with marks, by displaCy."""

from collections.abc import Mapping, Sequence
from typing import Any

from spacy import displacy


def marked_page(texts: Sequence[dict[str, Any]], colors: Mapping[str, str]) -> str:
    """Make a page.

    texts (Sequence[dict[str, Any]]): Texts as displaCy takes them: "text", and "ents"
        of "start", "end" and "label"; also "title". Labels and titles are written into
        the page as they are.
    colors (Mapping[str, str]): The color of each label.
    RETURNS (str): The page.
    """
    options = {"colors": colors}
    shown: Any = displacy.render(
        texts, style="ent", manual=True, page=True, options=options, jupyter=False
    )
    # A browser would have to guess how a file is encoded.
    return str(shown).replace("<head>", '<head>\n        <meta charset="utf-8">', 1)
