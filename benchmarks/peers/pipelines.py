"""Peers that are spaCy pipelines, and ours.

    python -m benchmarks.peers.pipelines PEER FOLDER ENCODER SEED

FOLDER has train.spacy and test.spacy; predicted.spacy is written.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import spacy
import torch
from confection import Config
from spacy.cli.init_config import init_config
from spacy.tokens import Doc, DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train

from spacy_spanft.configs import config_for_data, config_text
from spacy_spanft.configs.encoders import put_encoder


def by_init(task: str) -> Callable[[Path, str], Config]:
    """Return what makes the config that `spanft init` writes."""

    def make(data: Path, encoder: str) -> Config:
        made = config_for_data(str(data), transformer=encoder, task=task)
        return Config().from_str(config_text(made.config, made.task, "config.cfg"))

    return make


def by_spacy(
    component: str, optimize: str, over: bool, steps: int | None = None
) -> Callable[[Path, str], Config]:
    """Return what makes the config of `spacy init config`, perhaps over the encoder.

    steps (Optional[int]): So many steps of 8 texts; None trains until 1,600 steps of
        2,000 words made nothing better, which takes hours on a CPU.
    """

    def make(data: Path, encoder: str) -> Config:
        config = init_config(pipeline=[component], optimize=optimize, gpu=over)
        if over:
            put_encoder(config, encoder)
        elif component == "textcat":
            # The vectors that spaCy recommends are on no package index.
            config["paths"]["vectors"] = None
            embed = config["components"]["tok2vec"]["model"]["embed"]
            embed["include_static_vectors"] = False
        held_out = {
            "@readers": "spacy-spanft.HeldOutCorpus.v1",
            "share": 0.2,
            "seed": 0,
        }
        corpus = {
            "@readers": "spacy.Corpus.v1",
            "path": str(data),
            "gold_preproc": False,
        }
        for part in ("train", "dev"):
            config["corpora"][part] = {**held_out, "part": part, "corpus": corpus}
        if steps is not None:
            batcher = {"@batchers": "spacy.batch_by_sequence.v1", "size": 8}
            config["training"] |= {"batcher": batcher, "accumulate_gradient": 1}
            config["training"] |= {"max_steps": steps, "eval_frequency": steps // 3}
            rate = config["training"]["optimizer"]["learn_rate"]
            rate |= {"warmup_steps": steps // 10, "total_steps": steps}
        return config

    return make


PEERS: dict[str, Callable[[Path, str], Config]] = {
    "spanft init": by_init("textcat"),
    "spaCy textcat, ensemble": by_spacy("textcat", "accuracy", over=False),
    "spaCy textcat, same encoder": by_spacy("textcat", "efficiency", over=True),
    "spanft init, bilou_ner": by_init("bilou_ner"),
    "spaCy ner, CNN": by_spacy("ner", "efficiency", over=False),
    "spaCy ner, same encoder": by_spacy("ner", "efficiency", over=True),
    "spaCy ner, same encoder, 300 steps": by_spacy(
        "ner", "efficiency", over=True, steps=300
    ),
}


def main(peer: str, folder: Path, encoder: str, seed: int) -> None:
    """Train, predict, and write the predictions."""
    torch.set_num_threads(1)
    config = PEERS[peer](folder / "train.spacy", encoder)
    config["system"]["seed"] = config["training"]["seed"] = seed
    (folder / "pipeline").mkdir()
    train(init_nlp(config), folder / "pipeline")
    nlp = spacy.load(folder / "pipeline" / "model-best")
    gold = DocBin().from_disk(folder / "test.spacy").get_docs(nlp.vocab)
    spaced = (
        ([t.text for t in doc], [bool(t.whitespace_) for t in doc]) for doc in gold
    )
    docs = [Doc(nlp.vocab, words, spaces) for words, spaces in spaced]
    DocBin(docs=nlp.pipe(docs)).to_disk(folder / "predicted.spacy")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
