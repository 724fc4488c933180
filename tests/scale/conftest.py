import csv
import gzip
import io
import json
from pathlib import Path

import pyarrow as pa
import pytest
import spacy
from pyarrow import parquet
from spacy.tokens import Span
from spacy.training import Example

from spacy_spanft import NgramDictionary
from spacy_spanft.scale import row_files

from ..experiments.measured import BOW
from ..ml.test_textcat import CNN, span_model
from ..tiny import OWN_LISTENER, encoder_config

LABELS = ("good", "bad")


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """A pipeline that predicts all that there is, and is quick."""
    nlp = spacy.blank("en")
    segmenter = nlp.add_pipe("span_segmenter")
    nlp.add_pipe("textcat", config={"model": BOW})
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


@pytest.fixture(scope="session")
def encoded(bert, tmp_path_factory):
    """A text classifier over spans of an encoder, with what the config of one holds."""
    model = span_model(CNN, CNN, tok2vec=OWN_LISTENER)
    encoder = encoder_config(bert)
    components = [(encoder.pop("factory"), encoder), ("span_segmenter", {})]
    components.append(("textcat", {"model": model}))
    block = {"@readers": "spacy.Corpus.v1", "path": "/home/me/data.spacy"}
    config = {"corpora": {"train": block, "dev": block}}
    performance = {"cats_macro_f": 0.5, "textcat_loss": 3.0}
    folder = tmp_path_factory.mktemp("encoded") / "model"
    save(folder, *components, config=config, performance=performance)
    dictionary = NgramDictionary({f"new york {word}": 1 for word in "abcde"})
    dictionary.to_disk(folder / "span_segmenter" / "segmenter" / "dictionary.tsv.gz")
    return folder


def save(folder, *components, config=None, **meta):
    """Save an untrained pipeline: names of factories, and their settings."""
    nlp = spacy.blank("en", config=config or {}, meta=meta)
    for name, settings in components:
        pipe = nlp.add_pipe(name, config=settings)
        if name not in ("span_segmenter", "spanft_encoder", "transformer"):
            pipe.add_label("A")
            pipe.add_label("B")
    nlp.initialize()
    nlp.to_disk(folder)
    return folder


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(row_files, "MOST_ROWS", 4)


def offsets(span):
    return {"start": span.start_char, "end": span.end_char, "label": span.label_}


def texts(n_rows):
    return [f"Film {n} was seen in New York{n % 3 * ' again'}" for n in range(n_rows)]


def expected(model, rows):
    """Predict all texts at once, each row beside its cells."""
    docs = spacy.load(model).pipe(row["text"] for row in rows)
    return [{**row, **columns_of(doc)} for row, doc in zip(rows, docs, strict=True)]


def columns_of(doc):
    scores = doc.spans["sc"].attrs["scores"]
    spans = [
        {**offsets(span), "score": pytest.approx(score, abs=1e-5)}
        for span, score in zip(doc.spans["sc"], scores, strict=True)
    ]
    return {
        "label": max(LABELS, key=doc.cats.get),
        "cats": pytest.approx(doc.cats, abs=1e-5),
        "ents": [offsets(span) for span in doc.ents],
        "spans": {"sc": spans},
    }


def write(path, rows, encoding="utf8", delimiter=","):
    """Write rows in the format that the path ends in."""
    path = Path(path)
    ending = path.suffixes[0]
    if ending == ".parquet":
        parquet.write_table(pa.Table.from_pylist(rows), path, row_group_size=3)
        return str(path)
    if ending == ".txt":
        text = "".join(f"{row['text']}\r\n" for row in rows)
    elif ending == ".jsonl":
        text = "".join(json.dumps(row) + "\n" for row in rows)
    else:
        lines = io.StringIO(newline="")
        mark = "\t" if ending == ".tsv" else delimiter
        writer = csv.DictWriter(lines, [*rows[0]], delimiter=mark)
        writer.writeheader()
        writer.writerows(rows)
        text = lines.getvalue()
    data = text.encode(encoding)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


def read_lines(path):
    return [json.loads(line) for line in path.read_text("utf8").splitlines()]
