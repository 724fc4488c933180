"""The bench of regimes trains the configs of `init`, on data in columns."""

from collections import Counter

import pytest
from spacy.training.initialize import init_nlp

from benchmarks import regimes
from benchmarks.fewlabels.tasks import TASKS, draw


def test_docs_in_columns():
    (doc,) = regimes.docs_of(["the\tO\nunited\tB-location\nstates\tI-location"], "ner")
    expected = [("united states", "location")]
    assert [(ent.text, ent.label_) for ent in doc.ents] == expected
    assert [(span.text, span.label_) for span in doc.spans["sc"]] == expected
    (doc,) = regimes.docs_of(["the DT B-NP\nfilm NN I-NP"], "tagger")
    assert [token.tag_ for token in doc] == ["DT", "NN"]


def test_the_type_of_the_first_entity(data):
    rows = regimes.first_types(data, 0)
    # A text without an entity has no label, and WikiGold's dev data are left alone.
    wikigold = draw(data, TASKS["WikiGold"], "held-out", 0, 0)
    n_rome = sum("Rome" in text for text in (*wikigold.pool, *wikigold.test))
    assert 0 < n_rome < 15
    assert Counter(row["label"] for row in rows) == {"person": 30, "location": n_rome}
    assert {row["sentence"] for row in rows} == {"the united states", "Rome is"}


@pytest.mark.parametrize(
    ("pipeline", "regime", "segmentation", "rate"),
    [
        ("types", "head-first", "spans", regimes.RATE),
        ("spancat", "head-first", "none", regimes.RATE),
    ],
)
def test_a_run(pipeline, regime, segmentation, rate, data, encoder, monkeypatch):
    for name, value in {"EPOCHS": 1, "N_TRAIN": 20, "N_TEST": 5}.items():
        monkeypatch.setattr(regimes, name, value)
    like = {"pipeline": pipeline, "regime": regime, "segmentation": segmentation}
    like["rate"] = rate
    (run,) = (run for run in regimes.runs(1) if like.items() <= run.items())
    trained = []
    monkeypatch.setattr(
        regimes, "init_nlp", lambda c: trained.append(init_nlp(c)) or trained[0]
    )
    result = regimes.train(run, data, encoder)
    assert ("span_segmenter" in trained[0].pipe_names) == (segmentation == "spans")
    optimizer = trained[0].config["training"]["optimizer"]
    assert optimizer["learn_rate"]["initial_rate"] == rate
    assert (-1 if pipeline == "score" else 0) <= result["score"] <= 1
