"""`python -m spacy spanft segment`."""

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from ..errors import Errors, SpanftError
from ..errors.visible import visible
from ..util.languages import blank
from .texts import BadBytes, File, read_texts, short_enough
from .util import OnBadBytes, short_errors

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

NAME = "span_segmenter"
# spaCy's own limit is there for parsers, which need much memory.
_LONGEST_TEXT = 100_000_000


class Cutter(Enum):
    """What cuts."""

    ngrams = "ngrams"
    random = "random"
    entities = "entities"
    phrases = "phrases"


# The name of each cutter in a config.
_SEGMENTERS: dict[Cutter, dict[str, Any]] = {
    Cutter.ngrams: {"@segmenters": "spacy-spanft.NgramSegmenter.v1"},
    Cutter.random: {"@segmenters": "spacy-spanft.RandomSegmenter.v1"},
    Cutter.entities: {
        "@segmenters": "spacy-spanft.NltkChunkSegmenter.v1",
        "chunker": "entities",
    },
    Cutter.phrases: {
        "@segmenters": "spacy-spanft.NltkChunkSegmenter.v1",
        "chunker": "phrases",
    },
}

# fmt: off
Texts = Annotated[list[str] | None, Argument(help="Texts to cut", show_default=False)]
DictionaryFile = Annotated[Path | None, Option("--dictionary", "-d", help="A dictionary file; the default English one if there is none")]  # noqa: E501
Segmenter = Annotated[Cutter | None, Option("--segmenter", "-s", help="What cuts: n-grams (the default), chance, or NLTK's chunkers")]  # noqa: E501
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
    """Cut texts into spans, and show them."""
    with short_errors():
        from ..util.files import check_page, write_whole
        from .rendering import Tally, to_html, to_json, to_terminal

        if html is not None:
            check_page(html, [file] if file else [])
        given = {"--segmenter": segmenter, "--lang": lang}
        others = ", ".join(name for name, value in given.items() if value)
        if model and others:
            raise SpanftError(Errors.MODEL_AND.format(others=others))
        if dictionary and segmenter not in (None, Cutter.ngrams):
            raise SpanftError(Errors.DICTIONARY_OF_OTHERS)
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
    """Load or make a pipeline that cuts.

    model (Optional[str]): A pipeline with a span_segmenter; None makes a blank one.
    lang (str): The language of the blank one.
    segmenter (Cutter): What cuts.
    code (Optional[Path]): A Python file to run before.
    RETURNS (tuple[Language, str]): The pipeline, and the key in doc.spans of the first
        component in it that cuts.
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
            Errors.NO_MODEL.format(name=model, reason=str(error).strip())
        ) from error
    if model is None:
        nlp.add_pipe(NAME, config={"segmenter": _SEGMENTERS[segmenter]})
        nlp.max_length = _LONGEST_TEXT
    names = [name for name, factory in nlp.pipe_factories.items() if factory == NAME]
    if not names:
        raise SpanftError(Errors.NO_COMPONENT.format(name=model))
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

    # In a terminal the texts themselves show how far it is.
    is_hidden = True if sys.stdout.isatty() else None
    yield from tqdm(
        nlp.pipe(texts), "Cutting", unit=" texts", disable=is_hidden, leave=False
    )
