"""Peers get the same texts; what can be is measured where one is missing."""

from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin

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
