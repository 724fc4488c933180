"""How well an encoder knows similar texts before it is trained on any.

Sentence encoders are made so that the cosine of two texts' means says how similar they
are. What a head gains on STS-B has to be seen beside that.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from scipy.stats import pearsonr, spearmanr
from transformers import AutoModel, AutoTokenizer

from .choices import Run
from .tasks import TASKS, draw

TASK = "STS-B"
# A sentence encoder is made for texts that are encoded by themselves.
WAYS = {"apart": "each text by itself", "together": "both texts as one pair"}
_BATCH = 64


def untrained_runs() -> Iterator[Run]:
    """Name the ways to encode a pair."""
    for way in WAYS:
        yield {"task": TASK, "way": way, "part": "dev"}


def measure(run: Run, data: Path, encoder: Path) -> dict[str, float]:
    """Compare the cosine of two texts' means with how similar people found them.

    run (dict[str, Any]): How pairs are encoded.
    data (Path): Where the data of all tasks is.
    encoder (Path): The folder of the encoder.
    RETURNS (dict[str, float]): Spearman's and Pearson's correlation.
    """
    drawn = draw(data, TASKS[run["task"]], run["part"], 1, 0)
    columns = drawn.header.split("\t")
    rows = [dict(zip(columns, row.split("\t"), strict=True)) for row in drawn.test]
    pairs = [(row["sentence1"], row["sentence2"]) for row in rows]
    tokenizer: Any = AutoTokenizer.from_pretrained(encoder)
    model: Any = AutoModel.from_pretrained(encoder).eval()
    of_way = _apart if run["way"] == "apart" else _together
    parts = (pairs[i : i + _BATCH] for i in range(0, len(pairs), _BATCH))
    with torch.inference_mode():
        cosines = torch.cat([of_way(tokenizer, model, part) for part in parts])
    scores = [float(row["label"]) for row in rows]
    return {
        name: round(float(of(cosines.tolist(), scores)[0]), 5)
        for name, of in (("spearman", spearmanr), ("pearson", pearsonr))
    }


def _apart(tokenizer: Any, model: Any, pairs: Sequence[tuple[str, str]]) -> Any:
    found = []
    for texts in zip(*pairs, strict=True):
        given = tokenizer([*texts], padding=True, truncation=True, return_tensors="pt")
        rows = model(**given).last_hidden_state
        found.append(_mean(rows, given["attention_mask"]))
    return torch.cosine_similarity(*found)


def _together(tokenizer: Any, model: Any, pairs: Sequence[tuple[str, str]]) -> Any:
    given = tokenizer(
        *map(list, zip(*pairs, strict=True)),
        padding=True,
        truncation=True,
        return_tensors="pt",
    )
    sides = [given.sequence_ids(i) for i in range(len(pairs))]
    rows = model(**given).last_hidden_state
    masks = (torch.tensor([[s == n for s in own] for own in sides]) for n in (0, 1))
    return torch.cosine_similarity(*(_mean(rows, mask) for mask in masks))


def _mean(rows: Any, mask: Any) -> Any:
    weights = mask[:, :, None].to(rows.dtype)
    return (rows * weights).sum(dim=1) / weights.sum(dim=1)


def rows_of(done: Sequence[Run]) -> Iterator[Sequence[str]]:
    """Write what was found.

    done (Sequence[Run]): What was measured.
    YIELDS (Sequence[str]): The header, then a row for each way.
    """
    yield "encoded", "Spearman", "Pearson"
    for run in done:
        found = (f"{100 * run[name]:.1f}" for name in ("spearman", "pearson"))
        yield WAYS[run["way"]], *found
