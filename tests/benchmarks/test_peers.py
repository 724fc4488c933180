"""Peers get the same texts; what can be is measured where one is missing."""

import re
from itertools import takewhile
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin

from benchmarks import encoder as encoding
from benchmarks import harness
from benchmarks.peers import __main__ as peers
from benchmarks.peers import foreign


@pytest.mark.parametrize(
    ("name", "peer"),
    [
        ("SST-2", "Hugging Face Trainer"),
        ("WNUT17", "Hugging Face token classification"),
    ],
)
def test_a_peer_is_trained(name, peer, data, encoder, tmp_path, monkeypatch):
    pytest.importorskip("accelerate")

    def here(command):
        _, _, peer, folder, encoder, seed = command
        foreign.main(peer, Path(folder), encoder, int(seed))
        return {"train_seconds": 1.0}

    monkeypatch.setattr(peers, "timed", here)
    run = {"task": name, "size": 8, "peer": peer, "seed": 0}
    result = peers.run_peer(run, data, encoder, tmp_path, {})
    vocab = spacy.blank("en").vocab
    files = peers.prediction_file(tmp_path, run), tmp_path / name / "gold.spacy"
    predicted, gold = (list(DocBin().from_disk(file).get_docs(vocab)) for file in files)
    assert [doc.text for doc in predicted] == [doc.text for doc in gold]
    assert result == {"score": peers.score_of(predicted, gold), "train_seconds": 1.0}
    assert peers.score_of(gold, gold) == 1.0


def rows_of(output, what):
    lines = [re.split(r"\s{2,}", line.strip()) for line in output.split("\n")]
    start = [line[0] for line in lines].index(what)
    rows = takewhile(lambda line: line != [""], lines[start + 2 :])
    return {name: cells for name, *cells in rows}


def test_the_encoder_against_a_plain_loop(bert, tmp_path, monkeypatch, capsys):
    """Without spacy-transformers and bf16, whose rows are then empty."""
    lines = [f"the film is {'very ' * (i % 7)}good\t{i % 2}" for i in range(80)]
    path = tmp_path / "train.tsv"
    path.write_text("sentence\tlabel\n" + "\n".join(lines) + "\n")
    monkeypatch.setattr(encoding, "needs", lambda name: harness.needs("nowhere"))
    monkeypatch.setattr(encoding, "cpu_has_bf16", lambda: False)
    encoding.main(path, bert, n_steps=1, n_predicted=10, n_turns=1)
    output = capsys.readouterr().out
    rows = rows_of(output, "training step")
    missing = [encoding.IN_BF16, encoding.OVER]
    assert [*rows] == [encoding.PLAIN, encoding.OURS, "textcat_baseline", *missing]
    for name in missing:
        assert f"⚠ {name} is not measured" in output
        assert rows[name] == []
    assert rows[encoding.OURS][2] == "1.00"
    expected = [*[*rows][:3], encoding.SORTED, *missing]
    assert [*rows_of(output, "prediction")] == expected
