"""A folder with configs, arms and data of an experiment that takes a moment."""

from pathlib import Path

import spacy
from confection import Config
from spacy.tokens import DocBin

from spacy_spanft import NgramDictionary
from spacy_spanft.experiments import plan_runs, read_arms

from ..ml.test_textcat import CNN, MAX, TOKENS, span_model
from .measured import BOW

SPAN_MODEL = span_model(CNN, MAX, tok2vec=TOKENS)
SEGMENTER = {
    "factory": "span_segmenter",
    "segmenter": {"@segmenters": "spacy-spanft.NgramSegmenter.v1"},
}
TRAINING = {
    **{"accumulate_gradient": 1, "annotating_components": []},
    **{"train_corpus": "corpora.train", "dev_corpus": "corpora.dev"},
    **{"seed": "${system.seed}", "gpu_allocator": "${system.gpu_allocator}"},
    "batcher": {"@batchers": "spacy.batch_by_sequence.v1", "size": 4},
    "optimizer": {"@optimizers": "Adam.v1"},
}
BASELINE = {
    "paths": {"train": None, "dev": None},
    "system": {"seed": 0, "gpu_allocator": None},
    "nlp": {"lang": "en", "pipeline": ["textcat"]},
    "components": {"textcat": {"factory": "textcat", "model": BOW}},
    **{"corpora": {}, "training": TRAINING, "initialize": {}},
}
SPANFT = {
    **BASELINE,
    "nlp": {"lang": "en", "pipeline": ["span_segmenter", "textcat"]},
    "components": {
        "span_segmenter": SEGMENTER,
        "textcat": {"factory": "textcat", "model": SPAN_MODEL},
    },
    "training": {**TRAINING, "annotating_components": ["span_segmenter"]},
    # The default one has 100,000 n-grams, and is written with each checkpoint.
    "initialize": {"components": {"span_segmenter": {"dictionary": "tiny.tsv.gz"}}},
}
NLP = spacy.blank("en")
BASE, SPANS = "config: tiny_baseline.cfg", "config: tiny_spanft.cfg"
ARMS = f"""
arms:
  baseline: {{{BASE}}}
  random:
    {SPANS}
    segmenter: {{"@segmenters": spacy-spanft.RandomSegmenter.v1, seed: 3}}
    note: cut at random
  ngrams:
    {SPANS}
    block: {{use_cls: false}}
    set: {{training.dropout: 0.25}}
"""


def save_docs(folder, n=10, word="film"):
    folder.mkdir(parents=True)
    for part in ("train", "dev"):
        docs = [
            NLP.make_doc(f"{'good' if i % 2 else 'bad'} {word} {i}") for i in range(n)
        ]
        for i, doc in enumerate(docs):
            doc.cats = {"A": float(i % 2), "B": float(1 - i % 2)}
        DocBin(docs=docs).to_disk(folder / f"{part}.spacy")


def write_place(folder):
    for name, config in (("baseline", BASELINE), ("spanft", SPANFT)):
        path = folder / f"tiny_{name}.cfg"
        Config(config).to_disk(path, interpolate=False)
    (folder / "arms.yml").write_text(ARMS)
    NgramDictionary({"good film": 2, "bad film": 2}).to_disk(folder / "tiny.tsv.gz")
    save_docs(folder / "data" / "one")
    save_docs(folder / "data" / "two", n=7)


def plan(*data, arms=None, epochs=3, **settings):
    """Plan an experiment in the folder; `arms` is what stands in its file."""
    if arms is not None:
        Path("arms.yml").write_text(f"arms: {arms}")
    return plan_runs(read_arms("arms.yml"), data, "out", epochs=epochs, **settings)
