"""Whether the probabilities of `bilou_ner`'s entities are right, and what they cost.

    python -m benchmarks.entity_scores DATA ENCODER

It trains on 1,000 sentences of WikiGold, and predicts the dev data: with and without
the probabilities, in turns. The table shows the share of correct entities in each of
ten bins of probability. The expected calibration error is the mean distance of that
share to the mean probability, over all entities.
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
    **{"rate": 2e-4, "head_rate": 2e-4, "precision": "single", "seed": 0},
}
Numbers = np.ndarray[Any, np.dtype[Any]]


def calibration(probabilities: Numbers, is_right: Numbers, n_bins: int = 10) -> Any:
    """Return a row for each bin of probability that has entities.

    RETURNS (list[tuple]): The bounds of each bin, the number of its entities, their
        mean probability, and the share of those that are correct.
    """
    bounds = np.linspace(0, 1, n_bins + 1)
    bins = np.clip(np.digitize(probabilities, bounds[1:-1], right=True), 0, n_bins - 1)
    rows = []
    for i, (low, high) in enumerate(pairwise(bounds)):
        inside = bins == i
        if inside.any():
            means = probabilities[inside].mean(), is_right[inside].mean()
            rows.append((low, high, int(inside.sum()), *map(float, means)))
    return rows


def calibration_error(rows: Any) -> float:
    """Return the mean distance of probability and share, weighted by entities."""
    n = sum(row[2] for row in rows)
    return float(sum(row[2] * abs(row[3] - row[4]) for row in rows) / n)


def _predict(nlp: Language, texts: list[Doc], key: str | None, turn: int) -> list[Doc]:
    nlp.get_pipe("bilou_ner").scores_key = key  # type: ignore[attr-defined]
    return list(nlp.pipe([text.copy() for text in texts], batch_size=64))


def main(
    data: Folder, encoder: Encoder, size: int = 1000, epochs: int = 5, n_turns: int = 10
) -> None:
    """Measure."""
    nlp, test = trained({**RUN, "size": size, "epochs": epochs}, data, encoder)
    texts = [example.predicted for example in test]
    scores, is_right = [], []
    for doc, example in zip(_predict(nlp, texts, KEY, 0), test, strict=True):
        gold = {(e.start_char, e.end_char, e.label_) for e in example.reference.ents}
        group = doc.spans[KEY]
        scores += group.attrs["scores"]
        is_right += [(s.start_char, s.end_char, s.label_) in gold for s in group]
    jobs = {
        "with": partial(_predict, nlp, texts, KEY),
        "without": partial(_predict, nlp, texts, None),
    }
    report("prediction", "s", timed_in_turns(jobs, n_turns), "with")
    rows = calibration(np.array(scores), np.array(is_right))
    cells = [
        (f"{low:.1f}-{high:.1f}", str(n), f"{mean:.3f}", f"{share:.3f}")
        for low, high, n, mean, share in rows
    ]
    header = ("probability", "entities", "mean", "correct")
    print(table(cells, header=header, divider=True))
    print(f"expected calibration error: {calibration_error(rows):.3f}")


if __name__ == "__main__":
    typer.run(main)
