"""Cut Docs for the terminal, as a page, and as JSON."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from spacy.tokens import Doc
from wasabi.util import color

from ..errors import counted, visible
from ..explanation.display import marked_page

_LAYOUT = "\n\t"  # what may stay in a text of several lines
# Two shades that black reads well on, taken in turns so that neighbors differ.
_TERMINAL_COLORS = (153, 223)
_PAGE_COLORS = ("#dbe4f0", "#c9e4de", "#f7d9c4", "#e2cfea", "#faedcb")


class Tally:
    """Counts the texts and spans that pass by."""

    def __init__(self) -> None:
        """Begin at zero."""
        self.n_texts = 0
        self.n_spans = 0
        self.n_pieces = 0

    def watch(self, docs: Iterable[Doc], key: str) -> Iterator[Doc]:
        """Count the spans of Docs as they pass, with their key in doc.spans."""
        for doc in docs:
            spans = [span for span in doc.spans[key] if len(span) > 1]
            self.n_texts += 1
            self.n_spans += len(spans)
            self.n_pieces += len(doc) - sum(map(len, spans)) + len(spans)
            yield doc

    def __str__(self) -> str:
        n_texts = max(1, self.n_texts)
        return (
            f"{counted(self.n_texts, 'text')}, on average {self.n_spans / n_texts:.1f} "
            f"spans of two words or more each ({self.n_pieces / n_texts:.1f} with the "
            "single words)"
        )


def to_terminal(doc: Doc, key: str) -> str:
    """Mark the spans of a text in color, or with brackets where there is no color.

    key (str): The key in doc.spans.
    RETURNS (str): The text with its marks.
    """
    has_color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    parts = []
    after = 0
    for index, span in enumerate(doc.spans[key]):
        parts.append(visible(doc.text[after : span.start_char], _LAYOUT))
        shade = _TERMINAL_COLORS[index % 2]
        text = visible(span.text, _LAYOUT)
        marked = color(text, fg=16, bg=shade) if has_color else f"[{text}]"
        parts.append(marked)
        after = span.end_char
    return "".join([*parts, visible(doc.text[after:], _LAYOUT)])


def to_json(doc: Doc, key: str) -> str:
    """Write a Doc and its spans, with their key in doc.spans, as one line of JSON."""
    spans = [
        {
            "start": span.start,
            "end": span.end,
            "start_char": span.start_char,
            "end_char": span.end_char,
            "text": span.text,
            "label": span.label_,
        }
        for span in doc.spans[key]
    ]
    return json.dumps({"text": doc.text, "spans": spans}, ensure_ascii=False)


def to_html(docs: Iterable[Doc], key: str) -> str:
    """Make a page with displaCy. A span's label is that of the chunker, or its length.

    key (str): The key in doc.spans.
    RETURNS (str): The page.
    """
    pages: list[dict[str, Any]] = [
        {
            "text": doc.text,
            "ents": [
                # displaCy writes labels, unlike texts, into the page as they are.
                {
                    "start": span.start_char,
                    "end": span.end_char,
                    "label": escape(span.label_ or str(len(span))),
                }
                for span in doc.spans[key]
            ],
        }
        for doc in docs
    ]
    labels = sorted({span["label"] for page in pages for span in page["ents"]})
    colors = {x: _PAGE_COLORS[i % len(_PAGE_COLORS)] for i, x in enumerate(labels)}
    return marked_page(pages, colors)
