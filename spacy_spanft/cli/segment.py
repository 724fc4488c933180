"""`python -m spacy spanft segment`."""

import json
import sys
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from ..errors import LAYOUT, SpanftError, counted, visible
from .options import BadBytes, Code, DictionaryFile, File, Html, Jsonl, Texts
from .util import read_texts, report, short_enough

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

FACTORY = "span_segmenter"
# spaCy's own limit is there for parsers, which need much memory.
_LONGEST_TEXT = 100_000_000
Segmenter = Literal["ngrams", "random", "entities", "phrases"]
_NLTK = "spacy-spanft.NltkChunkSegmenter.v1"
# The block of each segmenter in a config.
_SEGMENTERS: dict[Segmenter, dict[str, Any]] = {
    "ngrams": {"@segmenters": "spacy-spanft.NgramSegmenter.v1"},
    "random": {"@segmenters": "spacy-spanft.RandomSegmenter.v1"},
    "entities": {"@segmenters": _NLTK, "chunker": "entities"},
    "phrases": {"@segmenters": _NLTK, "chunker": "phrases"},
}
# Neighbors differ, and black reads well on all of them.
_COLORS = ("#dbe4f0", "#c9e4de", "#f7d9c4", "#e2cfea", "#faedcb")


def segment_cli(
    texts: Texts = None,
    file: File = None,
    dictionary: DictionaryFile = None,
    segmenter: Annotated[Segmenter | None, Option("--segmenter", "-s", help="Segment with n-grams (the default), at random, or with NLTK's chunkers")] = None,  # noqa: E501
    model: Annotated[str | None, Option("--model", "-m", help="A pipeline that has a span_segmenter, by name or path")] = None,  # noqa: E501
    code: Code = None,
    lang: Annotated[str | None, Option("--lang", "-l", help="The language of the tokenizer (en)")] = None,  # noqa: E501
    errors: BadBytes = "strict",
    html: Html = None,
    jsonl: Jsonl = False,
) -> None:  # fmt: skip
    """Segment texts into spans, and show them."""
    from tqdm import tqdm

    from ..util._compat import import_code
    from ..util.files import check_page, write_whole
    from ..util.gpu import CPU
    from ..util.pipelines import load

    if html is not None:
        check_page(html, [file] if file else [])
    if model and (segmenter or lang):
        raise SpanftError(
            "--model has its own segmenter and language: leave out --segmenter and "
            "--lang, or leave out --model to segment with a blank pipeline."
        )
    if dictionary and segmenter not in (None, "ngrams"):
        raise SpanftError(
            "--dictionary is for the n-gram segmenter. Remove it, or use "
            "--segmenter ngrams."
        )
    read = read_texts(texts, file, errors)
    import_code(code)
    nlp = load(model, CPU) if model else _blank(lang or "en", segmenter or "ngrams")
    component = _segmenter_of(nlp)
    if dictionary is not None:
        component.initialize(nlp=nlp, dictionary=dictionary)
    # In a terminal the printed texts show the progress.
    is_hidden = True if sys.stdout.isatty() else None
    piped = nlp.pipe(short_enough(nlp, read))
    docs = tqdm(piped, "Segmenting", unit=" texts", disable=is_hidden, leave=False)
    pages, n_spans, n_texts = [], 0, 0
    for doc in docs:
        n_texts += 1
        n_spans += sum(len(span) > 1 for span in doc.spans[component.spans_key])
        if jsonl:
            print(to_json(doc, component.spans_key))
        elif html is None:
            print(to_terminal(doc, component.spans_key))
        if html is not None:
            pages.append(doc)
    if html is not None:
        write_whole(html, to_html(pages, component.spans_key).encode("utf8"))
        report(f"✔ Wrote {html}")
    average = f"on average {n_spans / n_texts:.1f} spans of two words or more each"
    summary = f"{counted(n_texts, 'text')}, {average}"
    print(summary, file=sys.stderr if jsonl or html else sys.stdout)


def _blank(lang: str, segmenter: Segmenter) -> "Language":
    """Make a pipeline of a segmenter alone."""
    from ..util.pipelines import blank

    nlp = blank(lang)
    nlp.add_pipe(FACTORY, config={"segmenter": _SEGMENTERS[segmenter]})
    nlp.max_length = _LONGEST_TEXT
    return nlp


def _segmenter_of(nlp: "Language") -> Any:
    """Return the first span_segmenter of a pipeline."""
    for name, factory in nlp.pipe_factories.items():
        if factory == FACTORY:
            return nlp.get_pipe(name)
    raise SpanftError(
        "The pipeline has no span_segmenter. Leave out --model to segment with a blank "
        "pipeline."
    )


def to_terminal(doc: "Doc", key: str) -> str:
    """Return a text with brackets around its spans, whose key is in doc.spans."""
    parts = []
    after = 0
    for span in doc.spans[key]:
        parts += [doc.text[after : span.start_char], f"[{span.text}]"]
        after = span.end_char
    return visible("".join([*parts, doc.text[after:]]), LAYOUT)


def to_json(doc: "Doc", key: str) -> str:
    """Return a Doc and its spans, whose key is in doc.spans, as one line of JSON."""
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


def to_html(docs: "Sequence[Doc]", key: str) -> str:
    """Return a page with the spans, labeled by the chunker, or with their lengths."""
    from ..explanation.display import marked_page

    marks = [list(_marks(doc, key)) for doc in docs]
    labels = sorted({mark["label"] for marked in marks for mark in marked})
    colors = {x: _COLORS[i % len(_COLORS)] for i, x in enumerate(labels)}
    texts = zip(docs, marks, strict=True)
    pages = [{"text": doc.text, "ents": marked} for doc, marked in texts]
    return marked_page(pages, colors)


def _marks(doc: "Doc", key: str) -> Iterator[dict[str, Any]]:
    for span in doc.spans[key]:
        # displaCy writes labels, unlike texts, into the page as they are.
        label = escape(span.label_ or str(len(span)))
        yield {"start": span.start_char, "end": span.end_char, "label": label}
