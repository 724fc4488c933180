"""What training does to a head: who decides, and how far the weights move.

For each head the share of [CLS] in what is added to a logit, by size, before training
and after it, on texts of the held-out data; and the length of the change of the weights
over the length of the weights, for the convolutions, the last layer and the encoder.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

from spacy.language import Language
from spacy.training import Example

from spacy_spanft.explanation import explain_pipe

from ..faithfulness import share_of_whole, text_of
from .choices import Run, Setting, held_out_run, key_of, tuned_as
from .names import NAMES
from .tasks import TASKS
from .training import fit, prepared

TASKS_OF_LOGITS = ("CoLA", "SST-2")
HEADS = ("cnn", "random", "ngrams", "residual-mean")
MAX_TEXTS = 200
GROUPS = ("spans", "document", "output", "encoder")


def diagnosis_runs(chosen: dict[str, Setting], n_seeds: int) -> Iterator[Run]:
    """Name the runs."""
    for seed, name, arm in product(range(n_seeds), TASKS_OF_LOGITS, HEADS):
        setting = chosen[key_of(tuned_as(arm), "everything", TASKS[name])]
        yield held_out_run(name, arm, "everything", setting, seed)


def diagnose(run: Run, data: Path, encoder: Path) -> dict[str, Any]:
    """Train, and compare what there was before with what there is then.

    run (dict[str, Any]): What to train on what.
    data (Path): Where the data of all tasks is.
    encoder (Path): The folder of the encoder.
    RETURNS (dict[str, Any]): The shares and the changes.
    """
    nlp, train, dev = prepared(run, data, encoder)
    before, share = weights_of(nlp), _share(nlp, dev)
    fit(nlp, train, run["epochs"], run["seed"])
    after = weights_of(nlp)
    return {
        "cls_before": share,
        "cls_after": _share(nlp, dev),
        "moved": {name: change_of(before[name], after[name]) for name in GROUPS},
    }


def change_of(before: Sequence[Any], after: Sequence[Any]) -> float | None:
    """Compute how long the change of arrays is, relative to them; None of no arrays."""
    lengths = [
        sum(float((array**2).sum()) for array in arrays)
        for arrays in ([b - a for b, a in zip(before, after, strict=True)], before)
    ]
    return round((lengths[0] / lengths[1]) ** 0.5, 4) if before else None


def weights_of(nlp: Language) -> dict[str, list[Any]]:
    """Copy the weights of a classifier over spans, and of its encoder.

    nlp (Language): The pipeline, initialized.
    RETURNS (dict[str, list[Floats]]): The matrices of the convolution of each level, of
        the last layer, and all that the encoder has.
    """
    head: Any = nlp.get_pipe("textcat")
    windows = [node for node in head.model.walk() if node.name == "span_window"]
    transformer: Any = nlp.get_pipe("transformer")
    module = transformer.model.shims[0].encoder.module
    return {
        "spans": [windows[0].get_param("W").copy()],
        # A head with another pooling of spans has one convolution.
        "document": [window.get_param("W").copy() for window in windows[1:]],
        "output": [head.model.get_ref("output_layer").get_param("W").copy()],
        "encoder": [one.detach().float().numpy().copy() for one in module.parameters()],
    }


def _share(nlp: Language, dev: Iterable[Example]) -> float:
    words = [example.reference.text for example in dev][:MAX_TEXTS]
    texts = [text for one in explain_pipe(nlp, words) if (text := text_of(one))]
    return round(mean(map(share_of_whole, texts)), 4)


def rows_of(done: Sequence[Run]) -> Iterator[Sequence[str]]:
    """Write the mean over seeds for each task and head."""
    shares = ("share of [CLS] before", "after training")
    moves = ("windows in spans", "over spans", "last layer", "encoder")
    yield "task", "head", "n", *shares, *(f"change of weights: {m}" for m in moves)
    for name, arm in product(TASKS_OF_LOGITS, HEADS):
        own = [run for run in done if (run["task"], run["arm"]) == (name, arm)]
        if not own:
            continue
        found = (mean(run[key] for run in own) for key in ("cls_before", "cls_after"))
        moved = ([run["moved"][group] for run in own] for group in GROUPS)
        cells = (f"{mean(values):.1%}" if all(values) else "-" for values in moved)
        yield name, NAMES[arm], str(len(own)), *(f"{one:.0%}" for one in found), *cells
