"""What `init` writes for tokens, with few labels: all at once, or the head first.

    python -m benchmarks.regimes DATA ENCODER

DATA is a folder with ner/wnut17/wnut17train.conll and, somewhere below nltk_data,
CoNLL-2000's train.txt; ENCODER one that transformers reads. Each run trains on 300
texts with all settings of `init`, and is scored on 500 others of the same file. It is
appended to benchmarks/results/regimes.jsonl when it is done, and not done again.
"""

import random
import tempfile
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.tokens import Doc, DocBin
from spacy.training import biluo_tags_to_spans, iob_to_biluo
from spacy.training.initialize import init_nlp
from spacy.util import registry

from spacy_spanft.configs import task_config

from .arguments import Encoder, Folder
from .fewlabels.configs import precision
from .fewlabels.encoders import check_same
from .fewlabels.tasks import TASKS, draw
from .fewlabels.training import fit
from .matrix import Run, run_missing

RESULTS = Path(__file__).parent / "results" / "regimes.jsonl"
REGIMES = ("everything", "head-first")
# What is trained, and what scores it.
METRICS = {
    **{"ner": "ents_f", "bilou_ner": "ents_f"},
    **{"spancat": "spans_sc_f", "tagger": "tag_acc"},
}
# Of tokens; what was recorded with "spans" was `init`'s before.
SEGMENTATION = "none"
N_TRAIN, N_TEST = 300, 500
# As many as `init` gives so few texts.
EPOCHS = 20
_ENTITIES = "WNUT17"


def texts_of(data: Path, pipeline: str, seed: int) -> tuple[list[str], list[str]]:
    """Draw texts with the tags of their tokens, to train on and to be scored on."""
    if pipeline != "tagger":
        drawn = draw(data, TASKS[_ENTITIES], "held-out", N_TRAIN, seed)
        return drawn.train, drawn.test
    (path,) = (data / "nltk_data").rglob("conll2000/train.txt")
    blocks = [one for one in path.read_text("utf8").split("\n\n") if one.strip()]
    random.Random(0).shuffle(blocks)
    test, pool = blocks[:N_TEST], blocks[N_TEST:]
    return random.Random(seed).sample(pool, min(N_TRAIN, len(pool))), test


def docs_of(texts: Sequence[str], pipeline: str) -> Iterator[Doc]:
    """Make Docs of texts in columns, with what a pipeline learns from them."""
    vocab = spacy.blank("en").vocab
    for text in texts:
        words, tags = zip(*(line.split()[:2] for line in text.split("\n")), strict=True)
        if pipeline == "tagger":
            yield Doc(vocab, words=list(words), tags=list(tags))
            continue
        doc = Doc(vocab, words=list(words))
        spans = biluo_tags_to_spans(doc, iob_to_biluo(tags))
        doc.ents = spans
        doc.spans["sc"] = spans
        yield doc


def train(run: Run, data: Path, encoder: Path) -> dict[str, Any]:
    """Train a pipeline, and score it."""
    pipeline, seed = run["pipeline"], run["seed"]
    with tempfile.TemporaryDirectory() as name:
        files = {}
        texts = texts_of(data, pipeline, seed)
        for part, own in zip(("train", "dev"), texts, strict=True):
            files[part] = str(Path(name) / f"{part}.spacy")
            DocBin(docs=docs_of(own, pipeline)).to_disk(files[part])
        how = {name: run[name] for name in ("regime", "segmentation")}
        config = task_config(pipeline, transformer=str(encoder), files=files, **how)
        config["system"]["seed"] = seed
        config["training"]["max_epochs"] = EPOCHS
        config["components"]["transformer"]["model"]["precision"] = precision()
        nlp = init_nlp(config)
        corpora = registry.resolve(nlp.config.interpolate()["corpora"])
        examples, dev = (list(corpora[part](nlp)) for part in ("train", "dev"))
    fit(nlp, examples, EPOCHS, seed)
    scores = nlp.evaluate(dev)
    return {"score": round(scores[METRICS[pipeline]], 5)}


def runs(seeds: int) -> Iterator[Run]:
    """Name the runs, all of a seed before those of the next one."""
    for seed, pipeline, regime in product(range(seeds), METRICS, REGIMES):
        run = {"pipeline": pipeline, "regime": regime, "seed": seed}
        yield {**run, "segmentation": SEGMENTATION}


def main(
    data: Folder,
    encoder: Encoder,
    seeds: Annotated[int, typer.Option(min=1)] = 3,
    results: Annotated[Path, typer.Option(dir_okay=False)] = RESULTS,
) -> None:
    """Do the runs that are missing."""
    check_same(results.parent, encoder)
    run_missing(results, list(runs(seeds)), lambda run: train(run, data, encoder))


if __name__ == "__main__":
    typer.run(main)
