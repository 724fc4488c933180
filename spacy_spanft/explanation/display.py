"""Explanations for the terminal, as a page, and as JSON."""

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from spacy import displacy
from spacy.tokens import Doc

from ..errors import LAYOUT, shown, visible
from .explanation import Explanation, Part, Reasons

# What speaks for a label, and what against it, both from weak to strong.
_FOR = ("#e7f4e8", "#c3e6c7", "#93d29c", "#5fb96d")
_AGAINST = ("#fbe9e7", "#f6cbc4", "#ee9f94", "#e27164")


def to_terminal(explanation: Explanation, reasons: Sequence[Reasons]) -> str:
    """List the text, and what adds up to each score, what adds or takes most first."""
    if not reasons:
        return _nothing(explanation)
    blocks = [shown(explanation.doc.text)]
    for reason in reasons:
        rows = [(part.text, added) for part, added in reason.parts if part.text]
        rows.sort(key=lambda row: -abs(row[1]))
        rows += [(f"({name})", added) for name, added in _sums(reason)]
        lines = [f"  {signed(x):>7}  {visible(text, LAYOUT)}" for text, x in rows]
        blocks.append("\n".join([visible(_title(reason)), *lines]))
    return "\n\n".join(blocks)


def to_html(explained: Iterable[tuple[Explanation, Sequence[Reasons]]]) -> str:
    """Make a page with displaCy: green speaks for a label, red against it.

    What adds as much has the same shade in all texts, of which each has a block for
    each of its reasons.
    """
    blocks: list[dict[str, Any]] = []
    for explanation, reasons in explained:
        text = explanation.doc.text
        if not reasons:
            blocks.append(
                {"text": text, "ents": [], "title": escape(_nothing(explanation))}
            )
        for reason in reasons:
            sums = ", ".join(f"{name} {signed(added)}" for name, added in _sums(reason))
            parts = _parts(explanation.doc, reason)
            marks = [part | {"label": signed(part["added"])} for part in parts]
            marks = [mark for mark in marks if mark["label"] != signed(0.0)]
            # displaCy escapes texts alone.
            title = escape(f"{_title(reason)}; {sums}")
            blocks.append({"text": text, "ents": marks, "title": title})
    sizes = {float(mark["label"]) for block in blocks for mark in block["ents"]}
    highest = max(map(abs, sizes), default=0.0)
    page = marked_page(blocks, {signed(size): _shade(size, highest) for size in sizes})
    return page.replace("<title>displaCy", "<title>What speaks for each label", 1)


def to_json(explanation: Explanation, reasons: Sequence[Reasons]) -> str:
    """Write an explanation as one line of JSON."""
    doc, rows = explanation.doc, []
    for reason in reasons:
        named = ("label", "against", "bias", "prediction", "whole_text", "similarity")
        row = {name: getattr(reason, name) for name in (*named, "others")}
        row |= {"logit": reason.total, "parts": _parts(doc, reason)}
        rows.append(row if reason.span is None else row | _offsets(doc, reason.span))
    is_text = explanation.spans is None
    values = next(iter(rows), {}) if is_text else {"spans": rows}
    return json.dumps({"text": doc.text, **values}, ensure_ascii=False)


def signed(value: float) -> str:
    """Write a number with its sign, and every zero alike."""
    return f"{round(value, 2) + 0.0:+.2f}"


def _title(reasons: Reasons) -> str:
    name = reasons.label
    if reasons.span is not None:
        name = f"{reasons.span.text}: {name}"
    if reasons.prediction is not None:
        name += f" {reasons.prediction:.2f}"
    kind = " (logit)"
    if reasons.against is not None:
        kind = f", not {reasons.against} (difference of logits)"
    return f"{name}{kind}: {signed(reasons.total)}"


def _nothing(explanation: Explanation) -> str:
    missing = "entities or spans" if len(explanation.doc) else "text"
    return f"No {missing} in {shown(explanation.doc.text)}"


def _sums(reasons: Reasons) -> list[tuple[str, float]]:
    """Name what is added besides by tokens and spans."""
    sums = [
        ("the whole text", reasons.whole_text),
        ("the pair's similarity", reasons.similarity),
        ("other wordpieces", reasons.others),
    ]
    return [*((name, added) for name, added in sums if added), ("bias", reasons.bias)]


def _parts(doc: Doc, reasons: Reasons) -> list[dict[str, Any]]:
    named = [(part, added) for part, added in reasons.parts if part.text]
    return [_offsets(doc, part) | {"added": added} for part, added in named]


def _offsets(doc: Doc, part: Part) -> dict[str, Any]:
    span = doc[part.start : part.end]
    return {"start": span.start_char, "end": span.end_char, "text": part.text}


def _shade(added: float, highest: float) -> str:
    shades = _FOR if added > 0 else _AGAINST
    return shades[min(int(abs(added) / highest * len(shades)), len(shades) - 1)]


def marked_page(texts: Sequence[dict[str, Any]], colors: Mapping[str, str]) -> str:
    """Make a page with displaCy.

    texts (Sequence[dict[str, Any]]): Texts as displaCy takes them: "text", and "ents"
        of "start", "end" and "label"; also "title". Labels and titles are written into
        the page as they are.
    colors (Mapping[str, str]): The color of each label.
    """
    options = {"colors": colors}
    page: Any = displacy.render(
        texts, style="ent", manual=True, page=True, options=options, jupyter=False
    )
    # A browser would have to guess how a file is encoded.
    return str(page).replace("<head>", '<head>\n        <meta charset="utf-8">', 1)
