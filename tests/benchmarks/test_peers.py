"""Peers get the same texts, and their predictions can be compared."""

from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.training.initialize import init_nlp
from spacy.util import registry

from benchmarks.peers import __main__ as peers
from benchmarks.peers import foreign, pipelines


def test_tags_become_entities_as_seqeval_reads_them():
    tags = ["B-X", "I-X", "I-Y", "O", "B-Y", "B-Y", "I-Y"]
    expected = [[0, 2, "X"], [2, 3, "Y"], [4, 5, "Y"], [5, 7, "Y"]]
    assert foreign.entities_of(tags) == expected


def test_answers_become_docs():
    doc = Doc(spacy.blank("en").vocab, ["New", "York", "City"])
    ents = [[0, 2, "X"], [1, 3, "Y"]]  # the first of those that overlap
    assert [(e.text, e.label_) for e in peers.with_answer(doc, ents, []).ents] == [
        ("New York", "X")
    ]
    assert peers.with_answer(doc, "a", ["a", "b"]).cats == {"a": 1.0, "b": 0.0}


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


@pytest.mark.parametrize(
    ("peer", "names"),
    [
        ("spaCy ner, CNN", ["tok2vec", "ner"]),
        ("spaCy textcat, same encoder", ["transformer", "textcat"]),
    ],
)
def test_configs_of_spacy_hold_out_a_fifth(peer, names, encoder, tmp_path):
    vocab = spacy.blank("en").vocab
    docs = [Doc(vocab, ["Rome", str(i)], ents=["B-X", "O"]) for i in range(20)]
    for i, doc in enumerate(docs):
        doc.cats = {"a": float(i % 2), "b": 1.0 - i % 2}
    DocBin(docs=docs).to_disk(tmp_path / "train.spacy")
    nlp = init_nlp(pipelines.PEERS[peer](tmp_path / "train.spacy", str(encoder)))
    assert nlp.pipe_names == names
    corpora = registry.resolve(nlp.config.interpolate()["corpora"])
    sizes = [len(list(corpora[part](nlp))) for part in ("train", "dev")]
    assert sizes == [16, 4]
