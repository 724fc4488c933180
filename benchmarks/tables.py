"""The tables of the paper's size, `init`'s settings, cost and explanations."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from statistics import mean, median

import numpy as np

from spacy_spanft.experiments.significance import method_difference, resample

from . import few_texts
from .fewlabels.arms import BASELINE, CHOSEN
from .fewlabels.tables import METRICS
from .fewlabels.tasks import TASKS
from .matrix import Run, read_recorded
from .numbers import Seeds, difference, mean_over, minus, signed, spread
from .regimes import PIPELINES, RATE, REGIMES

RECORDED = Path(__file__).parent / "results"
Row = Sequence[str]
Scored = tuple[str, str]
_BASE_SIZE = {
    "CoLA, Matthews": ("CoLA", "cats_matthews"),
    "CoLA, accuracy": ("CoLA", "cats_accuracy"),
    "RTE, accuracy": ("RTE", "cats_accuracy"),
    "MRPC, accuracy": ("MRPC", "cats_accuracy"),
    "STS-B, Spearman": ("STS-B", "cats_spearman"),
}
# Counts once in the mean of the tasks, by its other metric.
_SECOND = ("CoLA, accuracy",)
_HEADS = {"ngrams": "the paper's", "mean-ngrams": "`init`"}
_COSTS = ("train_ms", "predict_ms", "peak_mb")
_METRIC = {**METRICS, "spans_sc_f": "F1", "tag_acc": "accuracy"}


def _read(name: str) -> list[Run]:
    return read_recorded(RECORDED / f"{name}.jsonl")


def _of(runs: Sequence[Run], **how: object) -> list[Run]:
    return [run for run in runs if how.items() <= run.items()]


def _scores(runs: Sequence[Run], metric: str, **how: object) -> Seeds:
    return {run["seed"]: 100 * run[metric] for run in _of(runs, **how)}


def base_size() -> Iterator[Row]:
    """Yield the paper's head over an encoder of BERT-base's size, and its controls."""
    arms = {"encoder": "encoder alone", "random": "random spans", "ngrams": "n-grams"}
    yield "", *arms.values(), "n-grams − encoder alone", "n-grams − random spans"
    runs = _read("base_size")
    gains: dict[str, list[Seeds]] = {arm: [] for arm in ("encoder", "random")}
    for title, (task, metric) in _BASE_SIZE.items():
        values = {arm: _scores(runs, metric, task=task, arm=arm) for arm in arms}
        cells = []
        for rival, of_tasks in gains.items():
            gain = minus(values["ngrams"], values[rival])
            cell = _of_three(difference(gain))
            if metric == "cats_accuracy":
                cell = _over_texts(_of(runs, task=task), rival, "ngrams")
            cells.append(cell)
            if title not in _SECOND:
                of_tasks.append(gain)
        yield title, *(_of_three(spread(values[arm])) for arm in arms), *cells
    means = (_of_three(difference(mean_over(of_tasks))) for of_tasks in gains.values())
    yield "mean of the four tasks", "-", "-", "-", *means


def _over_texts(runs: Sequence[Run], base: str, other: str) -> str:
    """Return the difference of two arms in accuracy, over seeds and texts."""
    right = {
        arm: [np.array([*run["right"]], dtype=float) for run in _of(runs, arm=arm)]
        for arm in (base, other)
    }
    scores = {
        arm: drawn._replace(seeds=[run["seed"] for run in _of(runs, arm=arm)])
        for arm, drawn in resample(right, np.mean).items()
    }
    gain = method_difference(scores[base], scores[other])
    assert gain is not None
    middle, low, high = (signed(100 * value) for value in gain[:3])
    return f"{middle} ({low} to {high})"


def compared(
    name: str,
    ours: Scored,
    rivals: Mapping[str, Scored],
    tasks: Collection[str] = (),
) -> Iterator[Row]:
    """Yield our score in each task, the points above rivals, and what training took.

    ours (Tuple[str, str]): The peer that is ours, and its metric.
    rivals (Mapping[str, Tuple[str, str]]): Other peers and metrics, by title.
    tasks (Collection[str]): The tasks that count; all if empty.
    """
    yield "texts", "data", "`init`", *(f"`init` − {x}" for x in rivals), "CPU s of each"
    runs = [run for run in _read(name) if not tasks or run["task"] in tasks]
    mine = _of(runs, peer=ours[0])
    for size in sorted({run["size"] for run in mine}):
        many = "8 a label" if size == 8 else f"{size:,}"
        gains: dict[str, list[Seeds]] = {title: [] for title in rivals}
        for task in sorted({run["task"] for run in _of(mine, size=size)}):
            own, *others = (
                _scores(_of(runs, peer=peer), metric, task=task, size=size)
                for peer, metric in (ours, *rivals.values())
            )
            added = [minus(own, other) for other in others]
            for of_tasks, gain in zip(gains.values(), added, strict=True):
                of_tasks += [gain] if gain else []
            costs = (
                [
                    run["train_cpu"]
                    for run in _of(runs, task=task, size=size, peer=peer)
                    if "train_cpu" in run  # not on a GPU
                ]
                for peer in dict.fromkeys(peer for peer, _ in (ours, *rivals.values()))
            )
            seconds = ", ".join(f"{mean(cost):.0f}" if cost else "-" for cost in costs)
            yield many, task, spread(own), *map(difference, added), seconds
        means = (difference(mean_over(of_tasks)) for of_tasks in gains.values())
        yield many, "mean", "-", *means, "-"


def means_of(table: Callable[[], Iterator[Row]]) -> Iterator[Row]:
    """Yield the means over the tasks, without the costs; n is 5 where none stands."""
    for many, data, _, *gains, _ in table():
        if data in ("data", "mean"):
            yield many, *(gain.replace(", n = 5", "") for gain in gains)


def few() -> Iterator[Row]:
    """Yield the means of few texts, and beside them those of topics."""
    topics = {row[0]: row[1] for row in means_of(_few_topics)}
    for many, *gains in means_of(_few_texts):
        yield many, *gains, topics.get(many, "-")


def lists() -> Iterator[Row]:
    """Yield what lists of words and names add to spaCy's CNN, as features."""
    pairs = {
        "tags − none": ("attribute", "none"),
        "tags − random list": ("attribute", "attribute-random"),
        "layer − none": ("layer", "none"),
        "layer − random list": ("layer", "layer-random"),
    }
    yield "data", "none", *pairs
    runs = _of(_read("lists"), encoder="CNN")
    for task in dict.fromkeys(run["task"] for run in runs):
        scores: dict[str, Seeds] = {"none": {}}
        for run in _of(runs, task=task):
            scores.setdefault(run["arm"], {})[run["seed"]] = run["ents_f"]
        cells = (difference(minus(scores[a], scores[b])) for a, b in pairs.values())
        row = (cell.replace(", n = 10", "") for cell in cells)
        yield task, spread(scores["none"]).replace(", n = 10", ""), *row


def head_first() -> Iterator[Row]:
    """Yield the two regimes of each task, with the settings of `init`."""
    names = f"everything at {_short(RATE)}", "the head first, at 1e-3"
    yield "pipeline", "data", "metric", *names
    runs = _read("regimes")
    for pipeline, own in PIPELINES.items():
        base, other = (
            _scores(
                runs,
                "score",
                pipeline=pipeline,
                rate=RATE,
                regime=regime,
                segmentation=own.segmentation,
            )
            for regime in REGIMES
        )
        if base and other:
            yield *_named(pipeline), spread(base), difference(minus(other, base))


def _named(pipeline: str) -> tuple[str, str, str]:
    own = PIPELINES[pipeline]
    return f"`{own.pipeline}`", own.task, _METRIC[own.metric]


def _short(rate: float) -> str:
    """Return a rate as people write it: 2e-5."""
    return f"{rate:.0e}".replace("e-0", "e-")


def cost() -> Iterator[Row]:
    """Yield medians of the head that `init` writes, and ratios to the encoder alone."""
    units = ("training, CPU ms a text", "prediction, CPU ms a text", "peak memory, MB")
    yield "task", "head", *units
    runs = _read("fewlabels_costs")
    for task in dict.fromkeys(run["task"] for run in runs):
        arm = CHOSEN[TASKS[task].kind].init
        cells = []
        for key in _COSTS:
            ours, base = (
                median(run[key] for run in _of(runs, task=task, arm=name))
                for name in (arm, BASELINE)
            )
            digits = 0 if key == "peak_mb" else 1
            cells.append(f"{ours:,.{digits}f} ({ours / base:.2f})")
        yield task, arm, *cells


def deletion() -> Iterator[Row]:
    """Yield the effect of deleting the top span, and as many tokens elsewhere."""
    yield (
        *("task", "head", "top span", "as many tokens elsewhere"),
        "difference of each seed (95% over texts)",
    )
    runs = _read("faithfulness")
    for task, arm in product(("SST-2", "CoLA"), _HEADS):
        own = sorted(_of(runs, task=task, arm=arm), key=lambda run: run["seed"])
        values = [run["deletion"] for run in own]
        each = (f"{signed(v['difference'], 2)} ± {v['half']:.2f}" for v in values)
        means = (f"{mean(v[key] for v in values):.2f}" for key in ("top", "random"))
        yield task, _HEADS[arm], *means, ", ".join(each)


def untrained() -> Iterator[Row]:
    """Yield the scores of the encoder's own similarities on STS-B."""
    yield "encoded", "Spearman", "Pearson"
    titles = {"apart": "each text alone", "together": "both texts as one pair"}
    for run in _read("fewlabels_untrained"):
        values = (f"{100 * run[key]:.1f}" for key in ("spearman", "pearson"))
        yield titles[run["way"]], *values


def _of_three(cell: str) -> str:
    """Leave out the number of seeds where it is the usual one."""
    return cell.replace(", n = 3", "")


_TOKENS = "Hugging Face token classification"
_of_few = partial(compared, "few_texts", ("spanft init", "macro_f"))
_PROBE = ("spanft init", "probe_macro_f")
_few_texts = partial(
    _of_few, {"probe": _PROBE, "SetFit": ("SetFit", "macro_f")}, few_texts.TASKS
)
_few_topics = partial(_of_few, {"probe, topics": _PROBE}, few_texts.TOPICS)
_peers = partial(
    compared,
    "peers",
    ("spanft init, bilou_ner", "score"),
    {
        "Hugging Face": (_TOKENS, "score"),
        "Hugging Face, 300 steps": (f"{_TOKENS}, 300 steps", "score"),
        "SpanMarker": ("SpanMarker", "score"),
        "spaCy, 300 steps": ("spaCy ner, same encoder, 300 steps", "score"),
        "spaCy, CNN": ("spaCy ner, CNN", "score"),
    },
)
_peers_of_texts = partial(
    compared,
    "peers",
    ("spanft init", "score"),
    {
        "Hugging Face": ("Hugging Face Trainer", "score"),
        "spaCy": ("spaCy textcat, same encoder", "score"),
        "spaCy's ensemble": ("spaCy textcat, ensemble", "score"),
    },
)
TABLES: dict[str, Callable[[], Iterator[Row]]] = {
    "few": few,
    "few-texts": _few_texts,
    "few-topics": _few_topics,
    "peers": partial(means_of, _peers),
    "peers-by-task": _peers,
    "peers-of-texts": partial(means_of, _peers_of_texts),
    "lists": lists,
    "head-first": head_first,
    "cost": cost,
    "deletion": deletion,
    "untrained": untrained,
    "base-size": base_size,
}
