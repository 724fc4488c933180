"""`python -m spacy spanft segment`."""

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from ..errors import SpanftError, visible
from ..util.pipelines import blank
from .texts import BadBytes, File, read_texts, short_enough
from .util import OnBadBytes, short_errors

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

FACTORY = "span_segmenter"
# spaCy's own limit is there for parsers, which need much memory.
_LONGEST_TEXT = 100_000_000


class Cutter(Enum):
    """A segmenter of this package."""

    ngrams = "ngrams"
    random = "random"
    entities = "entities"
    phrases = "phrases"


_NLTK = "spacy-spanft.NltkChunkSegmenter.v1"
# The block of each segmenter in a config.
_SEGMENTERS: dict[Cutter, dict[str, Any]] = {
    Cutter.ngrams: {"@segmenters": "spacy-spanft.NgramSegmenter.v1"},
    Cutter.random: {"@segmenters": "spacy-spanft.RandomSegmenter.v1"},
    Cutter.entities: {"@segmenters": _NLTK, "chunker": "entities"},
    Cutter.phrases: {"@segmenters": _NLTK, "chunker": "phrases"},
}

# fmt: off
Texts = Annotated[list[str] | None, Argument(help="Texts", show_default=False)]
DictionaryFile = Annotated[Path | None, Option("--dictionary", "-d", help="A dictionary file; by default the English one of the package")]  # noqa: E501
Segmenter = Annotated[Cutter | None, Option("--segmenter", "-s", help="Segment with n-grams (the default), at random, or with NLTK's chunkers")]  # noqa: E501
Code = Annotated[Path | None, Option("--code", "-c", help="A Python file that registers what the pipeline needs")]  # noqa: E501
Model = Annotated[str | None, Option("--model", "-m", help="A pipeline that has a span_segmenter, by name or path")]  # noqa: E501
Lang = Annotated[str | None, Option("--lang", "-l", help="The language of the tokenizer (en)")]  # noqa: E501
Html = Annotated[Path | None, Option("--html", help="Write a page with the spans colored")]  # noqa: E501
Jsonl = Annotated[bool, Option("--jsonl", help="Print a JSON object for each text")]
# fmt: on


def segment_cli(
    texts: Texts = None,
    file: File = None,
    dictionary: DictionaryFile = None,
    segmenter: Segmenter = None,
    model: Model = None,
    code: Code = None,
    lang: Lang = None,
    errors: BadBytes = OnBadBytes.strict,
    html: Html = None,
    jsonl: Jsonl = False,
) -> None:
    """Segment texts into spans, and show them."""
    with short_errors():
        from ..util.files import check_page, write_whole
        from .rendering import Tally, to_html, to_json, to_terminal

        if html is not None:
            check_page(html, [file] if file else [])
        given = {"--segmenter": segmenter, "--lang": lang}
        others = ", ".join(name for name, value in given.items() if value)
        if model and others:
            raise SpanftError(
                f"--model has its own segmenter and language: leave out {others}, or "
                "leave out --model to segment with a blank pipeline."
            )
        if dictionary and segmenter not in (None, Cutter.ngrams):
            raise SpanftError(
                "--dictionary is for the n-gram segmenter. Remove it, or use "
                "--segmenter ngrams."
            )
        texts_read = read_texts(texts, file, errors)
        nlp, key = load_pipeline(
            model, lang or "en", segmenter or Cutter.ngrams, dictionary, code
        )
        tally = Tally()
        docs = tally.watch(_with_bar(nlp, short_enough(nlp, texts_read)), key)
        if jsonl or not html:
            docs = _printed(docs, key, to_json if jsonl else to_terminal)
        page = to_html(docs, key) if html else ""
        deque(docs, maxlen=0)  # none are left where they went into a page
        if html:
            write_whole(html, page.encode("utf8"))
            print(f"Wrote {visible(str(html))}", file=sys.stderr)
        print(tally, file=sys.stderr if jsonl or html else sys.stdout)


def load_pipeline(
    model: str | None,
    lang: str,
    segmenter: Cutter,
    dictionary: Path | None,
    code: Path | None = None,
) -> tuple["Language", str]:
    """Load or make a pipeline with a span_segmenter.

    model (Optional[str]): A pipeline that has one; None makes a blank pipeline.
    lang (str): The language of the blank pipeline.
    segmenter (Cutter): Its segmenter.
    dictionary (Optional[Path]): The dictionary to segment with.
    code (Optional[Path]): A Python file to run before.
    RETURNS (tuple[Language, str]): The pipeline, and the key in doc.spans of its first
        span_segmenter.
    """
    import spacy

    from ..util._compat import import_code

    import_code(code)
    try:
        nlp = blank(lang) if model is None else spacy.load(model)
    except (OSError, ImportError, ValueError) as error:
        if isinstance(error, SpanftError):
            raise
        raise SpanftError(
            f"The pipeline {model!r} cannot be loaded: {error}"
        ) from error
    if model is None:
        nlp.add_pipe(FACTORY, config={"segmenter": _SEGMENTERS[segmenter]})
        nlp.max_length = _LONGEST_TEXT
    names = [name for name, factory in nlp.pipe_factories.items() if factory == FACTORY]
    if not names:
        raise SpanftError(
            f"{model!r} has no span_segmenter. Leave out --model to segment with a "
            "blank pipeline."
        )
    component: Any = nlp.get_pipe(names[0])
    if dictionary is not None:
        component.initialize(nlp=nlp, dictionary=dictionary)
    return nlp, component.spans_key


def _printed(
    docs: Iterable["Doc"], key: str, show: Callable[["Doc", str], str]
) -> Iterator["Doc"]:
    """Print Docs as they pass."""
    for doc in docs:
        print(show(doc, key))
        yield doc


def _with_bar(nlp: "Language", texts: Iterable[str]) -> Iterator["Doc"]:
    from tqdm import tqdm

    # In a terminal the printed texts show the progress.
    is_hidden = True if sys.stdout.isatty() else None
    yield from tqdm(
        nlp.pipe(texts), "Cutting", unit=" texts", disable=is_hidden, leave=False
    )
