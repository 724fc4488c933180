"""Train what people would take instead, on the same texts, and compare predictions.

    python -m benchmarks.peers DATA ENCODER OUTPUT --task WNUT17 --size 300
    python -m benchmarks.peers DATA ENCODER OUTPUT --python "SetFit=/setfit/bin/python"

Each run is a process of its own, at the settings that its authors recommend. Its
predictions stay in OUTPUT; its score, seconds and memory go to the results. At the end,
`compare` gets the predictions of each task and size. Rerun the command to resume.
"""

import json
import os
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import spacy
import typer
from spacy.scorer import Scorer
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.util import registry

from spacy_spanft.experiments import compare
from spacy_spanft.training.gold import labels_in

from ..arguments import Encoder, Folder
from ..fewlabels.tasks import TASKS as FEWLABELS
from ..fewlabels.tasks import Task, draw, write
from ..matrix import Run, run_missing
from . import foreign, pipelines

RESULTS = Path(__file__).parents[1] / "results" / "peers.jsonl"
# The dev data of CrossNER are larger than its training data.
_POLITICS = ("ner/crossner/politics.dev.conll", "ner/crossner/politics.test.conll")
TASKS = {
    **{name: FEWLABELS[name] for name in ("SST-2", "WNUT17", "WikiGold")},
    "CrossNER politics": Task("bilou_ner", "bilou_ner", *_POLITICS, ("ents_f",)),
}
OF_TEXTS = [
    "spanft init",
    "Hugging Face Trainer",
    "SetFit",
    "spaCy textcat, ensemble",
    "spaCy textcat, same encoder",
]
OF_TOKENS = [
    "spanft init, bilou_ner",
    "Hugging Face token classification",
    "Hugging Face token classification, 300 steps",
    "SpanMarker",
    "spaCy ner, same encoder",
    "spaCy ner, same encoder, 300 steps",
    "spaCy ner, CNN",
]


def docs_of(path: Path, task: Task) -> list[Doc]:
    """Read texts and what is annotated in them."""
    block = {"@readers": "spacy-spanft.ConllCorpus.v1", "path": str(path)}
    if task.text:
        name = {"text": task.text, "label": "label"}
        block |= {"@readers": "spacy-spanft.TableCorpus.v1", **name}
    corpus = registry.resolve({"corpus": block})["corpus"]
    return [example.reference for example in corpus(spacy.blank("en"))]


def row_of(doc: Doc) -> dict[str, Any]:
    """Return a Doc for peers that know nothing of spaCy."""
    ents = [(ent.start, ent.end, ent.label_) for ent in doc.ents]
    row = {"text": doc.text, "tokens": [token.text for token in doc], "ents": ents}
    return {**row, "label": max(doc.cats, key=doc.cats.get) if doc.cats else None}  # type: ignore[arg-type]


def with_answer(doc: Doc, answer: Any, labels: list[str]) -> Doc:
    """Return a copy of a Doc with a predicted label, or entities."""
    words, spaces = [t.text for t in doc], [bool(t.whitespace_) for t in doc]
    predicted = Doc(doc.vocab, words, spaces)
    if isinstance(answer, str):
        predicted.cats = {label: float(label == answer) for label in labels}
    else:
        spans = [Span(predicted, *ent) for ent in answer]
        predicted.ents = spacy.util.filter_spans(spans)
    return predicted


def run_peer(
    run: Run, data: Path, encoder: Path, output: Path, pythons: dict[str, str]
) -> dict[str, Any]:
    """Train a peer in a process, keep its predictions, and return its score."""
    task, peer = TASKS[run["task"]], run["peer"]
    drawn = draw(data, task, "dev", run["size"], run["seed"])
    with TemporaryDirectory() as name:
        folder = Path(name)
        kind = "tsv" if task.text else "conll"
        docs = {}
        for part, rows in (("train", drawn.train), ("test", drawn.test)):
            file = write(folder / f"{part}.{kind}", task, drawn.header, rows)
            docs[part] = docs_of(file, task)
            DocBin(docs=docs[part]).to_disk(folder / f"{part}.spacy")
            lines = [json.dumps(row_of(doc)) + "\n" for doc in docs[part]]
            (folder / f"{part}.jsonl").write_text("".join(lines), "utf8")
        is_foreign = peer in foreign.PEERS
        words = (
            [str(Path(foreign.__file__))] if is_foreign else ["-m", pipelines.__name__]
        )
        words += [peer, str(folder), str(encoder), str(run["seed"])]
        cost = timed([pythons.get(peer, sys.executable), *words])
        if is_foreign:
            lines = (folder / "predictions.jsonl").read_text("utf8").splitlines()
            labels = sorted({row_of(doc)["label"] for doc in docs["train"]} - {None})
            predicted = [
                with_answer(doc, json.loads(line), labels)
                for doc, line in zip(docs["test"], lines, strict=True)
            ]
        else:
            bins = DocBin().from_disk(folder / "predicted.spacy")
            predicted = list(bins.get_docs(docs["test"][0].vocab))
    kept = prediction_file(output, run)
    kept.parent.mkdir(parents=True, exist_ok=True)
    DocBin(docs=predicted).to_disk(kept)
    DocBin(docs=docs["test"]).to_disk(kept.with_name("gold.spacy"))
    score = score_of(predicted, docs["test"])
    return {"score": score, **cost}


def timed(command: list[str]) -> dict[str, float]:
    """Run a command, and return its seconds, CPU seconds and peak memory."""
    start = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[-4]} failed; see above.")
    seconds = time.perf_counter() - start
    return {
        "train_seconds": round(seconds, 1),
        "train_cpu": round(used.ru_utime + used.ru_stime, 1),
        "megabytes": round(used.ru_maxrss / 1024),
    }


def prediction_file(output: Path, run: Run) -> Path:
    """Return where the predictions of a run are kept."""
    name = f"{run['peer']}.{run['size']}.{run['seed']}.spacy".replace(" ", "-")
    return output / run["task"] / name


def score_of(predicted: list[Doc], gold: list[Doc]) -> float:
    """Return the F1 of entities, or the accuracy of labels."""
    if not gold[0].cats:
        examples = [Example(p, g) for p, g in zip(predicted, gold, strict=True)]
        score: float = Scorer.score_spans(examples, "ents")["ents_f"]
        return round(score, 5)
    pairs = [
        (row_of(p)["label"], row_of(g)["label"])
        for p, g in zip(predicted, gold, strict=True)
    ]
    return round(sum(a == b for a, b in pairs) / len(pairs), 5)


def compare_cell(output: Path, task: str, size: int, runs: list[Run]) -> None:
    """Print the comparison of a task and a size."""
    arms: dict[str, list[Path]] = {}
    for run in runs:
        if (run["task"], run["size"]) == (task, size):
            arms.setdefault(run["peer"], []).append(prediction_file(output, run))
    metric = "cats_accuracy" if TASKS[task].text else "ents_f"
    gold = output / task / "gold.spacy"
    with TemporaryDirectory() as folder:
        # A pipeline says how predictions are scored.
        save_untrained(gold, Path(folder) / "untrained")
        arms["untrained"] = [Path(folder) / "untrained"]
        comparison = compare(arms, gold, metric=metric)
    print(f"\n{task}, {size} texts: {metric}")
    for arm in comparison.arms:
        print(f"  {arm.name}: {100 * arm.mean:.1f}", arm.method or "")


def save_untrained(gold: Path, folder: Path) -> None:
    """Save a pipeline that has learned nothing."""
    nlp = spacy.blank("en")
    docs = list(DocBin().from_disk(gold).get_docs(nlp.vocab))
    pipe: Any = nlp.add_pipe("textcat" if docs[0].cats else "ner")
    for label in sorted({label for doc in docs for label in labels_in(doc)}):
        pipe.add_label(label)
    nlp.initialize()
    nlp.to_disk(folder)


def main(
    data: Folder,
    encoder: Encoder,
    output: Annotated[Path, typer.Argument(file_okay=False)],
    tasks: Annotated[list[str], typer.Option("--task")] = list(TASKS),  # noqa: B006
    sizes: Annotated[list[int], typer.Option("--size")] = [100, 300],  # noqa: B006
    peers: Annotated[list[str], typer.Option("--peer")] = [],  # noqa: B006
    draws: Annotated[int, typer.Option(min=1)] = 5,
    python: Annotated[list[str], typer.Option(help="PEER=interpreter")] = [],  # noqa: B006
    results: Annotated[Path, typer.Option(dir_okay=False)] = RESULTS,
) -> None:
    """Do the runs that are missing, and compare."""
    pythons = dict(pair.split("=", 1) for pair in python)
    wanted = [
        {
            "task": task,
            "size": size,
            "peer": peer,
            "seed": seed,
            "encoder": encoder.name,
        }
        for seed, size, task in product(range(draws), sizes, tasks)
        for peer in (OF_TEXTS if TASKS[task].text else OF_TOKENS)
        if not peers or peer in peers
    ]
    how = (data, encoder, output, pythons)
    run_missing(results, wanted, lambda run: run_peer(run, *how))
    for task, size in product(tasks, sizes):
        compare_cell(output, task, size, wanted)


if __name__ == "__main__":
    typer.run(main)
