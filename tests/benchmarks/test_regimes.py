"""The bench of regimes trains what init writes, on data in columns."""

from pathlib import Path

import pytest
from spacy.tokens import DocBin

from benchmarks import regimes

from .. import tiny

ENTITIES = "the\tO\nunited\tB-location\nstates\tI-location\n\n"
TAGS = "the DT B-NP\nfilm NN I-NP\n. . O\n\n"


@pytest.fixture
def data(tmp_path):
    header, label = "sentence1\tsentence2\tlabel\n", "sentence\tlabel\n"
    for name, text in {
        "glue/SST-2/train.tsv": label + "good film\t1\nbad\t0\n" * 40,
        "glue/SST-2/dev.tsv": label,
        "glue/STS-B/train.tsv": header + "a film\tthe film\t4.5\na\tb\t0.5\n" * 40,
        "glue/STS-B/dev.tsv": header,
        "ner/wnut17/wnut17train.conll": ENTITIES * 40,
        "ner/wnut17/emerging.dev.conll": ENTITIES * 40,
        "nltk_data/corpora/conll2000/train.txt": TAGS * 40,
    }.items():
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf8")
    return tmp_path / "data"


def n_texts(path):
    if path.endswith(".spacy"):
        return len(DocBin().from_disk(path))
    return len(Path(path).read_text("utf8").splitlines()) - 1  # no header


def test_docs_in_columns():
    (one,) = regimes.docs_of([ENTITIES.strip()], "spancat")
    expected = [("united states", "location")]
    assert [(ent.text, ent.label_) for ent in one.ents] == expected
    assert [(span.text, span.label_) for span in one.spans["sc"]] == expected
    (one,) = regimes.docs_of([TAGS.strip()], "tagger")
    assert [(t.text, t.tag_) for t in one] == [
        ("the", "DT"),
        ("film", "NN"),
        (".", "."),
    ]


def test_runs_are_balanced():
    runs = list(regimes.runs(2))
    assert len(runs) == 2 * len(regimes.PIPELINES) * len(regimes.REGIMES)
    assert [run["seed"] for run in runs] == sorted(run["seed"] for run in runs)


@pytest.mark.parametrize("pipeline", ["textcat", "score", "tagger", "spancat"])
def test_a_run(pipeline, data, tmp_path, monkeypatch):
    monkeypatch.setattr(regimes, "EPOCHS", 1)
    monkeypatch.setattr(regimes, "N_TRAIN", 25)
    monkeypatch.setattr(regimes, "N_TEST", 5)
    files = regimes.files_of(data, pipeline, 0, tmp_path)
    train, test = (n_texts(files[part]) for part in ("train", "dev"))
    assert train > 20
    assert test >= 5
    encoder = tiny.save_bert(tmp_path / "encoder")
    runs = regimes.runs(1)
    like = {"pipeline": pipeline, "regime": "head-first"}
    run = next(one for one in runs if like.items() <= one.items())
    found = regimes.train(run, data, encoder)
    assert (-1 if pipeline == "score" else 0) <= found["score"] <= 1


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ("ner/wnut17/wnut17train.conll", "lacks the data of WNUT17"),
        ("nltk_data/corpora/conll2000/train.txt", r"lacks conll2000/train\.txt"),
    ],
)
def test_data_that_are_missing(missing, expected, data, tmp_path):
    (data / missing).unlink()
    encoder = tiny.save_bert(tmp_path / "encoder")
    with pytest.raises(SystemExit, match=expected):
        regimes.main(data, encoder, 1, [], tmp_path / "regimes.jsonl")
    assert not (tmp_path / "regimes.jsonl").exists()
