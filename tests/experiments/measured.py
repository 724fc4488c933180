"""Results of measuring, made up, and a parser of pages."""

from html.parser import HTMLParser

import numpy as np

from spacy_spanft.experiments import comparison
from spacy_spanft.experiments.measuring import Measured
from spacy_spanft.experiments.metrics import accuracy, correlation

# A small classifier: spaCy's default one takes half a second to load.
BOW = {
    "@architectures": "spacy.TextCatBOW.v3",
    "exclusive_classes": True,
    "ngram_size": 1,
    "no_output_layer": False,
    "length": 512,
}
VOID = {"meta", "br", "img", "link", "input", "hr", "source"}


class Page(HTMLParser):
    """The elements of a page that is well-formed, and its text in pieces."""

    def __init__(self, html):
        super().__init__()
        self.open, self.elements, self.texts = [], [], []
        self.feed(html)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open and data.strip():
            self.texts.append(" ".join(data.split()))


def labeled(right, texts=None, spans=None, **settings):
    right = np.array(right, np.bool_)
    rows = np.stack([np.zeros(len(right)), ~right], axis=1).astype(np.int64)
    usual = {"n_parameters": 1_000_000, "words_per_second": 1234.0}
    return Measured(
        metric="cats_accuracy",
        meaning="",
        score=accuracy(rows),
        rows=rows,
        score_of=accuracy,
        texts=texts or [f"text number {i}" for i in range(len(right))],
        answers=["yes" if r else "no" for r in right],
        gold=["yes"] * len(right),
        spans=spans or [[(0, 4)]] * len(right),
        places=[f"Line {i + 2}" for i in range(len(right))],
        **{**usual, "peak_memory": 567.0, **settings},
    )


def scored(gold, guess):
    rows = np.stack([gold, guess], axis=1).astype(float)
    words = [[f"{x:.2f}" for x in values] for values in (gold, guess)]
    return labeled([True] * len(rows))._replace(
        metric="cats_pearson",
        score=correlation(rows),
        rows=rows,
        score_of=correlation,
        answers=words[1],
        gold=words[0],
    )


def against(arms, monkeypatch, data="test.spacy", **settings):
    paths = {name: [f"{name}/{i}" for i in range(len(arms[name]))] for name in arms}
    runs = {path: arms[n][i] for n in arms for i, path in enumerate(paths[n])}
    monkeypatch.setattr(
        comparison, "run_in_subprocess", lambda _, path, setup: runs[path]
    )
    for check in ("check_pipeline", "check_data"):
        monkeypatch.setattr(comparison, check, lambda path: None)
    return comparison.compare(paths, data, n_resamples=50, **settings)
