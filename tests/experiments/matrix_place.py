"""A folder with configs, arms and data that a matrix trains in a moment."""

import json

import spacy
from spacy.tokens import DocBin

from spacy_spanft import NgramDictionary
from spacy_spanft.experiments import plan_runs, read_arms

SPAN_MODEL = """
[components.textcat.model]
@architectures = "spacy-spanft.SpanTextCat.v1"
exclusive_classes = true

[components.textcat.model.span_pooling]
@architectures = "spacy-spanft.CnnPooling.v1"

[components.textcat.model.doc_pooling]
@architectures = "spacy-spanft.MaxPooling.v1"

[components.textcat.model.tok2vec]
"""
SEGMENTER = """
[components.span_segmenter]
factory = "span_segmenter"

[components.span_segmenter.segmenter]
@segmenters = "spacy-spanft.NgramSegmenter.v1"
"""
CONFIG = """
[paths]
train = null
dev = null

[system]
seed = 0
gpu_allocator = null

[nlp]
lang = "en"
pipeline = {pipeline}

[components]
{segmenter}
[components.textcat]
factory = "textcat"
{model}
@architectures = "spacy.HashEmbedCNN.v2"
pretrained_vectors = null
width = 8
depth = 1
embed_size = 100
window_size = 1
maxout_pieces = 2
subword_features = false

[corpora]

[training]
accumulate_gradient = 1
annotating_components = {annotates}
train_corpus = "corpora.train"
dev_corpus = "corpora.dev"
seed = ${{system.seed}}
gpu_allocator = ${{system.gpu_allocator}}

[training.batcher]
@batchers = "spacy.batch_by_sequence.v1"
size = 4

[training.optimizer]
@optimizers = "Adam.v1"

[training.optimizer.learn_rate]
@schedules = "warmup_linear.v1"
initial_rate = 0.01
warmup_steps = 1
total_steps = 1

[initialize]
{initialize}
"""
BASE_MODEL = """
[components.textcat.model]
@architectures = "spacy.TextCatReduce.v1"
exclusive_classes = true
use_reduce_mean = true
use_reduce_first = false
use_reduce_last = false
use_reduce_max = false

[components.textcat.model.tok2vec]
"""
INITIALIZE = """
[initialize.components]

[initialize.components.span_segmenter]
dictionary = "tiny.tsv.gz"
"""
ARMS = """
arms:
  baseline: {config: baseline}
  random:
    segmenter: {"@segmenters": spacy-spanft.RandomSegmenter.v1, seed: 3}
    note: cut at random
  ngrams:
    block: {use_cls: false}
    set: {training.dropout: 0.25}
"""


def save_docs(folder, n=10):
    nlp = spacy.blank("en")
    folder.mkdir(parents=True)
    for part in ("train", "dev"):
        docs = [
            nlp.make_doc(f"{'good' if i % 2 else 'bad'} film {i}") for i in range(n)
        ]
        for i, doc in enumerate(docs):
            doc.cats = {"A": float(i % 2), "B": float(1 - i % 2)}
        DocBin(docs=docs).to_disk(folder / f"{part}.spacy")


def write_place(folder):
    """Write configs, arms, and the data of two tasks."""
    (folder / "configs").mkdir()
    without = {"segmenter": "", "model": BASE_MODEL, "initialize": ""}
    with_spans = {"segmenter": SEGMENTER, "model": SPAN_MODEL, "initialize": INITIALIZE}
    kinds = {"baseline": ([], without), "spanft": (["span_segmenter"], with_spans)}
    for name, (annotates, blocks) in kinds.items():
        lists = {"pipeline": [*annotates, "textcat"], "annotates": annotates}
        values = {key: json.dumps(value) for key, value in lists.items()}
        config = CONFIG.format(**values, **blocks)
        (folder / "configs" / f"tiny_{name}.cfg").write_text(config)
    (folder / "arms.yml").write_text(ARMS)
    # The default one has 100,000 n-grams, and is written with each checkpoint.
    NgramDictionary({"good film": 2, "bad film": 2}).to_disk(folder / "tiny.tsv.gz")
    save_docs(folder / "data" / "one")
    save_docs(folder / "data" / "two", n=7)


def plan(*data, arms="arms.yml", configs="configs/tiny", **settings):
    """Plan a matrix in the folder."""
    settings = {"epochs": 3, "configs": configs, **settings}
    return plan_runs(read_arms(arms), data, "out", **settings)
