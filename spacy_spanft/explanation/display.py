"""Explanations for the terminal, as a page, and as JSON."""

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from spacy import displacy
from spacy.tokens import Doc

from ..errors import shown, visible
from .explanation import Explanation, Part, Reasons

_LAYOUT = "\n\t"  # what may stay in a text of several lines
# What speaks for a label, and what against it, both from weak to strong.
_FOR = ("#e7f4e8", "#c3e6c7", "#93d29c", "#5fb96d")
_AGAINST = ("#fbe9e7", "#f6cbc4", "#ee9f94", "#e27164")


def to_terminal(
    explanation: Explanation, reasons: Sequence[Reasons], with_text: bool = False
) -> str:
    """List what adds up to each score, what adds or takes most first.

    with_text (bool): Whether the text comes before them.
    """
    if not reasons:
        return _nothing(explanation)
    text = [shown(explanation.doc.text)] if with_text else []
    return "\n\n".join([*text, *map(_list, reasons)])


def _list(reasons: Reasons) -> str:
    rows = [(part.text, added) for part, added in reasons.parts if part.text]
    rows.sort(key=lambda row: -abs(row[1]))
    rows += [(f"({name})", added) for name, added in _sums(reasons)]
    shown_rows = ((added, visible(text, _LAYOUT)) for text, added in rows)
    lines = [f"  {signed(added):>7}  {text}" for added, text in shown_rows]
    return "\n".join([visible(_title(reasons)), *lines])


def to_html(explained: Iterable[tuple[Explanation, Sequence[Reasons]]]) -> str:
    """Make a page with displaCy: green speaks for a label, red against it.

    What adds as much has the same shade in all texts.

    explained (Iterable[tuple[Explanation, Sequence[Reasons]]]): The texts, and what
        speaks for their labels: a block for each label.
    RETURNS (str): The page.
    """
    blocks: list[dict[str, Any]] = []
    sizes: set[str] = set()
    for explanation, reasons in explained:
        text = explanation.doc.text
        if not reasons:
            blocks.append({"text": text, "ents": [], "title": _nothing(explanation)})
        for one in reasons:
            sums = ", ".join(f"{name} {signed(added)}" for name, added in _sums(one))
            marks = [
                place | {"label": label}
                for place, added in _places(explanation.doc, one)
                if (label := signed(added)) != signed(0.0)
            ]
            sizes |= {mark["label"] for mark in marks}
            title = f"{_title(one)}; {sums}"
            blocks.append({"text": text, "ents": marks, "title": title})
    for block in blocks:  # displaCy escapes texts alone
        block["title"] = escape(block["title"])
    highest = max((abs(float(size)) for size in sizes), default=0.0)
    page = marked_page(blocks, {size: _shade(float(size), highest) for size in sizes})
    return page.replace("<title>displaCy", "<title>What speaks for each label", 1)


def to_json(explanation: Explanation, reasons: Sequence[Reasons]) -> str:
    """Write an explanation as one line of JSON."""
    rows = [_as_dict(explanation.doc, one) for one in reasons]
    values: dict[str, Any] = {"spans": rows}
    if explanation.spans is None:
        values = next(iter(rows), {})
    return json.dumps({"text": explanation.doc.text, **values}, ensure_ascii=False)


def _as_dict(doc: Doc, reasons: Reasons) -> dict[str, Any]:
    values = {
        "label": reasons.label,
        "against": reasons.against,
        "logit": reasons.total,
        "parts": [{**place, "added": added} for place, added in _places(doc, reasons)],
        "bias": reasons.bias,
    }
    if reasons.span is not None:
        return _place(doc, reasons.span) | values
    return values | {
        "prediction": reasons.prediction,
        "whole_text": reasons.whole_text,
        "similarity": reasons.similarity,
        "others": _others(reasons),
    }


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
    sums = {
        "the whole text": reasons.whole_text,
        "the pair's similarity": reasons.similarity,
        "other wordpieces": _others(reasons),
    }
    return [*((name, x) for name, x in sums.items() if x), ("bias", reasons.bias)]


def _others(reasons: Reasons) -> float:
    """Add up what the tokenizer's own wordpieces add: [CLS] and [SEP] as pieces."""
    return sum(added for part, added in reasons.parts if not part.text)


def _places(doc: Doc, reasons: Reasons) -> list[tuple[dict[str, Any], float]]:
    return [(_place(doc, part), x) for part, x in reasons.parts if part.text]


def _place(doc: Doc, part: Part) -> dict[str, Any]:
    span = doc[part.start : part.end]
    return {"start": span.start_char, "end": span.end_char, "text": part.text}


def _shade(added: float, highest: float) -> str:
    shades = _FOR if added > 0 else _AGAINST
    return shades[min(int(abs(added) / highest * len(shades)), len(shades) - 1)]


def marked_page(texts: Sequence[dict[str, Any]], colors: Mapping[str, str]) -> str:
    """Make a page.

    texts (Sequence[dict[str, Any]]): Texts as displaCy takes them: "text", and "ents"
        of "start", "end" and "label"; also "title". Labels and titles are written into
        the page as they are.
    colors (Mapping[str, str]): The color of each label.
    RETURNS (str): The page.
    """
    options = {"colors": colors}
    page: Any = displacy.render(
        texts, style="ent", manual=True, page=True, options=options, jupyter=False
    )
    # A browser would have to guess how a file is encoded.
    return str(page).replace("<head>", '<head>\n        <meta charset="utf-8">', 1)
