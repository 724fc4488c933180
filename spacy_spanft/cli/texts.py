"""`python -m spacy spanft segment | explain | phrases`: what read and print texts."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from typer import Option
from wasabi.tables import table

from ..errors import LAYOUT, SpanftError, listed, report, shown, visible
from . import options as opt
from .util import given, report_guess

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

    from ..explanation import Explanation, Phrase

T = TypeVar("T")
_KEY = "ngrams"  # in doc.spans
# spaCy's own limit is there for parsers, which need much memory.
_LONGEST_TEXT = 100_000_000
Segmenter = Literal["ngrams", "random", "entities", "phrases"]
_SEGMENTERS: dict[Segmenter, str] = {
    "ngrams": "spacy-spanft.NgramSegmenter.v1",
    "random": "spacy-spanft.RandomSegmenter.v1",
    "entities": "spacy-spanft.NltkChunkSegmenter.v1",
    "phrases": "spacy-spanft.NltkChunkSegmenter.v1",
}


def segment_cli(
    texts: opt.Texts = None,
    file: opt.File = None,
    text: opt.Text = None,
    dictionary: opt.DictionaryFile = None,
    segmenter: Annotated[Segmenter, Option("--segmenter", "-s", help="Segment with n-grams, at random, or with NLTK's chunkers")] = "ngrams",  # noqa: E501
    lang: opt.Lang = "en",
    errors: opt.BadBytes = "strict",
    encoding: opt.Encoding = "utf-8",
    html: opt.Html = None,
    jsonl: opt.Jsonl = False,
) -> None:  # fmt: skip
    """Segment texts into spans, and show them."""
    from ..util.pipelines import blank

    if dictionary and segmenter != "ngrams":
        raise SpanftError("--dictionary is for the n-gram segmenter. Leave it out.")
    how = {"errors": errors, "encoding": encoding}
    read = _read_texts(texts, file, html, given(text=text), **how)
    nlp = blank(lang)
    nlp.max_length = _LONGEST_TEXT
    block = {"@segmenters": _SEGMENTERS[segmenter]}
    if segmenter in ("entities", "phrases"):
        block["chunker"] = segmenter
    path = None if dictionary is None else str(dictionary)
    config = {"segmenter": block, "spans_key": _KEY, "dictionary": path}
    nlp.add_pipe("span_segmenter", config=config)
    _show(nlp.pipe(read), html, jsonl, in_brackets, _in_json, on_page)


def explain_cli(
    model: opt.Model,
    texts: opt.Texts = None,
    file: opt.File = None,
    text: opt.Text = None,
    text_pair: opt.TextPair = None,
    label: Annotated[str | None, Option("--label", "-l", help="The label to explain, instead of the predicted ones")] = None,  # noqa: E501
    against: Annotated[str | None, Option("--against", "-a", help="The label to compare it with, instead of the second best")] = None,  # noqa: E501
    component: opt.Component = None,
    gpu_id: opt.GpuId = -1,
    errors: opt.BadBytes = "strict",
    encoding: opt.Encoding = "utf-8",
    html: opt.Html = None,
    jsonl: opt.Jsonl = False,
) -> None:  # fmt: skip
    """Explain a prediction by the phrases of the text.

    A label's, entity's or span's score is a sum of what each part adds.
    """
    report(f"ℹ Loading {model}")
    from ..explanation.display import to_html, to_json, to_terminal

    typed = given(text=text, text_pair=text_pair)
    how = {"errors": errors, "encoding": encoding}
    read = _read_texts(texts, file, html, typed, model, **how)
    explained = _explained(model, gpu_id, read, component)
    _show(
        ((text, text.reasons(label, against)) for text in explained),
        html,
        jsonl,
        lambda pair: to_terminal(*pair) + "\n",
        lambda pair: to_json(*pair),
        to_html,
    )


def phrases_cli(
    model: opt.Model,
    texts: opt.Texts = None,
    file: opt.File = None,
    text: opt.Text = None,
    text_pair: opt.TextPair = None,
    label: Annotated[str | None, Option("--label", "-l", help="Only the phrases of this label")] = None,  # noqa: E501
    number: Annotated[int, Option("--number", "-n", min=1, help="The number of phrases to list for each label")] = 10,  # noqa: E501
    min_count: Annotated[int, Option("--min-count", "-m", min=1, help="Leave out phrases that occur less often")] = 3,  # noqa: E501
    component: opt.Component = None,
    gpu_id: opt.GpuId = -1,
    errors: opt.BadBytes = "strict",
    encoding: opt.Encoding = "utf-8",
    jsonl: opt.Jsonl = False,
) -> None:  # fmt: skip
    """List the phrases that speak most for each label."""
    from ..explanation import phrases

    typed = given(text=text, text_pair=text_pair)
    how = {"errors": errors, "encoding": encoding}
    read = _read_texts(texts, file, None, typed, model, **how)
    explained = _explained(model, gpu_id, read, component)
    first = next(explained)
    if label not in (None, *first.labels):  # before all texts are explained
        raise SpanftError(
            f"label is {shown(label)}, but must be one of {listed(first.labels)}."
        )
    of_labels = phrases(chain([first], explained), min_count=min_count)
    for name in of_labels if label is None else [label]:
        best = of_labels[name][:number]
        if not jsonl:
            print(_table(name, best, min_count))
        for phrase in best if jsonl else ():
            print(json.dumps({"label": name, **phrase._asdict()}, ensure_ascii=False))


def _explained(
    model: str, gpu_id: int, texts: Iterable[str], component: str | None
) -> "Iterator[Explanation]":
    """Explain texts, and raise for one that the pipeline would refuse."""
    from ..explanation import explain_pipe
    from ..training.readers.rows import check_length
    from ..util.pipelines import load

    nlp = load(model, gpu_id)
    short = (check_length(nlp, text, f"The text {shown(text)}") for text in texts)
    return explain_pipe(nlp, short, component=component)


def _table(label: str, best: "list[Phrase]", min_count: int) -> str:
    if not best:
        return f"{visible(label)}: no phrase that occurs {min_count} times or more.\n"
    rows = [(f"{added:+.2f}", f"{n:,}", visible(text)) for text, n, added in best]
    header = ("adds", "n", visible(label))
    return table(rows, header=header, divider=True, aligns=("r", "r", "l"))


def _show(
    results: Iterable[T],
    html: Path | None,
    jsonl: bool,
    to_text: Callable[[T], str],
    to_json: Callable[[T], str],
    to_html: Callable[[list[T]], str],
) -> None:
    """Print results one by one; if there is to be a page, JSON alone."""
    from ..util.files import write_whole

    on_page = []
    for result in results:
        if jsonl:
            print(to_json(result))
        elif html is None:
            print(to_text(result))
        if html is not None:
            on_page.append(result)
    if html is not None:
        write_whole(html, to_html(on_page).encode("utf8"))
        report(f"✔ Wrote {html}")


def _read_texts(
    texts: list[str] | None,
    file: str | None,
    page: Path | None,
    typed: dict[str, str],
    model: str | None = None,
    **how: Any,
) -> Iterator[str]:
    """Read texts from arguments, a table, a text file, or standard input."""
    from ..util.files import check_target
    from ..util.tables import format_of
    from ..util.text_files import lines_of

    if page is not None:
        check_target(page, [file])
    if texts and file:
        raise SpanftError("Pass texts or --file, not both.")
    is_table = file is not None and format_of(file) is not None
    if typed and not is_table:
        option = next(iter(typed)).replace("_", "-")
        raise SpanftError(f"--{option} is for tables. Name one with --file.")
    if texts and os.path.isfile(texts[0]):
        raise SpanftError(f"{shown(texts[0])} is a file. Name it with --file.")
    if file is not None and is_table:
        lines = _texts_of_table(file, typed, model, **how)
    elif texts:
        lines = iter(texts if any(map(str.strip, texts)) else ())
    else:
        is_silent = file is None and sys.stdin.isatty()
        read = () if is_silent else lines_of(file or "-", **how)
        lines = (line.rstrip("\r\n") for line in read if line.strip())
    first = next(lines, None)
    if first is None:
        raise SpanftError(
            f"There is no text{f' in {file!r}' if file else ''}. Give it as arguments, "
            "with --file, or on standard input."
        )
    return chain([first], lines)


def _texts_of_table(
    path: str, typed: dict[str, Any], model: str | None, **how: Any
) -> Iterator[str]:
    """Yield the texts of a table that are not empty, or a pipeline's pairs."""
    from ..ml.pairs import SEPARATOR
    from ..scale.prediction import find_source
    from ..training.readers.rows import text_of
    from ..util.columns import find_columns
    from ..util.tables import read_table

    if model is None:
        columns, separator = find_columns(path, typed, **how), SEPARATOR
    else:
        source = find_source(model, path, **typed, **how)
        columns = given(text=source.text, text_pair=source.text_pair)
        separator = source.separator
    report_guess(columns, typed)
    pair, n_empty = (columns["text"], columns.get("text_pair")), 0
    for row in read_table(path, **how):
        text = text_of(row.of(shown(path)), *pair, separator)
        if text.strip() in ("", separator):
            n_empty += 1
        else:
            yield text
    if n_empty:
        report(f"⚠ Empty texts of {shown(path)}, which are left out: {n_empty:,}.")


def in_brackets(doc: "Doc") -> str:
    """Return a text with brackets around its spans."""
    parts = []
    after = 0
    for span in doc.spans[_KEY]:
        parts += [doc.text[after : span.start_char], f"[{span.text}]"]
        after = span.end_char
    return visible("".join([*parts, doc.text[after:]]), LAYOUT)


def _in_json(doc: "Doc") -> str:
    names = ("start", "end", "start_char", "end_char", "text")
    spans = [
        {**{name: getattr(span, name) for name in names}, "label": span.label_}
        for span in doc.spans[_KEY]
    ]
    return json.dumps({"text": doc.text, "spans": spans}, ensure_ascii=False)


def on_page(docs: "Sequence[Doc]") -> str:
    """Return a page with the spans, labeled by the chunker, or with their lengths."""
    from ..explanation.display import marked_page

    def mark(span: "Span") -> dict[str, Any]:
        label = span.label_ or str(len(span))
        return {"start": span.start_char, "end": span.end_char, "label": label}

    blocks = ({"text": x.text, "marks": [*map(mark, x.spans[_KEY])]} for x in docs)
    return marked_page("Spans", list(blocks))
