"""The files that the snippets of the documentation need in the current folder."""

import json
import shutil

import numpy as np
import spacy
from spacy.tokens import DocBin, Span
from spacy.training import Example

from spacy_spanft import NgramDictionary

from ..ml.test_textcat import MAX, TOKENS, span_model
from ..tiny import save_encoder
from .pages import ROOT, snippets

DATASET = """---
configs:
- config_name: wikitext-103-raw-v1
  data_files: data.jsonl
---
"""
LINE = "New York City is one of the largest cities in the United States.\n"
OVER_SPANS = span_model(MAX, MAX, tok2vec=TOKENS)


def save_all(folder):
    pairs = "sentence1\tsentence2\tlabel\n" + "a b\tc\t0\na\ta\t1\n" * 2
    texts = {"train.tsv": pairs, "dev.tsv": pairs}
    texts |= {"corpus.txt": LINE * 15, "texts.txt": LINE * 15}
    # As the hub has it.
    texts["wikitext/README.md"] = DATASET
    texts["wikitext/data.jsonl"] = (json.dumps({"text": f" {LINE}"}) + "\n") * 12
    for snippet in snippets("docs/quickstart.md"):
        if snippet.note == "file":  # other pages name them, too
            texts[snippet.value] = snippet.code
    for name in ("packages", "wikitext"):
        (folder / name).mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf8")
    NgramDictionary({"new york": 1}).to_disk(folder / "ngrams.tsv.gz")
    save_classifiers(folder)
    save_tagger(folder / "training" / "entities" / "model-best")
    save_tasks(folder)
    # As long as what init lets it read.
    encoder = save_encoder(folder / "bert-base-uncased", n_positions=128)
    shutil.copytree(encoder, folder / "sentence-transformers/all-MiniLM-L6-v2")
    tokenizer = {"@tokenizers": "spacy-spanft.PairTokenizer.v1"}
    nlp = spacy.blank("en", config={"nlp": {"tokenizer": tokenizer}})
    model = {"name": str(encoder)}
    nlp.add_pipe("spanft_encoder", "transformer", config={"model": model})
    add_labels(nlp.add_pipe("textcat"), nlp)
    nlp.to_disk(folder / "training" / "model-best")


def add_labels(textcat, nlp):
    for label in ("same", "other"):
        textcat.add_label(label)
    nlp.initialize()


def save_classifiers(folder):
    for arm, settings in (("base", {}), ("spans", {"model": OVER_SPANS})):
        nlp = spacy.blank("en")
        segmenter = nlp.add_pipe("span_segmenter")
        segmenter.initialize(dictionary=NgramDictionary({"New York": 9}))
        textcat = nlp.add_pipe("textcat", config=settings)
        add_labels(textcat, nlp)
        for seed, name in enumerate(("", "-0", "-1")):
            nlp.config["training"]["seed"] = seed
            weights = textcat.model.get_ref("output_layer")
            b = weights.get_param("b")
            weights.set_param("b", b + np.array([seed - 1, 0], "f"))  # other answers
            path = folder / "training" / f"{arm}{name}" / "model-best"
            path.parent.mkdir(parents=True, exist_ok=True)
            nlp.to_disk(path)
    doc = nlp.make_doc("New York")
    doc.cats = {"same": 1.0, "other": 0.0}
    DocBin(docs=[doc] * 3).to_disk(folder / "test.spacy")


def save_tagger(folder):
    """Save a pipeline whose `bilou_ner` and `spancat` find two entities."""
    first = {"@architectures": "spacy-spanft.FirstPooling.v1"}
    tok2vec = {"@architectures": "spacy-spanft.SpanTok2Vec.v1", "tok2vec": TOKENS}
    scorer = {"@layers": "spacy-spanft.LinearCrossEntropy.v1"}
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("en")
    segmenter = nlp.add_pipe("span_segmenter")
    segmenter.initialize(dictionary=NgramDictionary({"new york": 9}))
    model = {"tok2vec": {**tok2vec, "token_pooling": first}}
    nlp.add_pipe("bilou_ner", config={"model": model})
    nlp.add_pipe("spancat", config={"model": {"scorer": scorer, "tok2vec": TOKENS}})
    doc = nlp.make_doc("The film was shot in New York City.")
    reference = doc.copy()
    reference.ents = [Span(reference, 5, 8, "GPE"), Span(reference, 1, 2, "LOC")]
    reference.spans["sc"] = reference.ents
    examples = [Example(doc, reference)]
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(25):
        nlp.update(examples, sgd=optimizer, annotates=["span_segmenter"])
    assert len(nlp(doc.text).ents) == len(nlp(doc.text).spans["sc"]) == 2
    folder.parent.mkdir()
    nlp.to_disk(folder)


def save_tasks(folder):
    shutil.copytree(ROOT / "configs", folder / "configs")
    cola, reviews = folder / "corpus" / "cola", folder / "corpus" / "reviews"
    cola.mkdir(parents=True)
    reviews.mkdir()
    rows = "text,label\nThe film was good.,positive\nThe film was bad.,negative\n"
    for part in ("train", "dev", "test"):
        shutil.copy(folder / "test.spacy", cola / f"{part}.spacy")
        (reviews / f"{part}.csv").write_text(rows, encoding="utf8")
