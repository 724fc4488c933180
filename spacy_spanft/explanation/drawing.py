"""Explanations for the terminal, as a page, and as JSON."""

import json
from collections.abc import Iterable
from html import escape
from typing import Any

from spacy import displacy

from ..errors.visible import LAYOUT, visible
from .explanation import Explanation, Part, Reasons

# What speaks for a label, and what against it, both from weak to strong.
_FOR = ("#e7f4e8", "#c3e6c7", "#93d29c", "#5fb96d")
_AGAINST = ("#fbe9e7", "#f6cbc4", "#ee9f94", "#e27164")
_N_SHOWN = 12


def to_terminal(reasons: Reasons) -> str:
    """List what adds up to a score, the largest first.

    reasons (Reasons): What speaks for a label.
    RETURNS (str): Lines.
    """
    named = [(part.text, added) for part, added in reasons.parts if part.text]
    named.sort(key=lambda pair: -abs(pair[1]))
    shown, rest = named[:_N_SHOWN], named[_N_SHOWN:]
    shown += [(f"({len(rest)} more)", sum(x for _, x in rest))] if rest else []
    shown += [("(the whole text)", reasons.cls)] if reasons.cls else []
    shown += [("(the pair's similarity)", reasons.match)] if reasons.match else []
    shown += [("(other wordpieces)", _of_others(reasons)), ("(bias)", reasons.bias)]
    lines = [f"{visible(_title(reasons))}: {reasons.total:+.2f}"]
    lines += [f"  {added:+7.2f}  {visible(text, LAYOUT)}" for text, added in shown]
    return "\n".join(lines)


def to_html(explained: Iterable[tuple[Explanation, Reasons]]) -> str:
    """Make a page with displaCy: green speaks for the label, red against it.

    explained (Iterable[tuple[Explanation, Reasons]]): The texts.
    RETURNS (str): The page.
    """
    pages: list[dict[str, Any]] = []
    colors: dict[str, str] = {}
    for explanation, reasons in explained:
        highest = max((abs(x) for part, x in reasons.parts if part.text), default=0)
        marks = []
        for part, added in reasons.parts:
            if part.text and (label := f"{added:+.2f}").strip("+-0."):
                colors[label] = _shade(added, highest)
                marks.append(_place(explanation, part) | {"label": label})
        match = f"the pair's similarity {reasons.match:+.2f}, " if reasons.match else ""
        rest = (
            f"the whole text {reasons.cls:+.2f}, {match}other wordpieces "
            f"{_of_others(reasons):+.2f}, bias {reasons.bias:+.2f}"
        )
        title = f"{_title(reasons)}: {reasons.total:+.2f}; {rest}"
        # displaCy writes titles, unlike texts, into the page as they are.
        text = explanation.doc.text
        pages.append({"text": text, "ents": marks, "title": escape(title)})
    options = {"colors": colors}
    page = displacy.render(
        pages, style="ent", manual=True, page=True, options=options, jupyter=False
    )
    return str(page)


def to_json(explanation: Explanation, reasons: Reasons) -> str:
    """Write an explanation as one line of JSON.

    reasons (Reasons): What speaks for the label that was asked for.
    RETURNS (str): The JSON.
    """
    parts = [
        _place(explanation, part) | {"text": part.text, "added": added}
        for part, added in reasons.parts
        if part.text
    ]
    values = {
        "text": explanation.doc.text,
        "label": reasons.label,
        "against": reasons.against,
        "logit": reasons.total,
        "whole_text": reasons.cls,
        "similarity": reasons.match,
        "others": _of_others(reasons),
        "bias": reasons.bias,
        "parts": parts,
    }
    return json.dumps(values, ensure_ascii=False)


def _title(reasons: Reasons) -> str:
    if reasons.against is None:
        return f"{reasons.label} (logit)"
    return f"{reasons.label}, not {reasons.against} (difference of logits)"


def _of_others(reasons: Reasons) -> float:
    """Add up what the tokenizer's own wordpieces add: [CLS] and [SEP] as pieces."""
    return sum(added for part, added in reasons.parts if not part.text)


def _place(explanation: Explanation, part: Part) -> dict[str, Any]:
    span = explanation.doc[part.start : part.end]
    return {"start": span.start_char, "end": span.end_char}


def _shade(added: float, highest: float) -> str:
    shades = _FOR if added > 0 else _AGAINST
    return shades[min(int(abs(added) / highest * len(shades)), len(shades) - 1)]
