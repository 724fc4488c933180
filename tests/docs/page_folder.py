"""What the snippets of the documentation find in the current folder."""

import json
import shutil

import numpy as np
import spacy
from spacy.tokens import DocBin, Span
from spacy.training import Example

from spacy_spanft import NgramDictionary

from ..ml.test_textcat import TOKENS
from ..tiny import save_encoder
from .pages import ROOT, snippets

CONFIG = """
configs:
- config_name: wikitext-103-raw-v1
  data_files: data.jsonl
"""
LINE = "New York City is one of the largest cities in the United States.\n"


def save_all(folder):
    """Save data, pipelines and runs."""
    pairs = "sentence1\tsentence2\tlabel\na b\tc\t0\na\ta\t1\n"
    (folder / "packages").mkdir()
    for name in ("train.tsv", "dev.tsv"):
        (folder / name).write_text(pairs, encoding="utf8")
    for name in ("corpus.txt", "texts.txt"):
        (folder / name).write_text(LINE * 15, encoding="utf8")
    NgramDictionary({"new york": 1}).to_disk(folder / "ngrams.tsv.gz")
    save_hub(folder / "wikitext")
    save_classifiers(folder)
    save_tagger(folder / "training" / "entities" / "model-best")
    save_runs(folder)
    # As long as what init lets it read.
    encoder = save_encoder(folder / "bert-base-uncased", n_positions=128)
    save_pipeline(folder / "training" / "model-best", encoder)
    for one in snippets("docs/quickstart.md"):
        if one.note == "file":  # other pages name them, too
            (folder / one.value).write_text(one.code, encoding="utf8")


def save_hub(hub):
    """Save a dataset of the same format as on the hub."""
    hub.mkdir()
    (hub / "README.md").write_text(f"---{CONFIG}---\n", encoding="utf8")
    rows = [json.dumps({"text": f" {LINE}"}) + "\n"] * 12
    (hub / "data.jsonl").write_text("".join(rows), encoding="utf8")


def save_pipeline(folder, encoder):
    """Save a pipeline that takes pairs of texts, with an encoder."""
    tokenizer = {"@tokenizers": "spacy-spanft.PairTokenizer.v1"}
    nlp = spacy.blank("en", config={"nlp": {"tokenizer": tokenizer}})
    model = {"name": str(encoder)}
    nlp.add_pipe("spanft_encoder", "transformer", config={"model": model})
    textcat = nlp.add_pipe("textcat")
    for label in ("same", "other"):
        textcat.add_label(label)
    nlp.initialize()
    folder.parent.mkdir(exist_ok=True)
    nlp.to_disk(folder)


def save_classifiers(folder):
    """Save four pipelines to compare, and what to compare them with."""
    pooling = {"@architectures": "spacy-spanft.MaxPooling.v1"}
    over_spans = {
        "@architectures": "spacy-spanft.SpanTextCat.v1",
        "tok2vec": TOKENS,
        **{"span_pooling": pooling, "doc_pooling": pooling, "exclusive_classes": True},
    }
    for arm, settings in (("base", {}), ("spans", {"model": over_spans})):
        nlp = spacy.blank("en")
        segmenter = nlp.add_pipe("span_segmenter")
        segmenter.initialize(dictionary=NgramDictionary({"New York": 9}))
        textcat = nlp.add_pipe("textcat", config=settings)
        for label in ("same", "other"):
            textcat.add_label(label)
        nlp.initialize()
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
    rows = [json.dumps({"text": doc.text, "label": "same"}) + "\n"] * 3
    (folder / "predictions.jsonl").write_text("".join(rows), encoding="utf8")


def save_tagger(folder):
    """Save a pipeline that finds an entity, as `bilou_ner` and as `spancat` do."""
    first = {"@architectures": "spacy-spanft.FirstPooling.v1"}
    over_spans = {
        "@architectures": "spacy-spanft.SpanTok2Vec.v1",
        **{"tok2vec": TOKENS, "token_pooling": first},
    }
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("en")
    segmenter = nlp.add_pipe("span_segmenter")
    segmenter.initialize(dictionary=NgramDictionary({"new york": 9}))
    nlp.add_pipe("bilou_ner", config={"model": {"tok2vec": over_spans}})
    scorer = {"@layers": "spacy-spanft.LinearCrossEntropy.v1"}
    model = {"scorer": scorer, "tok2vec": TOKENS}
    nlp.add_pipe("spancat", config={"model": model})
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


def save_runs(folder):
    """Save the data of a task, and one run of a matrix."""
    shutil.copytree(ROOT / "configs", folder / "configs")
    for part in ("train", "dev", "test"):
        path = folder / "corpus" / "cola" / f"{part}.spacy"
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "test.spacy", path)
    save_table(folder / "corpus" / "reviews")
    task = folder / "training" / "cola"
    run_folder = task / "encoder" / "0"
    shutil.copytree(folder / "training" / "base" / "model-best", run_folder / "model")
    (task / "arms.json").write_text(
        '{"arms": ["encoder"], "notes": {}, "runs": {"encoder/0": "x"}}'
    )
    facts = {
        "fingerprint": "x",
        "arm": "encoder",
        "seed": 0,
        "seconds": 1.0,
        "words_per_second": 2.0,
    }
    (run_folder / "run.json").write_text(json.dumps({**facts, "peak_memory": None}))
    (run_folder / "log.jsonl").write_text('{"step": 0, "score": 0.5}\n')


def save_table(task):
    """Save the data of a task as tables."""
    task.mkdir()
    for part in ("train", "dev", "test"):
        rows = "text,label\nThe film was good.,positive\nThe film was bad.,negative\n"
        (task / f"{part}.csv").write_text(rows, encoding="utf8")
