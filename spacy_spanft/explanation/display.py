"""Explanations for the terminal, as a page, and as JSON."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from spacy.tokens import Doc

from ..errors import LAYOUT, shown, visible
from .explanation import Explanation, Part, Reasons

# What a text is cut into, with the "start", "end" and more of the mark of each.
Pieces = list[tuple[str, dict[str, Any]]]


def to_terminal(explanation: Explanation, reasons: Sequence[Reasons]) -> str:
    """List the text, and what adds up to each score, what adds or takes most first."""
    if not reasons:
        return _nothing(explanation)
    blocks = [shown(explanation.doc.text)]
    for reason in reasons:
        rows = [
            f"  {signed(x):>7}  {visible(name, LAYOUT)}" for name, x in _rows(reason)
        ]
        blocks.append("\n".join([visible(_title(reason)), *rows, *_remarks(reason)]))
    return "\n\n".join(blocks)


def to_html(explained: Iterable[tuple[Explanation, Sequence[Reasons]]]) -> str:
    """Return a page with a bar of all shares for each text and each of its reasons."""
    blocks: list[dict[str, Any]] = []
    for explanation, reasons in explained:
        text = {"text": explanation.doc.text}
        if not reasons:
            blocks.append(text | {"marks": [], "title": _nothing(explanation)})
        for reason in reasons:
            rows, marks = _rows(reason), _parts(explanation.doc, reason)
            block = text | {"title": _title(reason), "marks": marks, "shares": rows}
            blocks.append(block | {"remarks": _remarks(reason)})
    return marked_page("What speaks for each label", blocks)


def marked_page(title: str, blocks: Sequence[dict[str, Any]]) -> str:
    """Return a page of texts whose parts are marked.

    blocks (Sequence[dict[str, Any]]): "text", and "marks" of "start", "end", and
        "added" or a "label"; perhaps "title", "remarks", and the "shares" of a bar.
    """
    added = [abs(mark.get("added", 0)) for block in blocks for mark in block["marks"]]
    return render(
        Path(__file__).with_name("explanation.html.jinja"),
        title=title,
        blocks=[
            block | {"pieces": pieces_of(block["text"], block["marks"])}
            for block in blocks
        ],
        highest=max(added, default=0.0) or 1.0,
        signed=signed,
    )


def render(template: Path, **values: Any) -> str:
    """Fill in a template of a page, with all values escaped."""
    from jinja2 import StrictUndefined, Template

    return Template(
        template.read_text("utf8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    ).render(values)


def to_json(explanation: Explanation, reasons: Sequence[Reasons]) -> str:
    """Write an explanation as one line of JSON: what is added, and the bias, add up."""
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
    is_text = explanation.spans is None or not len(explanation.doc)
    missing = "text" if is_text else "entities or spans"
    return f"No {missing} in {shown(explanation.doc.text)}"


def _rows(reasons: Reasons) -> list[tuple[str, float]]:
    """Return the shares, the largest first, and the bias; they add up to the total."""
    rows = [(part.text, share) for part, share in reasons.shares]
    return [*sorted(rows, key=lambda row: -abs(row[1])), ("(bias)", reasons.bias)]


def _remarks(reasons: Reasons) -> list[str]:
    """Return how much of the shares is exact, and how much of what was spread."""
    sums = {
        "the whole text": reasons.whole_text,
        "the pair's similarity": reasons.similarity,
        "special tokens": reasons.others,
    }
    rest = [f"{signed(added)} of {name}" for name, added in sums.items() if added]
    if not rest:
        return []
    exact = reasons.total - reasons.bias - sum(sums.values())
    estimated = f"Estimated by deleting each part: {', '.join(rest)}."
    return [f"Exact: {signed(exact)}. {estimated}"]


def _parts(doc: Doc, reasons: Reasons) -> list[dict[str, Any]]:
    """Return the shares, and how much of each was spread."""
    return [
        _offsets(doc, part) | {"added": added + more, "spread": more}
        for (part, added), more in zip(reasons.parts, reasons.spread, strict=True)
        if part.text
    ]


def _offsets(doc: Doc, part: Part) -> dict[str, Any]:
    span = doc[part.start : part.end]
    return {"start": span.start_char, "end": span.end_char, "text": part.text}


def pieces_of(text: str, marks: Sequence[dict[str, Any]]) -> Pieces:
    """Cut a text into marked and other pieces, the latter with an empty mark."""
    pieces: Pieces = []
    after = 0
    for mark in sorted(marks, key=lambda mark: int(mark["start"])):
        start, end = max(after, mark["start"]), max(after, mark["end"])
        pieces += [(text[after:start], {}), (text[start:end], mark)]
        after = end
    return [*pieces, (text[after:], {})]
