"""Real NER: a plain Hugging Face loop, and our configs, seen and unseen entities apart.

    python -m benchmarks.ner NER ENCODER results.jsonl --rate 3e-4 --epochs 5

NER is a folder with wnut17/ and wikigold/ in CoNLL's columns, ENCODER one that
transformers reads. WikiGold has no split: its sentences are shuffled with a fixed seed
and cut 80/10/10. Each run is appended to the results when it is done, and not done
again. All arms have the same data, encoder, batches of 32 of like length, epochs,
learning rate and warm-up; scored is the last state. An entity is seen if the training
data has one of the same text and label.
"""

import random
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import spacy
import typer
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example, biluo_to_iob, iob_to_biluo
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import registry

from spacy_spanft.training.readers.conll import conll_corpus

from .arguments import Encoder, Folder
from .harness import as_in_the_paper, our_config
from .matrix import Run, plan, run_missing, summarize
from .plain_tagger import batches_by_length, fit_and_tag

RATE = "training.optimizer.learn_rate"
ARMS = (
    "plain",
    *("ner_baseline", "ner_spanft"),
    *("bilou_ner_baseline", "bilou_ner_spanft"),
)
WNUT = {
    "train": "wnut17train.conll",
    "dev": "emerging.dev.conll",
    "test": "emerging.test.annotated",
}
TASKS = ("wnut17", "wikigold")
Files = dict[str, Path]
Data = dict[str, list[Example]]


def files_of(folder: Path, task: str, split: Path) -> Files:
    """Name the files of train, dev and test data; WikiGold's are written to split."""
    if task == "wnut17":
        return {part: folder / task / name for part, name in WNUT.items()}
    text = (folder / task / "wikigold.conll.txt").read_text("utf8")
    blocks = (block.split("\n") for block in text.split("\n\n"))
    sentences = ["\n".join(x for x in one if x[:10] != "-DOCSTART-") for one in blocks]
    sentences = [one for one in sentences if one.strip()]
    random.Random(0).shuffle(sentences)
    n = len(sentences) // 10
    tests = {"dev": sentences[:n], "test": sentences[n : 2 * n]}
    parts = {"train": sentences[2 * n :], **tests}
    for part, own in parts.items():
        (split / f"{part}.conll").write_text("\n\n".join(own) + "\n", "utf8")
    return {part: split / f"{part}.conll" for part in parts}


def read(files: Files, nlp: Language) -> Data:
    """Read train, dev and test data."""
    return {part: list(conll_corpus(path)(nlp)) for part, path in files.items()}


def scores_of(data: Data, predicted: dict[str, list[Doc]]) -> dict[str, float]:
    """Score entities: all, those seen in training, and those not seen."""
    seen = {
        (ent.text.lower(), ent.label_)
        for example in data["train"]
        for ent in example.reference.ents
    }

    def getter(kind: str) -> Any:
        return lambda doc, _: [
            ent
            for ent in doc.ents
            if kind == "all"
            or ((ent.text.lower(), ent.label_) in seen) == (kind == "seen")
        ]

    scores = {}
    for part, docs in predicted.items():
        examples = [
            Example(doc, example.reference)
            for doc, example in zip(docs, data[part], strict=True)
        ]
        for kind in ("all", "seen", "unseen"):
            found = Scorer.score_spans(examples, "ents", getter=getter(kind))
            scores[f"{part}_{kind}"] = found["ents_f"]
    return scores


def run_plain(
    files: Files, encoder: Path, rate: float, epochs: int, seed: int
) -> dict[str, list[Doc]]:
    """Train the plain loop, and give what it finds in dev and test data."""
    data = read(files, spacy.blank("en"))
    words = {p: [[t.text for t in eg.reference] for eg in data[p]] for p in data}
    tags = [_iob(eg.reference) for eg in data["train"]]
    texts = words["dev"] + words["test"]
    found = fit_and_tag((words["train"], tags), texts, encoder, rate, seed, epochs)
    vocab = data["train"][0].reference.vocab
    # As in CoNLL's own script, an I- that follows no B- begins an entity.
    docs = [
        Doc(vocab, words=own, ents=biluo_to_iob(iob_to_biluo(tags)))
        for own, tags in zip(texts, found, strict=True)
    ]
    n = len(data["dev"])
    return {"dev": docs[:n], "test": docs[n:]}


def _iob(doc: Doc) -> list[str]:
    return [f"{t.ent_iob_}-{t.ent_type_}" if t.ent_type_ else "O" for t in doc]


def run_config(
    files: Files, encoder: Path, rate: float, epochs: int, seed: int, arm: str
) -> dict[str, list[Doc]]:
    """Train one of our configs, and give what it finds in dev and test data."""
    n_train = len(read(files, spacy.blank("en"))["train"])
    steps = epochs * -(-n_train // 32)
    overrides = {
        "paths.transformer": str(encoder),
        "system.seed": seed,
        f"{RATE}.initial_rate": rate,
        "training.max_epochs": 0,
        "training.max_steps": steps,
        # Only the last state is scored, as in the plain loop.
        "training.eval_frequency": steps,
    }
    config = our_config(arm, overrides)
    as_in_the_paper(config)
    for part in ("train", "dev"):
        reader = "spacy-spanft.ConllCorpus.v1"
        config["corpora"][part] = {"@readers": reader, "path": str(files[part])}
    config["training"]["batcher"] = {"@batchers": "benchmarks.by_length.v1"}
    nlp = init_nlp(config)
    train(nlp)
    data = read(files, nlp)
    return {
        part: list(nlp.pipe(example.predicted for example in data[part]))
        for part in ("dev", "test")
    }


@registry.batchers("benchmarks.by_length.v1")
def make_batcher() -> Any:
    """Batch as the plain loop does."""
    return partial(batches_by_length, length_of=lambda eg: len(eg.reference))


def main(
    ner: Folder,
    encoder: Encoder,
    results: Path,
    task: Annotated[list[str], typer.Option()] = list(TASKS),  # noqa: B006
    arm: Annotated[list[str], typer.Option()] = list(ARMS),  # noqa: B006
    seeds: int = 3,
    rate: float = 3e-4,
    epochs: int = 5,
) -> None:
    """Do the runs that are missing, and print the table."""

    def do(run: Run) -> dict[str, float]:
        with TemporaryDirectory() as split:
            files = files_of(ner, run["task"], Path(split))
            how = (files, encoder, rate, epochs, run["seed"])
            is_plain = run["arm"] == "plain"
            found = run_plain(*how) if is_plain else run_config(*how, run["arm"])
            return scores_of(read(files, spacy.blank("en")), found)

    summarize(
        run_missing(results, list(plan(task, arm, seeds, rate=rate, epochs=epochs)), do)
    )


if __name__ == "__main__":
    typer.run(main)
