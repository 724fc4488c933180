import json

import pytest
import spacy
from spacy.tokens import Span
from spacy.training import Example

from spacy_spanft import NgramDictionary
from spacy_spanft.scale import row_files

LABELS = ("good", "bad")


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """A pipeline that predicts all that there is, and is quick."""
    nlp = spacy.blank("en")
    segmenter = nlp.add_pipe("span_segmenter")
    bow = {"@architectures": "spacy.TextCatBOW.v3", "exclusive_classes": True}
    nlp.add_pipe(
        "textcat", config={"model": {**bow, "ngram_size": 1, "no_output_layer": False}}
    )
    ruler = nlp.add_pipe("entity_ruler")
    suggester = {"@misc": "spacy.ngram_suggester.v1", "sizes": [1]}
    nlp.add_pipe("spancat", config={"suggester": suggester, "threshold": 0.0})
    spacy.util.fix_random_seed(0)
    nlp.initialize(lambda: examples(nlp))
    segmenter.initialize(dictionary=NgramDictionary({"new york": 9}))
    ruler.add_patterns([{"label": "CITY", "pattern": "New York"}])
    folder = tmp_path_factory.mktemp("model") / "nlp"
    nlp.to_disk(folder)
    return folder


def examples(nlp):
    for n, label in enumerate(LABELS):
        doc = nlp.make_doc(f"film {n} again")
        doc.cats = {name: float(name == label) for name in LABELS}
        doc.spans["sc"] = [Span(doc, 0, 1, "WORD")]
        yield Example(nlp.make_doc(doc.text), doc)


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(row_files, "MOST_ROWS", 4)


def texts(n_rows):
    return [
        f"Film {n} was seen in New York" + " again" * (n % 3) for n in range(n_rows)
    ]


def expected(model, rows):
    """Predict all texts at once, each row beside its cells."""
    docs = spacy.load(model).pipe(row["text"] for row in rows)
    return [{**row, **columns_of(doc)} for row, doc in zip(rows, docs, strict=True)]


def columns_of(doc):
    scores = doc.spans["sc"].attrs["scores"]
    return {
        "label": max(LABELS, key=lambda label: doc.cats[label]),
        "cats": {label: pytest.approx(doc.cats[label], abs=1e-5) for label in LABELS},
        "ents": [offsets(span) for span in doc.ents],
        "spans": {
            "sc": [
                {**offsets(span), "score": pytest.approx(score, abs=1e-5)}
                for span, score in zip(doc.spans["sc"], scores, strict=True)
            ]
        },
    }


def offsets(span):
    return {"start": span.start_char, "end": span.end_char, "label": span.label_}


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf8")
    return str(path)


def read_lines(path):
    return [json.loads(line) for line in path.read_text("utf8").splitlines()]
