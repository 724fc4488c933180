"""Cut Docs for the terminal, as a page, and as JSON."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from spacy.tokens import Doc
from wasabi.util import color

from ..errors.visible import LAYOUT, visible
from ..util.page import marked_page

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
        """Pass Docs on, and count.

        key (str): The key in doc.spans.
        YIELDS (Doc): The same Docs.
        """
        for doc in docs:
            spans = [span for span in doc.spans[key] if len(span) > 1]
            self.n_texts += 1
            self.n_spans += len(spans)
            self.n_pieces += len(doc) - sum(map(len, spans)) + len(spans)
            yield doc

    def __str__(self) -> str:
        texts = f"{self.n_texts:,} text{'s' if self.n_texts != 1 else ''}"
        spans, pieces = (
            n / max(1, self.n_texts) for n in (self.n_spans, self.n_pieces)
        )
        return (
            f"{texts}, on average {spans:.1f} spans of two words or more each "
            f"({pieces:.1f} with the single words)"
        )


def to_terminal(doc: Doc, key: str) -> str:
    """Show the spans in color, or in brackets where there is no color.

    key (str): The key in doc.spans.
    RETURNS (str): The text, with the spans in it marked.
    """
    has_color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    parts = []
    after = 0
    for index, span in enumerate(doc.spans[key]):
        parts.append(visible(doc.text[after : span.start_char], LAYOUT))
        shade = _TERMINAL_COLORS[index % 2]
        text = visible(span.text, LAYOUT)
        marked = color(text, fg=16, bg=shade) if has_color else f"[{text}]"
        parts.append(marked)
        after = span.end_char
    return "".join([*parts, visible(doc.text[after:], LAYOUT)])


def to_json(doc: Doc, key: str) -> str:
    """Write a Doc and its spans as one line of JSON.

    key (str): The key in doc.spans.
    RETURNS (str): The JSON.
    """
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
    pages: list[dict[str, Any]] = []
    labels: set[str] = set()
    for doc in docs:
        spans = []
        for span in doc.spans[key]:
            # displaCy writes labels, unlike texts, into the page as they are.
            label = escape(span.label_ or str(len(span)))
            labels.add(label)
            place = {"start": span.start_char, "end": span.end_char, "label": label}
            spans.append(place)
        pages.append({"text": doc.text, "ents": spans})
    colors = {
        label: _PAGE_COLORS[i % len(_PAGE_COLORS)]
        for i, label in enumerate(sorted(labels))
    }
    return marked_page(pages, colors)
