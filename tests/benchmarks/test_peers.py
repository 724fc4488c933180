"""Peers get the same texts, and their predictions are compared."""

import pytest
from spacy.training.initialize import init_nlp
from spacy.util import registry

from benchmarks.peers import __main__ as peers
from benchmarks.peers import foreign, pipelines


def test_tags_become_entities_as_seqeval_reads_them():
    tags = ["B-X", "I-X", "I-Y", "O", "B-Y", "B-Y", "I-Y"]
    expected = [[0, 2, "X"], [2, 3, "Y"], [4, 5, "Y"], [5, 7, "Y"]]
    assert foreign.entities_of(tags) == expected


@pytest.mark.parametrize(
    ("name", "peer"),
    [
        ("SST-2", "Hugging Face Trainer"),
        ("WNUT17", "Hugging Face token classification"),
    ],
)
def test_a_peer_is_trained_and_compared(name, peer, data, encoder, tmp_path, capsys):
    pytest.importorskip("accelerate")
    runs = [
        {"task": name, "size": 8, "peer": peer, "seed": seed, "encoder": "tiny"}
        for seed in (0, 1)
    ]
    results = [peers.run_peer(run, data, encoder, tmp_path, {}) for run in runs]
    assert all(0 <= result["score"] <= 1 for result in results)
    assert all(result["megabytes"] > 100 for result in results)
    # The same predictions, as another peer's.
    runs += [{**run, "peer": "copy"} for run in runs]
    for run in runs[:2]:
        copied = peers.prediction_file(tmp_path, {**run, "peer": "copy"})
        copied.write_bytes(peers.prediction_file(tmp_path, run).read_bytes())
    peers.compare_cell(tmp_path, name, 8, runs)
    mean = 100 * sum(result["score"] for result in results) / 2
    lines = capsys.readouterr().out.splitlines()[-3:]
    assert lines[0].startswith(f"  {peer}: {mean:.1f}")
    assert lines[1].startswith(f"  copy: {mean:.1f}")


@pytest.mark.parametrize(
    ("peer", "names"),
    [
        ("spaCy ner, CNN", ["tok2vec", "ner"]),
        ("spaCy ner, same encoder", ["transformer", "ner"]),
        ("spaCy textcat, same encoder", ["transformer", "textcat"]),
    ],
)
def test_configs_of_spacy_hold_out_a_fifth(peer, names, data, encoder, tmp_path):
    task = peers.TASKS["SST-2" if "textcat" in peer else "WNUT17"]
    docs = peers.docs_of(data / task.train, task)
    peers.DocBin(docs=docs).to_disk(tmp_path / "train.spacy")
    nlp = init_nlp(pipelines.PEERS[peer](tmp_path / "train.spacy", str(encoder)))
    assert nlp.pipe_names == names
    corpora = registry.resolve(nlp.config.interpolate()["corpora"])
    sizes = [len(list(corpora[part](nlp))) for part in ("train", "dev")]
    assert sum(sizes) == len(docs)
    assert sizes[1] == pytest.approx(len(docs) / 5, abs=1)
