"""Few texts: the same draws for all, and scores before and after training."""

from collections import Counter
from pathlib import Path

from benchmarks import few_texts
from benchmarks.peers import foreign
from spacy_spanft.configs import fitting


def test_draws_are_nested_and_balanced():
    rows = [{"text": str(i), "label": "abc"[i % 3]} for i in range(3000)]
    few = few_texts.drawn(rows, 8, 0)
    assert Counter(row["label"] for row in few) == {"a": 8, "b": 8, "c": 8}
    assert len(few_texts.drawn(rows, 300, 0)) == 300
    assert few_texts.drawn(rows, 300, 0) == few_texts.drawn(rows, 300, 0)
    assert few_texts.drawn(rows, 300, 0) != few_texts.drawn(rows, 300, 1)


def test_a_run_is_scored_before_and_after(data, encoder, monkeypatch):
    monkeypatch.setattr(fitting, "_STEPS_OF_FEW", 2)
    run = {"task": "SST-2", "size": 8, "peer": "spanft init", "seed": 0}
    (data / "glue/MRPC/dev.tsv").rename(data / "glue/MRPC/test.tsv")
    for task in ("SST-2", "MRPC"):
        result = few_texts.do({**run, "task": task}, data, {"en": encoder}, "")
        assert 0 <= result["probe_macro_f"] <= 1
        assert 0 <= result["accuracy"] <= 1

    def answer(command):
        folder = Path(command[3])
        n_tests = len((folder / "test.jsonl").read_text().splitlines())
        (folder / "predictions.jsonl").write_text('"1"\n' * n_tests)
        return {"train_cpu": 1.0}

    monkeypatch.setattr(few_texts, "timed", answer)
    scored = few_texts.do({**run, "peer": "SetFit"}, data, {"en": encoder}, "python")
    assert scored == {"accuracy": 0.5, "macro_f": 0.3333, "train_cpu": 1.0}
    assert "SetFit" in foreign.PEERS
