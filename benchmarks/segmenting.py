"""Cutting Docs: ours against the reference algorithm, PhraseMatcher and NLTK.

    python -m benchmarks.segmenting wikitext103.valid.tokens

All write the same kind of thing, spans of two tokens or more under one key, into the
same Docs of 60 tokens, which are made before. Ours, the reference algorithm and the
PhraseMatcher use the 100,000 n-grams of the default dictionary, and it is checked that
they write the same spans. NLTK's chunkers cut a part of the Docs only: they are slow.
"""

import gc
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import spacy
import typer
from spacy.matcher import PhraseMatcher
from spacy.tokens import Doc

from spacy_spanft import default_dictionary

from .harness import without_missing
from .report import report

KEY = "ngrams"
CHUNKERS = ("entities", "phrases")


def reference(ngrams: set[str], max_n: int = 5) -> Callable[[list[Doc]], None]:
    """Joined lower-case strings in a set, the longest first, then doc[start:end]."""

    def spans(doc: Doc) -> Iterator[Any]:
        words = [token.lower_ for token in doc]
        start = 0
        while start < len(words):
            for end in range(min(len(words), start + max_n), start, -1):
                if " ".join(words[start:end]) in ngrams:
                    yield doc[start:end]
                    break
            start = max(end, start + 1)

    def cut(docs: list[Doc]) -> None:
        for doc in docs:
            doc.spans[KEY] = list(spans(doc))

    return cut


def phrase_matcher(vocab: Any, ngrams: set[str]) -> Callable[[list[Doc]], None]:
    """PhraseMatcher over LOWER, then greedily from the head."""
    matcher = PhraseMatcher(vocab, attr="LOWER")
    matcher.add("NGRAM", [Doc(vocab, words=ngram.split(" ")) for ngram in ngrams])

    def cut(docs: list[Doc]) -> None:
        for doc in docs:
            longest: dict[int, int] = {}
            for _, start, end in matcher(doc):
                if end > longest.get(start, 0):
                    longest[start] = end
            spans = []
            behind = 0
            for start in sorted(longest):
                if start >= behind:
                    behind = longest[start]
                    spans.append(doc[start:behind])
            doc.spans[KEY] = spans

    return cut


def component(
    config: dict[str, Any], batch_size: int = 1000
) -> Callable[[list[Doc]], None]:
    """Our component, through its `pipe`."""
    nlp = spacy.blank("en")
    pipe: Any = nlp.add_pipe("span_segmenter", config=config)

    def cut(docs: list[Doc]) -> None:
        for _ in pipe.pipe(docs, batch_size=batch_size):
            pass

    return cut


def nltk_chunks(chunker: str) -> Callable[[list[Doc]], None]:
    """One of NLTK's chunkers in our component."""
    name = "spacy-spanft.NltkChunkSegmenter.v1"
    return component({"segmenter": {"@segmenters": name, "chunker": chunker}})


def places(docs: list[Doc]) -> list[list[tuple[int, int, str]]]:
    """Read the spans back."""
    return [[(s.start, s.end, s.text) for s in doc.spans[KEY]] for doc in docs]


def seconds(cut: Callable[[list[Doc]], None], docs: list[Doc]) -> float:
    """Time one run."""
    for doc in docs:
        doc.spans.clear()
    gc.collect()
    begin = time.perf_counter()
    cut(docs)
    return time.perf_counter() - begin


def main(text: Path, length: int = 60, repeat: int = 5, nltk_docs: int = 200) -> None:
    """Measure."""
    vocab = spacy.blank("en").vocab
    words = text.read_text(encoding="utf8").split()
    docs = [
        Doc(vocab, words=words[i : i + length]) for i in range(0, len(words), length)
    ]
    few = docs[:nltk_docs]
    chunkers = {_name_of(chunker): nltk_chunks(chunker) for chunker in CHUNKERS}
    # To cut is to load the data, which may be missing.
    checks = {name: partial(cut, few[:2]) for name, cut in chunkers.items()}
    chunkers = without_missing(chunkers, checks)
    ngrams = set(default_dictionary())
    contestants = {
        "ours": component({}),
        "reference algorithm": reference(ngrams),
        "PhraseMatcher": phrase_matcher(vocab, ngrams),
    }
    found = {}
    for name, cut in contestants.items():
        seconds(cut, docs)  # warm up
        found[name] = places(docs)
    same = all(spans == found["ours"] for spans in found.values())
    print(f"{len(docs):,} Docs of {length} tokens, {len(words):,} tokens")
    print(f"all write the same spans: {same}")
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(repeat):
        for name, cut in contestants.items():
            times[name].append(seconds(cut, docs) / len(words))
    for name, cut in chunkers.items():
        times[name] = [seconds(cut, few) / sum(map(len, few)) for _ in range(repeat)]
    report("speed", "s/token", times, "ours", [*map(_name_of, CHUNKERS)])


def _name_of(chunker: str) -> str:
    return f"NLTK, {chunker}"


if __name__ == "__main__":
    typer.run(main)
