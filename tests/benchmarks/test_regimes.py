"""The bench of regimes trains what init writes, on data in columns."""

from collections import Counter
from pathlib import Path

import pytest
import srsly
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp

from benchmarks import regimes
from benchmarks.fewlabels.tasks import TASKS, draw

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
        "ner/wikigold/wikigold.conll.txt": "Rome I-LOC\nis O\n\nno O\n\n" * 40,
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


def test_the_type_of_the_first_entity(data, tmp_path, monkeypatch):
    monkeypatch.setattr(regimes, "N_TEST", 20)
    files = regimes.first_types(data, 0, tmp_path)
    train, test = (list(srsly.read_jsonl(files[part])) for part in ("train", "dev"))
    assert len(test) == 20
    # A text without an entity has no label, and WikiGold's dev data is left alone.
    wikigold = draw(data, TASKS["WikiGold"], "held-out", 0, 0)
    n_rome = sum("Rome" in text for text in (*wikigold.pool, *wikigold.test))
    assert 0 < n_rome < 40
    labels = Counter(row["label"] for row in (*train, *test))
    assert labels["location"] == len(train) + len(test)
    assert {row["sentence"] for row in train} == {"the united states", "Rome is"}
    assert len(train) + len(test) == 40 + n_rome


def test_runs_are_balanced():
    runs = list(regimes.runs(2))
    without = [run for run in runs if run["segmentation"] == regimes.NO_SPANS]
    n_texts = 3  # labels of two tasks, and scores
    assert len(without) == 2 * n_texts * len({regimes.RATE, *regimes.OTHER_RATES})
    for run in without:
        assert {**run, "segmentation": "spans"} in runs
    of_init = [run for run in runs if run["rate"] == regimes.RATE]
    n_with = sum(run["segmentation"] != regimes.NO_SPANS for run in of_init)
    assert n_with == 2 * len(regimes.PIPELINES) * len(regimes.REGIMES)
    assert [run["seed"] for run in runs] == sorted(run["seed"] for run in runs)
    assert len({str(run) for run in runs}) == len(runs)


@pytest.mark.parametrize(
    ("pipeline", "regime", "segmentation", "rate"),
    [
        ("textcat", "head-first", "spans", regimes.RATE),
        ("textcat", "everything", regimes.NO_SPANS, 1e-4),
        ("score", "head-first", "spans", regimes.RATE),
        ("tagger", "head-first", "none", regimes.RATE),
        ("spancat", "head-first", "none", regimes.RATE),
    ],
)
def test_a_run(pipeline, regime, segmentation, rate, data, tmp_path, monkeypatch):
    monkeypatch.setattr(regimes, "EPOCHS", 1)
    monkeypatch.setattr(regimes, "N_TRAIN", 25)
    monkeypatch.setattr(regimes, "N_TEST", 5)
    files = regimes.files_of(data, pipeline, 0, tmp_path)
    train, test = (n_texts(files[part]) for part in ("train", "dev"))
    assert train > 20
    assert test >= 5
    encoder = tiny.save_bert(tmp_path / "encoder")
    runs = regimes.runs(1)
    like = {"pipeline": pipeline, "regime": regime, "segmentation": segmentation}
    (run,) = (one for one in runs if {**like, "rate": rate}.items() <= one.items())
    trained = []
    monkeypatch.setattr(
        regimes, "init_nlp", lambda c: trained.append(init_nlp(c)) or trained[0]
    )
    found = regimes.train(run, data, encoder)
    assert ("span_segmenter" in trained[0].pipe_names) == (segmentation == "spans")
    optimizer = trained[0].config["training"]["optimizer"]
    assert optimizer["learn_rate"]["initial_rate"] == rate
    assert (-1 if pipeline == "score" else 0) <= found["score"] <= 1


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ("ner/wnut17/wnut17train.conll", "lacks the data of WNUT17"),
        ("ner/wikigold/wikigold.conll.txt", "lacks the data of WikiGold"),
        ("nltk_data/corpora/conll2000/train.txt", r"lacks conll2000/train\.txt"),
    ],
)
def test_data_that_are_missing(missing, expected, data, tmp_path):
    (data / missing).unlink()
    encoder = tiny.save_bert(tmp_path / "encoder")
    with pytest.raises(SystemExit, match=expected):
        regimes.main(data, encoder, 1, [], tmp_path / "regimes.jsonl")
    assert not (tmp_path / "regimes.jsonl").exists()
