"""Segmenting Docs: ours against the reference algorithm, PhraseMatcher and NLTK.

    python -m benchmarks.segmenting wikitext103.valid.tokens

All write spans of two tokens or more into the same Docs of 60 tokens. Ours, the
reference algorithm and the PhraseMatcher use the 100,000 n-grams of the default
dictionary, and must write the same spans. NLTK's chunkers are slow, so they segment a
few Docs only.
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
    """Look joined lower-case strings up in a set, the longest first."""

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
    """Match over LOWER, then select greedily from the start of the Doc."""
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
    """Return the `pipe` of our component."""
    nlp = spacy.blank("en")
    pipe: Any = nlp.add_pipe("span_segmenter", config=config)

    def cut(docs: list[Doc]) -> None:
        for _ in pipe.pipe(docs, batch_size=batch_size):
            pass

    return cut


def nltk_chunks(chunker: str) -> Callable[[list[Doc]], None]:
    """Return our component with one of NLTK's chunkers."""
    name = "spacy-spanft.NltkChunkSegmenter.v1"
    return component({"segmenter": {"@segmenters": name, "chunker": chunker}})


def spans_of(docs: list[Doc]) -> list[list[tuple[int, int, str]]]:
    """Return the spans of each Doc."""
    return [[(s.start, s.end, s.text) for s in doc.spans[KEY]] for doc in docs]


def seconds(cut: Callable[[list[Doc]], None], docs: list[Doc]) -> float:
    """Return the seconds of one run."""
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
    # The first call loads the data, which may be missing.
    checks = {name: partial(cut, few[:2]) for name, cut in chunkers.items()}
    chunkers = without_missing(chunkers, checks)
    ngrams = set(default_dictionary())
    contestants = {
        "ours": component({}),
        "reference algorithm": reference(ngrams),
        "PhraseMatcher": phrase_matcher(vocab, ngrams),
    }
    written = {}
    for name, cut in contestants.items():
        seconds(cut, docs)  # warm up
        written[name] = spans_of(docs)
    same = all(spans == written["ours"] for spans in written.values())
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
