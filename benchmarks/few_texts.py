"""`init` and `train` with few labels against a linear probe and SetFit.

    python -m benchmarks.few_texts DATA ENCODER E5 --python /setfit/bin/python

DATA is a folder with glue/SST-2, glue/MRPC, textcat/chemprot, textcat/citation_intent,
fewclue and enwiki2015.txt.zst; E5 is a multilingual encoder, for the Chinese texts. No
setting is typed: `init` decides, and SetFit (in an environment of its own, as in
`benchmarks.peers`) has its defaults. "probe" is what `init`'s training starts from. All
have the same training texts, drawn anew by each seed: 8 of each label, or so many in
all; and the same (at most 500) test texts. "stretches" asks which of ten stretches of
Wikipedia, other ones for each seed, a sentence is from. Rerun the command to resume.
"""

import json
import random
import re
import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, NamedTuple

import spacy
import torch
import typer
from confection import Config
from sklearn.metrics import f1_score
from spacy.language import Language
from spacy.training.initialize import init_nlp
from spacy.training.loop import train

from spacy_spanft.configs import config_for_data, config_text
from spacy_spanft.ml.pairs import join_pair
from spacy_spanft.util.tables import read_table

from .arguments import Encoder, Folder
from .harness import read_lines
from .matrix import Run, run_missing
from .peers import foreign
from .peers.__main__ import timed

RESULTS = Path(__file__).parent / "results" / "few_texts.jsonl"
SIZES, DRAWS, N_TEST = (8, 100, 300, 1000), 5, 500
# Of a stretch of Wikipedia.
_PARAGRAPHS, _SENTENCES, _N_TRAIN = 150, 150, 100
PEERS = ("spanft init", "SetFit")
Row = dict[str, str]


class Few(NamedTuple):
    """A task: its files of training and test texts, its columns, its language."""

    train: str
    test: str
    columns: tuple[str, ...] = ("text",)
    lang: str = "en"


def _of_jsonl(name: str) -> Few:
    return Few(
        f"textcat/{name}/{name}.train.jsonl", f"textcat/{name}/{name}.test.jsonl"
    )


_MRPC = "glue/MRPC/train.tsv", "glue/MRPC/test.tsv"
_EPRSTMT = "fewclue/eprstmt.train_few_all.json", "fewclue/eprstmt.test_public.json"
_TNEWS = "fewclue/tnews.train_few_all.json", "fewclue/tnews.test_public.json"
TASKS = {
    "SST-2": Few("glue/SST-2/train.tsv", "glue/SST-2/dev.tsv", ("sentence",)),
    "citation_intent": _of_jsonl("citation_intent"),
    "chemprot": _of_jsonl("chemprot"),
    "MRPC": Few(*_MRPC, ("sentence1", "sentence2")),
    "eprstmt": Few(*_EPRSTMT, ("sentence",), "zh"),
}
# An encoder knows much of a topic already: the probe is good.
TOPICS = {
    "tnews": Few(*_TNEWS, ("sentence",), "zh"),
    "stretches": Few("enwiki2015.txt.zst", ""),
}


def rows_of(path: Path, columns: tuple[str, ...]) -> list[Row]:
    """Read texts and labels."""
    names = columns if len(columns) > 1 else ("text",)
    rows = read_table(path, format="tsv" if path.suffix == ".tsv" else "jsonl")
    return [
        dict(zip(names, (row.cells[x] for x in columns), strict=True))
        | {"label": str(row.cells["label"])}
        for row in rows
    ]


def of_stretches(
    path: Path, n_stretches: int, seed: int
) -> tuple[list[Row], list[Row]]:
    """Draw stretches of a text, which are the labels of their sentences."""
    rng = random.Random(seed)
    lines = [*read_lines(path)]
    parts: tuple[list[Row], list[Row]] = [], []
    starts: list[int] = []
    while len(parts[0]) < n_stretches * _N_TRAIN:
        start = rng.randrange(len(lines) - _PARAGRAPHS)
        if any(abs(start - other) < _PARAGRAPHS for other in starts):
            continue
        whole = " ".join(lines[start : start + _PARAGRAPHS])
        sentences = dict.fromkeys(re.split(r"(?<=[.!?])\s+(?=[A-Z])", whole))
        usual = [text for text in sentences if 6 <= len(text.split()) <= 30]
        if len(usual) >= _SENTENCES:
            starts.append(start)
            label = str(len(parts[0]) // _N_TRAIN)
            for i, text in enumerate(rng.sample(usual, _SENTENCES)):
                parts[i >= _N_TRAIN].append({"text": text, "label": label})
    return parts


def drawn(rows: list[Row], size: int, seed: int) -> list[Row]:
    """Draw texts: with a size of 8, as many of each label."""
    rng = random.Random(seed)
    labels = sorted({row["label"] for row in rows})
    kinds = [[row for row in rows if row["label"] == label] for label in labels]
    few = [row for kind in kinds for row in rng.sample(kind, min(8, len(kind)))]
    if size == 8:
        return few
    # One stream of random numbers for all sizes, as in the recorded runs.
    sizes = SIZES[1 : SIZES.index(size) + 1]
    return [rng.sample(rows, min(n, len(rows))) for n in sizes][-1]


def ours(folder: Path, test: list[Row], encoder: Path, lang: str, seed: int) -> Run:
    """Train as `init` says, and score; and a probe of the encoder as it is."""
    begin = time.process_time()
    made = config_for_data(
        str(folder / "train.jsonl"), transformer=str(encoder), lang=lang
    )
    config = Config().from_str(config_text(made.config, made.task, "config.cfg"))
    config["system"]["seed"] = config["training"]["seed"] = seed
    frozen = config.copy()
    frozen["initialize"]["after_init"]["contrast"] = 0
    untimed = time.process_time()
    of_probe = scores(init_nlp(frozen), test)
    begin += time.process_time() - untimed
    probe = {f"probe_{name}": x for name, x in of_probe.items()}
    (folder / "pipeline").mkdir()
    train(init_nlp(config), folder / "pipeline")
    cpu = round(time.process_time() - begin, 1)
    best = spacy.load(folder / "pipeline" / "model-best")
    return {**scores(best, test), **probe, "train_cpu": cpu}


def scores(nlp: Language, test: list[Row]) -> dict[str, float]:
    """Return accuracy and macro F of a pipeline."""
    texts = [
        join_pair(row["sentence1"], row["sentence2"])
        if "sentence1" in row
        else row["text"]
        for row in test
    ]
    docs = nlp.pipe(texts, batch_size=64)
    return scored([max(doc.cats, key=doc.cats.__getitem__) for doc in docs], test)


def scored(predicted: list[str], test: list[Row]) -> dict[str, float]:
    """Return accuracy and macro F of labels."""
    gold = [row["label"] for row in test]
    n_right = sum(a == b for a, b in zip(predicted, gold, strict=True))
    macro = f1_score(gold, predicted, average="macro", zero_division=0)
    return {
        "accuracy": round(n_right / len(gold), 4),
        "macro_f": round(float(macro), 4),
    }


def setfit(folder: Path, test: list[Row], encoder: Path, python: str, seed: int) -> Run:
    """Train SetFit in a process, and score."""
    words = [python, foreign.__file__, "SetFit", str(folder), str(encoder), str(seed)]
    cost = timed(words)
    lines = (folder / "predictions.jsonl").read_text("utf8").splitlines()
    return {**scored([json.loads(line) for line in lines], test), **cost}


def do(run: Run, data: Path, encoders: dict[str, Path], python: str) -> Run:
    """Do a run."""
    task = (TASKS | TOPICS)[run["task"]]
    if task.test:
        rows, others = (
            rows_of(data / x, task.columns) for x in (task.train, task.test)
        )
    else:
        rows, others = of_stretches(data / task.train, 10, run["seed"])
    test = random.Random(0).sample(others, min(N_TEST, len(others)))
    with TemporaryDirectory() as name:
        folder = Path(name)
        parts = {"train": drawn(rows, run["size"], run["seed"]), "test": test}
        for part, kept in parts.items():
            lines = "".join(json.dumps(row) + "\n" for row in kept)
            (folder / f"{part}.jsonl").write_text(lines, "utf8")
        encoder, seed = encoders[task.lang], run["seed"]
        if run["peer"] == "SetFit":
            return setfit(folder, test, encoder, python, seed)
        return ours(folder, test, encoder, task.lang, seed)


def wanted() -> Iterator[Run]:
    """Yield the runs, those of one draw after the other."""
    for seed, (name, task), size, peer in product(
        range(DRAWS), (TASKS | TOPICS).items(), SIZES, PEERS
    ):
        # SetFit takes single texts, and an hour for 1,000; eprstmt has 160 texts.
        is_pair, is_small = len(task.columns) > 1, name == "eprstmt"
        if name in TOPICS and (peer == "SetFit" or size == 1000):
            continue
        if (peer == "SetFit" and (is_pair or size == 1000)) or (
            is_small and size > 100
        ):
            continue
        yield {"task": name, "size": size, "peer": peer, "seed": seed}


def main(
    data: Folder,
    encoder: Encoder,
    e5: Encoder,
    python: Annotated[str, typer.Option(help="SetFit's interpreter")] = sys.executable,
    results: Annotated[Path, typer.Option(dir_okay=False)] = RESULTS,
) -> None:
    """Do the runs that are missing."""
    torch.set_num_threads(1)
    encoders = {"en": encoder, "zh": e5}
    run_missing(results, [*wanted()], lambda run: do(run, data, encoders, python))


if __name__ == "__main__":
    typer.run(main)
