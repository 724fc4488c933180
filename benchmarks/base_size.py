"""The paper's head at the paper's size: whole GLUE tasks, an encoder as large as BERT.

    python -m benchmarks.base_size --data DATA --encoder ENCODER

DATA is a folder with glue/RTE/train.tsv and so on, ENCODER one that transformers reads.
All arms have the same whole training set, three epochs in batches of 32, a learning
rate of 2e-5 with warm-up and linear decay; the last state is scored on the dev data,
once, and nothing is chosen there. Which texts were right is recorded. The runs come in
an order that has an answer early: two tasks and two arms first, then the control,
then more seeds, tasks and arms. A run is appended to the results when it is done; one
that is stopped begins anew. Several processes may share the runs, on one GPU too.
"""

import gc
import signal
import sys
from collections.abc import Iterator
from importlib.metadata import version
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import torch
import typer
from spacy.scorer import Scorer
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import registry
from thinc.api import CupyOps, get_current_ops, set_gpu_allocator

from spacy_spanft.util.gpu import CPU, select_gpu

from .arguments import checked_encoder
from .fewlabels.arms import BASELINE, CHOSEN
from .fewlabels.configs import config_for, precision
from .fewlabels.encoders import digest
from .fewlabels.tasks import TASKS as FEWLABELS
from .fewlabels.tasks import Task, is_there
from .fewlabels.training import BATCH, by_length, fit
from .matrix import Run, run_missing

RESULTS = Path(__file__).parent / "results" / "base_size.jsonl"
_RTE = ("glue/RTE/train.tsv", "glue/RTE/dev.tsv", ("cats_accuracy", "cats_macro_f"))
TASKS = {
    "RTE": Task("pair", "textcat", *_RTE, "sentence1"),
    **{name: FEWLABELS[name] for name in ("CoLA", "MRPC", "STS-B")},
}
FIRST, REST = ("CoLA", "RTE"), ("MRPC", "STS-B")
# "init" stands for the head that `init` writes for a task.
NGRAMS, RANDOM, LATER = "ngrams", "random", ("cnn", "init")
SEEDS, EPOCHS, RATE = 3, 3, 2e-5
PACKAGES = ("spacy-spanft", "spacy", "thinc", "torch", "transformers", "numpy")


def train(run: Run, data: Path, encoder: Path) -> dict[str, Any]:
    """Train an arm on a task, and return its scores."""
    task = TASKS[run["task"]]
    head = CHOSEN[task.kind].init if run["arm"] == "init" else run["arm"]
    n_steps = run["epochs"] * -(-run["n_train"] // BATCH)
    with TemporaryDirectory() as name:
        lines = (data / task.train).read_text("utf8").split("\n")
        part = Path(name) / "train.tsv"
        part.write_text("\n".join(lines[: run["n_train"] + 1]) + "\n", "utf8")
        files = {"train": part, "dev": data / task.dev}
        how = {**run, "arm": head, "regime": "everything"}
        config = config_for(task, how, encoder, files, n_steps)
        config["components"]["transformer"]["model"]["precision"] = _precision()[0]
        nlp = init_nlp(config)
        corpora = registry.resolve(nlp.config.interpolate()["corpora"])
        examples, dev = list(corpora["train"](nlp)), list(corpora["dev"](nlp))
    assert len(examples) == run["n_train"]
    fit(nlp, examples, run["epochs"], run["seed"], is_shown=True)
    ordered = by_length(dev)
    docs = nlp.pipe([example.predicted for example in ordered], batch_size=BATCH)
    for example, doc in zip(ordered, docs, strict=True):
        example.predicted = doc
    scores = Scorer(nlp).score(dev)
    result: dict[str, Any] = {name: round(scores[name], 5) for name in task.metrics}
    print(f"  {result}", flush=True)
    result |= {"n_dev": len(dev), "steps": n_steps, "head": head}
    result |= {"precision": _precision()[1], "threads": torch.get_num_threads()}
    result["device"] = torch.cuda.get_device_name() if _is_on_gpu() else "CPU"
    if task.kind == "labels":
        result["right"] = _right(dev)
    result["versions"] = {package: version(package) for package in PACKAGES}
    # A pipeline is in circles, and Python does not see how large they are.
    del nlp, examples, dev, ordered, docs
    gc.collect()
    return result


def _is_on_gpu() -> bool:
    return isinstance(get_current_ops(), CupyOps)


def _precision() -> tuple[str, str]:
    """Return the encoder's precision as the config has it, and as it is recorded."""
    return ("single", "tf32") if _is_on_gpu() else (precision(), precision())


def _right(dev: list[Example]) -> str:
    """Return which texts got their true label, as 1 and 0 in the order of the data."""
    predicted, true = (
        [max(doc.cats, key=doc.cats.__getitem__) for doc in docs]
        for docs in zip(*((eg.predicted, eg.reference) for eg in dev), strict=True)
    )
    return "".join(str(int(p == t)) for p, t in zip(predicted, true, strict=True))


def order(seeds: int) -> Iterator[tuple[str, str, int]]:
    """Yield task, arm and seed of each run, the most informative ones first."""
    for tasks, seed in product((FIRST, REST), range(seeds)):
        yield from product(tasks, (BASELINE, NGRAMS), [seed])
        yield from product(tasks, (RANDOM,), [seed])
    for arm, seed, task in product(LATER, range(seeds), TASKS):
        yield task, arm, seed


def main(
    data: Annotated[Path, typer.Option(exists=True, file_okay=False)],
    encoder: Annotated[Path, typer.Option(callback=checked_encoder)],
    results: Annotated[Path, typer.Option(dir_okay=False)] = RESULTS,
    texts: Annotated[int, typer.Option(min=1, help="fewer, for a trial")] = 10**9,
    threads: Annotated[int, typer.Option(min=1)] = 2,
    seeds: Annotated[int, typer.Option(min=1)] = SEEDS,
    gpu: Annotated[int, typer.Option(help="the number of a GPU; -1: none")] = CPU,
) -> None:
    """Do the runs that are missing, one after another."""
    if missing := [name for name, task in TASKS.items() if not is_there(data, task)]:
        raise SystemExit(f"{data} lacks the data of {', '.join(missing)}.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Stopped."))
    torch.set_num_threads(threads)
    select_gpu(gpu)
    if gpu != CPU:
        set_gpu_allocator("pytorch")
        torch.set_float32_matmul_precision("high")
    sizes = {}
    for name, task in TASKS.items():
        text = (data / task.train).read_text("utf8")
        sizes[name] = text.rstrip("\n").count("\n")
    same: Run = {"rate": RATE, "epochs": EPOCHS, "batch": BATCH, "warmup": 0.1}
    same |= {"encoder": encoder.resolve().name, "sha256": digest(encoder)[:16]}
    runs = [
        {"task": task, "arm": arm, "seed": seed, "n_train": min(texts, sizes[task])}
        for task, arm, seed in order(seeds)
    ]
    wanted = [{**run, **same} for run in runs]
    run_missing(results, wanted, lambda run: train(run, data, encoder))


if __name__ == "__main__":
    typer.run(main)
