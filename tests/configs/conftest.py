"""Data that configs train on, and configs as tables."""

import pytest
import spacy
from spacy.tokens import DocBin, Span

SINGLE = [("a very good film", "A"), ("new york was bad", "B")] * 8
PAIRED = """sentence1\tsentence2\tlabel
good film\tvery good film\t1
bad film\tvery bad film\t1
new york\tit is a city\t0
the united states\tvery good film\t0
"""


def flat(block, path=""):
    values = {}
    for key, value in block.items():
        name = f"{path}{key}"
        is_block = isinstance(value, dict)
        values |= flat(value, f"{name}.") if is_block else {name: value}
    return values


def changed(one, other):
    """Return the settings that differ between two configs."""
    one, other = flat(one), flat(other)
    return {key for key in {*one, *other} if one.get(key) != other.get(key)}


@pytest.fixture(scope="session")
def single(tmp_path_factory):
    nlp = spacy.blank("en")
    docs = []
    for text, label in SINGLE:
        doc = nlp(text)
        doc.cats = {c: float(c == label) for c in "AB"}
        docs.append(doc)
    path = tmp_path_factory.mktemp("single") / "data.spacy"
    DocBin(docs=docs).to_disk(path)
    return path


@pytest.fixture(scope="session")
def entities(tmp_path_factory):
    """Entities, and as spans those and a part of one of them."""
    nlp = spacy.blank("en")
    docs = []
    for text, start, end in [
        ("new york was very good", 0, 2),
        ("it is new york city", 2, 5),
        ("this film is very bad", 0, 0),
        ("two  spaces \n\n and \u200b no  film", 0, 0),
    ] * 6:
        doc = nlp(text)
        doc.ents = [Span(doc, start, end, "GPE")] if end else []
        parts = [Span(doc, 4, 5, "KIND")] if end == 5 else []
        doc.spans["sc"] = [*doc.ents, *parts]
        docs.append(doc)
    path = tmp_path_factory.mktemp("entities") / "data.spacy"
    DocBin(docs=docs).to_disk(path)
    return path


@pytest.fixture(scope="session")
def paired(tmp_path_factory):
    path = tmp_path_factory.mktemp("paired") / "data.tsv"
    path.write_text(PAIRED)
    return path
