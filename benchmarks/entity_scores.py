"""What the exact probabilities of `bilou_ner`'s entities cost, and if they are right.

    python -m benchmarks.entity_scores DATA ENCODER

It trains on 1,000 sentences of WikiGold, and predicts the fifth of them that is kept
apart: with and without the probabilities, in turns. Of ten bins of probability the
table says how many of the entities in them are right; the expected calibration error is
the mean distance from that to the mean probability, over all entities.
"""

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import typer
from spacy.language import Language
from spacy.tokens import Doc
from wasabi.tables import table

from .arguments import Encoder, Folder
from .fewlabels.training import trained
from .harness import timed_in_turns
from .report import report

KEY = "entities"
RUN = {
    **{"task": "WikiGold", "arm": "encoder", "regime": "everything", "part": "dev"},
    **{"rate": 2e-4, "head_rate": 2e-4, "precision": "single"},
}
Numbers = np.ndarray[Any, np.dtype[Any]]


def calibration(scores: Numbers, right: Numbers, n_bins: int = 10) -> list[Any]:
    """Sort entities by their probability into bins of the same width.

    scores (NDArray): Their probabilities, (n,).
    right (NDArray): Which are right, (n,).
    n_bins (int): How many bins.
    RETURNS (list[tuple]): For each bin its bounds, how many entities it has, their mean
        probability, and the share of those that are right.
    """
    bounds = np.linspace(0, 1, n_bins + 1)
    number = np.clip(np.digitize(scores, bounds[1:-1], right=True), 0, n_bins - 1)
    rows = []
    for i, (low, high) in enumerate(pairwise(bounds)):
        own = number == i
        if own.any():
            means = float(scores[own].mean()), float(right[own].mean())
            rows.append((low, high, int(own.sum()), *means))
    return rows


def calibration_error(rows: list[Any]) -> float:
    """Compute the mean distance of probability and share, weighted by entities."""
    n = sum(row[2] for row in rows)
    return float(sum(row[2] * abs(row[3] - row[4]) for row in rows) / n)


def entities_of(doc: Doc) -> set[tuple[int, int, str]]:
    """Name the entities of a Doc."""
    return {(one.start_char, one.end_char, one.label_) for one in doc.ents}


def _predict(nlp: Language, texts: list[Doc], key: str | None, turn: int) -> None:
    nlp.get_pipe("bilou_ner").scores_key = key  # type: ignore[attr-defined]
    list(nlp.pipe([text.copy() for text in texts], batch_size=64))


def main(
    data: Folder,
    encoder: Encoder,
    size: int = 1000,
    epochs: int = 5,
    seeds: int = 1,
    n_turns: int = 10,
) -> None:
    """Measure."""
    scores, right = [], []
    for seed in range(seeds):
        run = {**RUN, "size": size, "epochs": epochs, "seed": seed}
        nlp, test = trained(run, data, encoder)
        texts = [example.predicted for example in test]
        nlp.get_pipe("bilou_ner").scores_key = KEY  # type: ignore[attr-defined]
        docs = list(nlp.pipe([text.copy() for text in texts]))
        for doc, example in zip(docs, test, strict=True):
            gold = entities_of(example.reference)
            for span, score in zip(
                doc.spans[KEY], doc.spans[KEY].attrs["scores"], strict=True
            ):
                scores.append(score)
                right.append((span.start_char, span.end_char, span.label_) in gold)
    jobs = {
        "with": partial(_predict, nlp, texts, KEY),
        "without": partial(_predict, nlp, texts, None),
    }
    report("prediction", "s", timed_in_turns(jobs, n_turns), "with")
    rows = calibration(np.array(scores), np.array(right))
    cells = [
        (f"{low:.1f}-{high:.1f}", str(n), f"{mean:.3f}", f"{share:.3f}")
        for low, high, n, mean, share in rows
    ]
    header = ("probability", "entities", "mean", "right")
    print(table(cells, header=header, divider=True))
    print(f"expected calibration error: {calibration_error(rows):.3f}")


if __name__ == "__main__":
    typer.run(main)
