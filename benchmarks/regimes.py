"""The configs of `init`, with few labels, in two training regimes.

    python -m benchmarks.regimes DATA ENCODER

DATA is a folder with glue/SST-2, glue/STS-B, ner/wnut17/wnut17train.conll and,
somewhere below nltk_data, CoNLL-2000's train.txt; ENCODER a folder that transformers
reads. Each run trains on 300 texts with all settings of `init`, and is scored on 500
others. It is appended to benchmarks/results/regimes.jsonl when it is done.
"""

import random
import tempfile
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import spacy
import typer
from spacy.tokens import Doc, DocBin
from spacy.training import biluo_tags_to_spans, iob_to_biluo
from spacy.training.initialize import init_nlp
from spacy.util import registry

from spacy_spanft.configs import task_config
from spacy_spanft.configs.templates import base

from .arguments import Encoder, Folder
from .fewlabels.configs import precision
from .fewlabels.encoders import check_same
from .fewlabels.tasks import TASKS, check_data, draw, write
from .fewlabels.training import fit
from .matrix import Run, run_missing

RESULTS = Path(__file__).parent / "results" / "regimes.jsonl"
REGIMES = ("everything", "head-first")
RATE = base("textcat")["training"]["optimizer"]["learn_rate"]["initial_rate"]
CHUNKS = "CoNLL-2000"
N_TRAIN, N_TEST = 300, 500
# As many as `init` gives so few texts.
EPOCHS = 20


class Trained(NamedTuple):
    """What a run trains.

    metric (str): The key of its score.
    task (str): The data: the name of one of TASKS, or CHUNKS.
    pipeline (str): The task, as `init --pipeline` calls it.
    segmentation (str): The segmentation that `init` writes.
    """

    metric: str
    task: str
    pipeline: str
    segmentation: str = "none"


PIPELINES = {
    "textcat": Trained("cats_macro_f", "SST-2", "textcat", "spans"),
    "score": Trained("cats_spearman", "STS-B", "score", "spans"),
    "ner": Trained("ents_f", "WNUT17", "ner"),
    "bilou_ner": Trained("ents_f", "WNUT17", "bilou_ner"),
    "spancat": Trained("spans_sc_f", "WNUT17", "spancat"),
    "tagger": Trained("tag_acc", CHUNKS, "tagger"),
}


def files_of(data: Path, pipeline: str, seed: int, folder: Path) -> dict[str, str]:
    """Write the training and test data of a pipeline."""
    name = PIPELINES[pipeline].task
    header = ""
    if name == CHUNKS:
        blocks = chunks_of(data).read_text("utf8").split("\n\n")
        texts = drawn_from([block for block in blocks if block.strip()], seed)
    else:
        drawn = draw(data, TASKS[name], "held-out", N_TRAIN, seed)
        header, texts = drawn.header, (drawn.train, drawn.test)
    files = {}
    for part, rows in zip(("train", "dev"), texts, strict=True):
        if name in TASKS and TASKS[name].text:
            path = write(folder / f"{part}.tsv", TASKS[name], header, rows)
        else:
            path = folder / f"{part}.spacy"
            DocBin(docs=docs_of(rows, pipeline)).to_disk(path)
        files[part] = str(path)
    return files


def drawn_from(rows: list[Any], seed: int) -> tuple[list[Any], list[Any]]:
    """Draw training rows, and return them and the test rows of all seeds."""
    random.Random(0).shuffle(rows)
    test, pool = rows[:N_TEST], rows[N_TEST:]
    return random.Random(seed).sample(pool, min(N_TRAIN, len(pool))), test


def chunks_of(data: Path) -> Path:
    """Return the file of CoNLL-2000's training data, or raise."""
    paths = sorted((data / "nltk_data").rglob("conll2000/train.txt"))
    if not paths:
        raise SystemExit(f"{data} lacks conll2000/train.txt, below nltk_data.")
    return paths[0]


def docs_of(texts: Sequence[str], pipeline: str) -> Iterator[Doc]:
    """Yield Docs of texts in columns, with the annotations for a pipeline."""
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
    """Train a pipeline, and return its score."""
    own = PIPELINES[run["pipeline"]]
    with tempfile.TemporaryDirectory() as name:
        files = files_of(data, run["pipeline"], run["seed"], Path(name))
        config = task_config(
            own.pipeline,
            transformer=str(encoder),
            files=files,
            columns={"text": "sentence"} if own.pipeline == "textcat" else {},
            regime=run["regime"],
            segmentation=own.segmentation,
        )
        config["system"]["seed"] = run["seed"]
        config["training"]["max_epochs"] = EPOCHS
        config["training"]["optimizer"]["learn_rate"]["initial_rate"] = run["rate"]
        config["components"]["transformer"]["model"]["precision"] = precision()
        nlp = init_nlp(config)
        corpora = registry.resolve(nlp.config.interpolate()["corpora"])
        examples, dev = (list(corpora[part](nlp)) for part in ("train", "dev"))
    fit(nlp, examples, EPOCHS, run["seed"])
    return {"score": round(nlp.evaluate(dev)[own.metric], 5)}


def runs(seeds: int) -> Iterator[Run]:
    """Yield the runs, all of a seed before those of the next one."""
    for seed, name, regime in product(range(seeds), PIPELINES, REGIMES):
        run = {"pipeline": name, "regime": regime, "rate": RATE, "seed": seed}
        yield {**run, "segmentation": PIPELINES[name].segmentation}


def main(
    data: Folder,
    encoder: Encoder,
    seeds: Annotated[int, typer.Option(min=1)] = 3,
    results: Annotated[Path, typer.Option(dir_okay=False)] = RESULTS,
) -> None:
    """Do the runs that are missing."""
    tasks = {own.task for own in PIPELINES.values()}
    check_data(data, sorted(tasks - {CHUNKS}))
    chunks_of(data)
    check_same(results.parent, encoder)
    run_missing(results, list(runs(seeds)), lambda run: train(run, data, encoder))


if __name__ == "__main__":
    typer.run(main)
