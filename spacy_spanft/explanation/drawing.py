"""Explanations for the terminal, as a page, and as JSON."""

import json
from collections.abc import Iterable
from html import escape
from typing import Any, NamedTuple

from spacy.tokens import Doc

from ..errors.shortening import shown
from ..errors.visible import LAYOUT, visible
from ..util.page import marked_page
from .candidates import SpanExplanation
from .entities import EntityExplanation
from .explanation import Explanation, Part, Reasons

AnyExplanation = Explanation | EntityExplanation | SpanExplanation

# What speaks for a label, and what against it, both from weak to strong.
_FOR = ("#e7f4e8", "#c3e6c7", "#93d29c", "#5fb96d")
_AGAINST = ("#fbe9e7", "#f6cbc4", "#ee9f94", "#e27164")
_N_SHOWN = 12
_TITLE = "What speaks for each label"


def to_terminal(
    explanation: AnyExplanation, found: list[Reasons], with_text: bool = False
) -> str:
    """List what adds up to scores, the largest first.

    explanation (Union[Explanation, EntityExplanation, SpanExplanation]): The text.
    found (list[Reasons]): What speaks for its label, or for those of its spans.
    with_text (bool): Whether the text stands before them, as there are others.
    RETURNS (str): Lines.
    """
    if not found:
        return _nothing(explanation)
    text = [shown(explanation.doc.text)] if with_text else []
    return "\n\n".join([*text, *map(_list, found)])


def _list(reasons: Reasons) -> str:
    named = [(text, x) for text, x in _named_parts(reasons) if text]
    named.sort(key=lambda pair: -abs(pair[1]))
    listed, rest = named[:_N_SHOWN], named[_N_SHOWN:]
    listed += [(f"({len(rest)} more)", sum(x for _, x in rest))] if rest else []
    listed += [(f"({name})", added) for name, added in _rest(reasons)]
    lines = [f"{visible(_title(reasons))}: {signed(reasons.total)}"]
    lines += [
        f"  {signed(added):>7}  {visible(text, LAYOUT)}" for text, added in listed
    ]
    return "\n".join(lines)


class Marked(NamedTuple):
    """A text with what marks it.

    text (str): The text.
    title (str): What it shows.
    marks (list[tuple[int, int, float]]): Start, end and what that part adds.
    """

    text: str
    title: str
    marks: list[tuple[int, int, float]]


def marked(explanation: AnyExplanation, found: list[Reasons]) -> list[Marked]:
    """Mark a text once for each label that is explained.

    explanation (Union[Explanation, EntityExplanation, SpanExplanation]): The text.
    found (list[Reasons]): What speaks for its label, or for those of its spans.
    RETURNS (list[Marked]): What a page shows of it.
    """
    doc = explanation.doc
    if not found:
        return [Marked(doc.text, _nothing(explanation), [])]
    blocks = []
    for reasons in found:
        rest = ", ".join(f"{name} {signed(added)}" for name, added in _rest(reasons))
        title = f"{_title(reasons)}: {signed(reasons.total)}; {rest}"
        marks = [
            (*_place(doc, part).values(), added)
            for part, added in reasons.parts
            if part.text
        ]
        blocks.append(Marked(doc.text, title, marks))
    return blocks


def to_html(blocks: Iterable[Marked]) -> str:
    """Make a page with displaCy: green speaks for the label, red against it.

    All of it has one scale: as much is as dark in each text.

    blocks (Iterable[Marked]): What it shows.
    RETURNS (str): The page.
    """
    blocks = list(blocks)
    highest = max((abs(x) for one in blocks for *_, x in one.marks), default=0)
    pages: list[dict[str, Any]] = []
    colors: dict[str, str] = {}
    for text, title, marks in blocks:
        ents = []
        for start, end, added in marks:
            if (label := signed(added)) != signed(0.0):
                colors[label] = _shade(float(label), highest)
                ents.append({"start": start, "end": end, "label": label})
        # displaCy writes titles, unlike texts, into the page as they are.
        pages.append({"text": text, "ents": ents, "title": escape(title)})
    page = marked_page(pages, colors)
    return page.replace("<title>displaCy</title>", f"<title>{_TITLE}</title>", 1)


def signed(value: float) -> str:
    """Write a number with its sign, and 0 always alike."""
    return f"{round(value, 2) + 0.0:+.2f}"


def to_json(explanation: AnyExplanation, found: list[Reasons]) -> str:
    """Write an explanation as one line of JSON.

    explanation (Union[Explanation, EntityExplanation, SpanExplanation]): The text.
    found (list[Reasons]): What speaks for its label, or for those of its spans.
    RETURNS (str): The JSON.
    """
    doc = explanation.doc
    values: dict[str, Any] = {"text": doc.text}
    if isinstance(explanation, Explanation):
        for reasons in found:
            values |= _of_text(reasons) | {"parts": _parts(doc, reasons)}
    else:
        values["spans"] = [
            _of_span(doc, reasons.span, reasons) for reasons in found if reasons.span
        ]
    return json.dumps(values, ensure_ascii=False)


def _of_text(reasons: Reasons) -> dict[str, Any]:
    return {
        "label": reasons.label,
        "against": reasons.against,
        "logit": reasons.total,
        "prediction": reasons.prediction,
        "whole_text": reasons.whole_text,
        "similarity": reasons.similarity,
        "others": _of_others(reasons),
        "bias": reasons.bias,
    }


def _of_span(doc: Doc, span: Part, reasons: Reasons) -> dict[str, Any]:
    place = _place(doc, span) | {"text": span.text}
    of_text = _of_text(reasons)
    kept = {name: of_text[name] for name in ("label", "against", "logit", "bias")}
    return place | kept | {"parts": _parts(doc, reasons)}


def _parts(doc: Doc, reasons: Reasons) -> list[dict[str, Any]]:
    rows = [
        {**_place(doc, part), "text": part.text, "added": added}
        for part, added in reasons.parts
    ]
    if reasons.own is not None:
        pairs = zip(rows, reasons.own, strict=True)
        rows = [row | {"own": own} for row, own in pairs]
    return [row for row in rows if row["text"]]


def _title(reasons: Reasons) -> str:
    of_span = "" if reasons.span is None else f"{reasons.span.text}: "
    predicted = "" if reasons.prediction is None else f" {reasons.prediction:.2f}"
    name = f"{of_span}{reasons.label}{predicted}"
    if reasons.against is None:
        return f"{name} (logit)"
    return f"{name}, not {reasons.against} (difference of logits)"


def _nothing(explanation: AnyExplanation) -> str:
    """Say that a text has nothing to explain."""
    if not len(explanation.doc):
        return f"No text in {shown(explanation.doc.text)}"
    is_ner = isinstance(explanation, EntityExplanation)
    kind = "entities" if is_ner else "spans"
    return f"No {kind} found in {shown(explanation.doc.text)}"


def _named_parts(reasons: Reasons) -> list[tuple[str, float]]:
    """Name the parts, and say of tokens what they add as neighbors of others."""
    parts = [(part.text, added) for part, added in reasons.parts]
    if reasons.own is None:
        return parts
    return [
        (f"{text}{_as_neighbor(own, added)}", added)
        for (text, added), own in zip(parts, reasons.own, strict=True)
    ]


def _as_neighbor(own: float, added: float) -> str:
    if own == added:
        return ""
    return f"  (own {signed(own)}, as a neighbor {signed(added - own)})"


def _rest(reasons: Reasons) -> list[tuple[str, float]]:
    """Say what is added besides by tokens and spans."""
    rest = [("the whole text", reasons.whole_text)] if reasons.whole_text else []
    rest += (
        [("the pair's similarity", reasons.similarity)] if reasons.similarity else []
    )
    if any(not part.text for part, _ in reasons.parts):
        rest += [("other wordpieces", _of_others(reasons))]
    return [*rest, ("bias", reasons.bias)]


def _of_others(reasons: Reasons) -> float:
    """Add up what the tokenizer's own wordpieces add: [CLS] and [SEP] as pieces."""
    return sum(added for part, added in reasons.parts if not part.text)


def _place(doc: Doc, part: Part) -> dict[str, Any]:
    span = doc[part.start : part.end]
    return {"start": span.start_char, "end": span.end_char}


def _shade(added: float, highest: float) -> str:
    shades = _FOR if added > 0 else _AGAINST
    return shades[min(int(abs(added) / highest * len(shades)), len(shades) - 1)]
