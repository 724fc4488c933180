"""What `init` writes, with few labels: with spans or without, and in which regime.

    python -m benchmarks.regimes DATA ENCODER

DATA is a folder with glue/SST-2, glue/STS-B, ner/wnut17/wnut17train.conll,
ner/wikigold/wikigold.conll.txt and, somewhere below nltk_data, CoNLL-2000's train.txt;
ENCODER one that transformers reads.
Each run trains on 300 texts with all settings of `init`, labels and scores of texts at
other learning rates as well, and is scored on 500 others of the same files. It is
appended to benchmarks/results/regimes.jsonl when it is done, and not done again.
"""

import random
import tempfile
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import spacy
import srsly
import typer
from spacy.tokens import Doc, DocBin
from spacy.training import biluo_tags_to_spans, iob_to_biluo
from spacy.training.initialize import init_nlp
from spacy.util import registry

from spacy_spanft.configs import task_config
from spacy_spanft.configs.bases import base

from .arguments import Encoder, Folder
from .fewlabels.configs import precision
from .fewlabels.encoders import check_same
from .fewlabels.tasks import TASKS, check_data, draw, write
from .fewlabels.training import fit
from .matrix import Run, only_those, run_missing

RESULTS = Path(__file__).parent / "results" / "regimes.jsonl"
REGIMES = ("everything", "head-first")
# That of `init`, and those that texts are trained at as well.
RATE = base("textcat")["training"]["optimizer"]["learn_rate"]["initial_rate"]
OTHER_RATES = (2e-5, 1e-4)
CHUNKS, FIRST_TYPES = "CoNLL-2000", "entity types"
# Whose texts have the type of their first entity as a label.
TYPED = ("WNUT17", "WikiGold")
# In the place of a segmentation: `init --no-spans`.
NO_SPANS = "no spans"


class Trained(NamedTuple):
    """What is trained.

    metric (str): What scores it.
    task (str): What it is trained on: the name of one of TASKS, CHUNKS or FIRST_TYPES.
    pipeline (str): What `init` calls it.
    segmentation (str): What `init` writes: what its head looks at.
    """

    metric: str
    task: str
    pipeline: str
    segmentation: str = "none"


PIPELINES = {
    "textcat": Trained("cats_macro_f", "SST-2", "textcat", "spans"),
    "types": Trained("cats_macro_f", FIRST_TYPES, "textcat", "spans"),
    "score": Trained("cats_spearman", "STS-B", "score", "spans"),
    "ner": Trained("ents_f", "WNUT17", "ner"),
    "bilou_ner": Trained("ents_f", "WNUT17", "bilou_ner"),
    "spancat": Trained("spans_sc_f", "WNUT17", "spancat"),
    "tagger": Trained("tag_acc", CHUNKS, "tagger"),
}
N_TRAIN, N_TEST = 300, 500
# As many as `init` gives so few texts.
EPOCHS = 20
# What WNUT17 calls those of WikiGold.
_TYPES = {"PER": "person", "LOC": "location", "ORG": "group", "MISC": "other"}


def files_of(data: Path, pipeline: str, seed: int, folder: Path) -> dict[str, str]:
    """Write what a pipeline is trained on, and what it is scored on."""
    name = PIPELINES[pipeline].task
    if name == FIRST_TYPES:
        return first_types(data, seed, folder)
    if name not in TASKS:
        header, texts = "", tagged(data, seed)
    else:
        drawn = draw(data, TASKS[name], "held-out", N_TRAIN, seed)
        header, texts = drawn.header, (drawn.train, drawn.test)
    files = {}
    for part, own in zip(("train", "dev"), texts, strict=True):
        if name in TASKS and TASKS[name].text:
            path = write(folder / f"{part}.tsv", TASKS[name], header, own)
        else:
            path = folder / f"{part}.spacy"
            DocBin(docs=docs_of(own, pipeline)).to_disk(path)
        files[part] = str(path)
    return files


def first_types(data: Path, seed: int, folder: Path) -> dict[str, str]:
    """Write texts whose label is the type of their first entity.

    These are seven labels of real texts, and the rarest is that of one text in thirty.
    """
    rows = []
    for task in TYPED:
        # Its own dev data aside, all that a task has.
        drawn = draw(data, TASKS[task], "held-out", 0, seed)
        for text in (*drawn.pool, *drawn.test):
            lines = [line.split() for line in text.split("\n")]
            types = [tag[2:] for _, *_, tag in lines if tag != "O"]
            if types:
                words = " ".join(word for word, *_ in lines)
                label = _TYPES.get(types[0], types[0])
                rows.append({"sentence": words, "label": label})
    files = {}
    for part, own in zip(("train", "dev"), drawn_from(rows, seed), strict=True):
        path = folder / f"{part}.jsonl"
        srsly.write_jsonl(path, own)
        files[part] = str(path)
    return files


def tagged(data: Path, seed: int) -> tuple[list[str], list[str]]:
    """Draw texts with a tag for each token, to train on and to be scored on."""
    text = chunks_of(data).read_text("utf8")
    blocks = [one for one in text.split("\n\n") if one.strip()]
    return drawn_from(blocks, seed)


def drawn_from(every: list[Any], seed: int) -> tuple[list[Any], list[Any]]:
    """Draw what to train on, and give what is held out for all seeds."""
    random.Random(0).shuffle(every)
    test, pool = every[:N_TEST], every[N_TEST:]
    return random.Random(seed).sample(pool, min(N_TRAIN, len(pool))), test


def chunks_of(data: Path) -> Path:
    """Find the training data of CoNLL-2000, or stop."""
    found = sorted((data / "nltk_data").rglob("conll2000/train.txt"))
    if not found:
        raise SystemExit(f"{data} lacks conll2000/train.txt, below nltk_data.")
    return found[0]


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
    what = PIPELINES[pipeline]
    with tempfile.TemporaryDirectory() as name:
        files = files_of(data, pipeline, seed, Path(name))
        how = {name: run[name] for name in ("regime", "segmentation")}
        if run["segmentation"] == NO_SPANS:
            how = {"regime": run["regime"], "spans": False}
        columns = {"text": "sentence"} if what.pipeline == "textcat" else {}
        config = task_config(
            what.pipeline, transformer=str(encoder), files=files, columns=columns, **how
        )
        config["system"]["seed"] = seed
        config["training"]["max_epochs"] = EPOCHS
        config["training"]["optimizer"]["learn_rate"]["initial_rate"] = run["rate"]
        config["components"]["transformer"]["model"]["precision"] = precision()
        nlp = init_nlp(config)
        corpora = registry.resolve(nlp.config.interpolate()["corpora"])
        examples, dev = (list(corpora[part](nlp)) for part in ("train", "dev"))
    fit(nlp, examples, EPOCHS, seed)
    return {"score": round(nlp.evaluate(dev)[what.metric], 5)}


def runs(seeds: int) -> Iterator[Run]:
    """Name the runs, all of a seed before those of the next one.

    What labels or scores texts is trained at other rates as well, with and without
    spans, all of it at once.
    """
    for seed, (pipeline, what) in product(range(seeds), PIPELINES.items()):
        kinds = [(regime, what.segmentation, RATE) for regime in REGIMES]
        if what.segmentation == "spans":
            pairs = product((what.segmentation, NO_SPANS), (RATE, *OTHER_RATES))
            kinds += [(REGIMES[0], *pair) for pair in pairs]
        for regime, segmentation, rate in dict.fromkeys(kinds):
            run = {"pipeline": pipeline, "regime": regime, "rate": rate, "seed": seed}
            yield {**run, "segmentation": segmentation}


def check_files(data: Path, names: set[str]) -> None:
    """Stop if a folder lacks what pipelines are trained on."""
    typed = TYPED if FIRST_TYPES in names else ()
    check_data(data, sorted((names | {*typed}) & TASKS.keys()))
    if CHUNKS in names:
        chunks_of(data)


def main(
    data: Folder,
    encoder: Encoder,
    seeds: Annotated[int, typer.Option(min=1)] = 3,
    only: Annotated[list[str], typer.Option(help="e.g. pipeline=score")] = [],  # noqa: B006
    results: Annotated[Path, typer.Option(dir_okay=False)] = RESULTS,
) -> None:
    """Do the runs that are missing."""
    wanted = only_those(runs(seeds), only)
    check_files(data, {PIPELINES[run["pipeline"]].task for run in wanted})
    check_same(results.parent, encoder)
    run_missing(results, wanted, lambda run: train(run, data, encoder))


if __name__ == "__main__":
    typer.run(main)
