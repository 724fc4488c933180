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


def test_stretches_are_labels_of_their_sentences(tmp_path, monkeypatch):
    """Stretch after stretch, each sentence in one part, other ones for each seed."""
    monkeypatch.setattr(few_texts, "_PARAGRAPHS", 9)
    monkeypatch.setattr(few_texts, "_SENTENCES", 6)
    monkeypatch.setattr(few_texts, "_N_TRAIN", 4)
    path = tmp_path / "text.txt"
    lines = [
        f"Here line {i} is a line. Again line {i} is one again." for i in range(90)
    ]
    path.write_text("\n".join([*lines, ""]))
    train, test = few_texts.of_stretches(path, 3, 0)
    assert Counter(row["label"] for row in train) == {"0": 4, "1": 4, "2": 4}
    assert Counter(row["label"] for row in test) == {"0": 2, "1": 2, "2": 2}
    texts = [row["text"] for row in train + test]
    assert len({*texts}) == 18
    for label in "012":
        own = [row["text"] for row in train + test if row["label"] == label]
        numbers = [int(text.split()[2]) for text in own]
        assert max(numbers) - min(numbers) < 9
    assert few_texts.of_stretches(path, 3, 0) == (train, test)
    assert few_texts.of_stretches(path, 3, 1) != (train, test)


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
