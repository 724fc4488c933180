"""What earlier versions saved loads, and predicts what it did.

saved/before_the_rooms.zip holds a pipeline over a small tok2vec, trained for a moment
on four texts, what it predicted for them, and its dictionary.
"""

import json
import zipfile
from pathlib import Path

import pytest
import spacy

from spacy_spanft import NgramDictionary

SAVED = Path(__file__).parent / "saved" / "before_the_rooms.zip"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved")
    with zipfile.ZipFile(SAVED) as file:
        file.extractall(path)
    return path


# It was made with spaCy 3.8.18, and an older version warns of that.
@pytest.mark.filterwarnings(r"ignore:\[W095\]:UserWarning")
def test_a_saved_pipeline_predicts_what_it_did(folder):
    nlp = spacy.load(folder / "pipeline")
    predictions = json.loads((folder / "said.json").read_text("utf8"))
    assert any(row["ents"] for row in predictions)
    assert any(row["spans"] for row in predictions)
    docs = nlp.pipe(row["text"] for row in predictions)
    for doc, row in zip(docs, predictions, strict=True):
        assert [span.text for span in doc.spans["ngrams"]] == row["ngrams"]
        assert doc.cats == pytest.approx(row["cats"], abs=1e-5)
        assert [[e.start, e.end, e.label_] for e in doc.ents] == row["ents"]
        spans = doc.spans["sc"]
        assert [[s.start, s.end, s.label_] for s in spans] == row["spans"]


def test_a_saved_dictionary_loads_and_saves_again(folder):
    ngrams = NgramDictionary.from_disk(folder / "ngrams.tsv.gz")
    assert dict(ngrams) == {"new york": 9, "very good": 7, "a very good film": 3}
    again = folder / "again.tsv.gz"
    ngrams.to_disk(again)
    assert NgramDictionary.from_disk(again) == ngrams
