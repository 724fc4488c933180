"""Whether scores change where a CPU trains or predicts in bf16.

    python -m benchmarks.half_precision DATA ENCODER

`train` learns from the same 300 texts in single precision and in bf16, and each
pipeline is scored in both. Rerun the command to resume.
"""

from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import spacy
import torch
import typer

from spacy_spanft import train
from spacy_spanft.experiments.evaluating import evaluate
from spacy_spanft.ml.encoder.hf_encoder import cpu_has_bf16

from .arguments import Encoder, Folder
from .fewlabels.tasks import TASKS, draw, write
from .matrix import Run, run_missing

RESULTS = Path(__file__).parent / "results" / "half_precision.jsonl"
SIZE, PRECISIONS = 300, ("single", "bf16")
METRICS = {"labels": "cats_accuracy", "scores": "cats_spearman", "tokens": "ents_f"}


def precise(precision: str) -> dict[str, str]:
    """Return the setting of a precision."""
    return {"components.transformer.model.precision": precision}


def do(run: Run, data: Path, encoder: Path) -> Run:
    """Train in one precision, and score in both."""
    task = TASKS[run["task"]]
    drawn = draw(data, task, "dev", SIZE, run["seed"])
    with TemporaryDirectory() as name:
        folder = Path(name)
        kind = "tsv" if task.text else "conll"
        files = {
            part: write(folder / f"{part}.{kind}", task, drawn.header, rows)
            for part, rows in (("train", drawn.train), ("test", drawn.test))
        }
        begin = process_time()
        train(
            files["train"],
            transformer=encoder,
            task=task.pipeline,
            output=folder / "training",
            overrides={**precise(run["trained_in"]), "system.seed": run["seed"]},
        )
        result = {"train_cpu": round(process_time() - begin, 1)}
        for precision in PRECISIONS:
            config = precise(precision)
            nlp = spacy.load(folder / "training" / "model-best", config=config)
            score = evaluate(nlp, str(files["test"])).scores[METRICS[task.kind]]
            result[precision] = round(score, 5)
    return result


def main(
    data: Folder,
    encoder: Encoder,
    results: Path = RESULTS,
    draws: int = 1,
) -> None:
    """Do the runs that are missing."""
    if not cpu_has_bf16():
        raise SystemExit("This CPU has no bf16: both would be single precision.")
    torch.set_num_threads(1)
    wanted = [
        {"task": task, "seed": seed, "trained_in": precision}
        for seed, task, precision in product(range(draws), TASKS, PRECISIONS)
    ]
    run_missing(results, wanted, lambda run: do(run, data, encoder))


if __name__ == "__main__":
    typer.run(main)
