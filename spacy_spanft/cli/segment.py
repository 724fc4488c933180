"""`python -m spacy spanft segment`."""

import sys
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from ..errors import Errors, SpanftError
from .util import short_errors

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

NAME = "span_segmenter"


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
File = Annotated[str | None, Option("--file", "-f", help="A file with one text a line; '-' is the standard input")]  # noqa: E501
DictionaryFile = Annotated[Path | None, Option("--dictionary", "-d", help="A dictionary file; the default English one if there is none")]  # noqa: E501
Segmenter = Annotated[Cutter, Option("--segmenter", "-s", help="What cuts: n-grams, chance, or NLTK's chunkers")]  # noqa: E501
Model = Annotated[str | None, Option("--model", "-m", help="A pipeline that has a span_segmenter, by name or path")]  # noqa: E501
Lang = Annotated[str, Option("--lang", "-l", help="The language of the tokenizer")]
Html = Annotated[Path | None, Option("--html", help="Write a page with the spans coloured")]  # noqa: E501
Jsonl = Annotated[bool, Option("--jsonl", help="Print a JSON object for each text")]
# fmt: on


def segment_cli(
    texts: Texts = None,
    file: File = None,
    dictionary: DictionaryFile = None,
    segmenter: Segmenter = Cutter.ngrams,
    model: Model = None,
    lang: Lang = "en",
    html: Html = None,
    jsonl: Jsonl = False,
) -> None:
    """Cut texts into spans, and show them."""
    with short_errors():
        from ..files import write_whole
        from .rendering import Tally, to_html, to_json, to_terminal

        nlp, name, key = load_pipeline(model, lang, segmenter, dictionary)
        tally = Tally()
        docs = tally.watch(_with_bar(nlp, name, _read(texts, file)), key)
        if html is not None:
            write_whole(html, to_html(docs, key).encode("utf8"))
            print(f"Wrote {html}", file=sys.stderr)
        else:
            for doc in docs:
                print(to_json(doc, key) if jsonl else to_terminal(doc, key))
        if not tally.n_texts:
            raise SpanftError(Errors.NO_TEXTS)
        print(tally, file=sys.stderr if jsonl or html else sys.stdout)


def load_pipeline(
    model: str | None, lang: str, segmenter: Cutter, dictionary: Path | None
) -> tuple["Language", str, str]:
    """Load or make a pipeline that cuts.

    model (Optional[str]): A pipeline with a span_segmenter; None makes a blank one.
    lang (str): The language of the blank one.
    segmenter (Cutter): What cuts.
    dictionary (Optional[Path]): The dictionary.
    RETURNS (tuple[Language, str, str]): The pipeline, the name of the component that
        cuts, and its key in doc.spans.
    """
    import spacy

    try:
        nlp = spacy.blank(lang) if model is None else spacy.load(model)
    except (OSError, ImportError) as error:
        raise SpanftError(
            Errors.NO_MODEL.format(name=model or lang, reason=str(error).strip())
        ) from error
    if model is None:
        nlp.add_pipe(NAME, config={"segmenter": _SEGMENTERS[segmenter]})
    nlp.max_length = sys.maxsize  # the limit is there for parsers
    names = [name for name, factory in nlp.pipe_factories.items() if factory == NAME]
    if not names:
        raise SpanftError(Errors.NO_COMPONENT.format(name=model))
    component: Any = nlp.get_pipe(names[0])
    if dictionary is not None:
        component.initialize(nlp=nlp, dictionary=dictionary)
    return nlp, names[0], component.spans_key


def _read(texts: list[str] | None, file: str | None) -> Iterator[str]:
    if texts:
        yield from texts
        return
    if file is None:
        if sys.stdin.isatty():
            raise SpanftError(Errors.NO_TEXTS)
        file = "-"
    from ..corpus.blocks import blocks_from_files

    for block in blocks_from_files([file], block_size=1 << 16):
        for line in block.decode("utf8").split("\n")[:-1]:
            if line.strip():
                yield line.rstrip("\r")


def _with_bar(nlp: "Language", name: str, texts: Iterable[str]) -> Iterator["Doc"]:
    from tqdm import tqdm

    # In a terminal the texts themselves show how far it is.
    is_hidden = sys.stdout.isatty() or not sys.stderr.isatty()
    docs = (nlp.make_doc(text) for text in texts)
    component: Any = nlp.get_pipe(name)
    yield from tqdm(
        component.pipe(docs), "Cutting", unit=" texts", disable=is_hidden, leave=False
    )
