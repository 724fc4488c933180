"""Results of measuring, made up, and a parser of pages."""

from html.parser import HTMLParser

import numpy as np

from spacy_spanft.experiments import comparison
from spacy_spanft.experiments.measuring import Measured
from spacy_spanft.experiments.row_scores import accuracy, correlation

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
    """What is on a page: elements, text, and the cells of its tables."""

    def __init__(self, html):
        super().__init__()
        self.open, self.elements, self.tables, self.text = [], [], [], []
        self.feed(html)
        self.close()
        assert not self.open, self.open
        self.text = "".join(self.text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" in self.open:
            return
        if "table" in self.open and self.tables[-1] and self.tables[-1][-1]:
            self.tables[-1][-1][-1] += data
        self.text.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]

    def rows(self, number):
        return [[" ".join(cell.split()) for cell in row] for row in self.tables[number]]


def labeled(right, texts=None, spans=None, **settings):
    """Return the results of a classifier that gets these texts right."""
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
    """Return the results of a regressor that predicts these scores."""
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
    """Compare made-up results."""
    paths = {name: [f"{name}/{i}" for i in range(len(arms[name]))] for name in arms}
    runs = {path: arms[n][i] for n in arms for i, path in enumerate(paths[n])}
    monkeypatch.setattr(
        comparison, "run_in_subprocess", lambda _, path, setup: runs[path]
    )
    for check in ("check_pipeline", "check_data"):
        monkeypatch.setattr(comparison, check, lambda path: None)
    return comparison.compare(paths, data, n_resamples=50, **settings)
