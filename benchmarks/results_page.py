"""The tables and figures of results, made from recorded scores.

    python -m benchmarks.results_page

They are in docs/explanation/results.md, and one table is in README.md. A table stands
between `<!-- table: NAME -->` and `<!-- end of table -->`, a figure between
`<!-- figure: NAME -->` and `<!-- end of figure -->`; what is written around them is for
people to keep true.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from html import escape
from itertools import product
from pathlib import Path
from statistics import mean

import typer

from .faithfulness import HEADS, METHODS, SIZES
from .fewlabels import costs, diagnosis, summary, untrained
from .fewlabels import page as fewlabels
from .fewlabels.figures import FIGURES, Figure
from .fewlabels.names import METRICS
from .matrix import Run, read_recorded
from .regimes import NO_SPANS, OTHER_RATES, PIPELINES, RATE, REGIMES

RECORDED = Path(__file__).parent / "results"
_ROOT = Path(__file__).parents[1]
PAGE, README = _ROOT / "docs" / "explanation" / "results.md", _ROOT / "README.md"
_MARK = re.compile(r"<!-- (table|figure): (.*?) -->")
_TABLE = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end of table -->)", re.S)
_DRAWN_BY = re.compile(r"Matplotlib v[\d.]+")
_FIGURE = re.compile(r"(<!-- figure: ([\w-]+) -->\n).*?(<!-- end of figure -->)", re.S)
Rows = Iterable[Sequence[str]]
_TEXTCAT = {
    "CoLA, Matthews": ("CoLA", "cats_matthews"),
    "MRPC, accuracy": ("MRPC", "cats_accuracy"),
    "MRPC, F1": ("MRPC", "cats_f1"),
}
_NER = {"wnut17": "WNUT17", "wikigold": "WikiGold"}
_PARTS = {
    "dev_all": "dev",
    "test_all": "test",
    "test_seen": "test, seen",
    "test_unseen": "test, unseen",
}
_HEADS = {
    "ngrams": "n-grams beside [CLS]",
    "no-cls": "n-grams alone (`use_cls = false`)",
    "mean-ngrams": "n-grams beside the mean",
}
_METRIC = {**METRICS, "spans_sc_f": "F1", "tag_acc": "accuracy"}
_ORDERS = {
    "shares": "their shares of the score",
    "gradients": "integrated gradients (20 steps)",
    "attention": "attention of [CLS], last layer",
    "chance": "chance",
}


def scores(runs: Sequence[Run], task: str, arm: str, metric: str) -> dict[int, float]:
    """Find the score of each seed, in percent."""
    return {run["seed"]: 100 * run[metric] for run in _of(runs, task, arm)}


def spread(values: Iterable[float]) -> str:
    """Write mean and standard deviation."""
    known = list(values)
    return summary.spread(known) if len(known) > 1 else "-"


def gain(one: dict[int, float], base: dict[int, float]) -> str:
    """Write the 95% interval of a mean difference, over seeds that both have.

    A t interval: two or three seeds say little, and that must show.
    """
    pairs = [one[seed] - base[seed] for seed in sorted(one.keys() & base.keys())]
    if len(pairs) < 2:
        return "-"
    return " to ".join(map(signed, summary.interval(pairs)))


def signed(value: float, digits: int = 1) -> str:
    """Write a number with its sign."""
    return f"{value:+.{digits}f}".replace("-", "−")


def textcat() -> Iterator[Sequence[str]]:
    """Compare the plain loop, the baseline and the spans."""
    yield "", "plain PyTorch loop", "baseline", "with spans", "spans − baseline (95%)"
    runs = read_recorded(RECORDED / "finetune.jsonl")
    for title, (task, metric) in _TEXTCAT.items():
        arms = ("plain", "baseline", "spanft")
        plain, base, ours = (scores(runs, task, arm, metric) for arm in arms)
        found = (spread(one.values()) for one in (plain, base, ours))
        yield title, *found, gain(ours, base)


def pooler() -> Iterator[Sequence[str]]:
    """Compare the encoder's pooler, and spans beside it."""
    names = ("baseline", "with the pooler", "with spans", "with both")
    yield "", *names, "both − pooler (95%)"
    runs = read_recorded(RECORDED / "finetune.jsonl")
    for title, (task, metric) in _TEXTCAT.items():
        arms = ("baseline", "baseline-pooler", "spanft", "spanft-pooler")
        own = [scores(runs, task, arm, metric) for arm in arms]
        yield title, *(spread(one.values()) for one in own), gain(own[3], own[1])


def ner() -> Iterator[Sequence[str]]:
    """Compare taggers."""
    arms = ("plain", "bilou_ner_baseline", "bilou_ner_spanft")
    names = ("plain PyTorch loop", "`bilou_ner`", "`bilou_ner` with spans")
    yield "", "", *names, "spans − without (95%)"
    runs = read_recorded(RECORDED / "ner.jsonl")
    for (task, name), (metric, part) in product(_NER.items(), _PARTS.items()):
        own = [scores(runs, task, arm, metric) for arm in arms]
        yield name, part, *(spread(one.values()) for one in own), gain(own[2], own[1])


def deletion() -> Iterator[Sequence[str]]:
    """Compare what deleting the best span does with deleting as many tokens."""
    yield (
        *("task", "head", "macro F1", "share of the whole text", "best span deleted"),
        *("as many tokens elsewhere", "difference of each seed (95%, texts)"),
    )
    runs = read_recorded(RECORDED / "faithfulness.jsonl")
    for task, arm in product(SIZES, HEADS):
        own = sorted(_of(runs, task, arm), key=lambda run: run["seed"])
        if not own:
            continue
        found = [
            (run["deletion"]["difference"], run["deletion"]["half"]) for run in own
        ]
        each = [f"{signed(middle, 2)} ± {half:.2f}" for middle, half in found]
        best, other = (
            f"{mean(run['deletion'][key] for run in own):.2f}"
            for key in ("top", "random")
        )
        score = f"{100 * mean(run['macro_f'] for run in own):.1f}"
        share = f"{mean(run['cls_share'] for run in own):.0%}"
        yield task, _HEADS[arm], score, share, best, other, ", ".join(each)


def orders() -> Iterator[Sequence[str]]:
    """Compare orders of the spans, with the head that `init` writes."""
    kinds = ("comprehensiveness", "sufficiency")
    yield "order of the spans by", *(f"{a}: {b}" for a, b in product(SIZES, kinds))
    runs = read_recorded(RECORDED / "faithfulness.jsonl")
    for method in METHODS:
        cells = []
        for task, kind in product(SIZES, kinds):
            own = [run[method][kind] for run in _of(runs, task, "mean-ngrams")]
            cells.append(f"{mean(own):.2f}".replace("-", "−") if own else "-")
        yield _ORDERS[method], *cells


def cost() -> Iterator[Sequence[str]]:
    """Say what heads cost."""
    return costs.rows_of(read_recorded(RECORDED / "fewlabels_costs.jsonl"))


def init_regimes() -> Iterator[Sequence[str]]:
    """Compare regimes of what `init` writes."""
    names = f"everything at {_short(RATE)}", "the head first, at 1e-3"
    yield "pipeline", "data", "metric", *names
    runs = read_recorded(RECORDED / "regimes.jsonl")
    for pipeline, what in PIPELINES.items():
        base, other = (
            _seeds(runs, pipeline, RATE, one, what.segmentation) for one in REGIMES
        )
        if base and other:
            yield *_named(pipeline), *_told(base, other)


def init_spans() -> Iterator[Sequence[str]]:
    """Compare what `init` writes for texts with what `init --no-spans` writes."""
    arms = "`init --no-spans`", "`init` − `init --no-spans`"
    yield "pipeline", "data", "metric", "rate", *arms
    runs = read_recorded(RECORDED / "regimes.jsonl")
    of_texts = [one for one, what in PIPELINES.items() if what.segmentation == "spans"]
    gains: dict[str, list[dict[int, float]]] = {}
    for pipeline, rate in product(of_texts, sorted({RATE, *OTHER_RATES})):
        base, other = (
            _seeds(runs, pipeline, rate, REGIMES[0], one) for one in (NO_SPANS, "spans")
        )
        told = f"**{_short(rate)}**" if rate == RATE else _short(rate)
        if base and other:
            yield *_named(pipeline), told, *_told(base, other)
        gains.setdefault(told, []).append(fewlabels.minus(other, base))
    for told, each in gains.items():
        yield "mean", "-", "-", told, "-", fewlabels.over(each)


def _named(pipeline: str) -> tuple[str, str, str]:
    what = PIPELINES[pipeline]
    return f"`{what.pipeline}`", what.task, _METRIC[what.metric]


def _told(base: dict[int, float], other: dict[int, float]) -> tuple[str, str]:
    return fewlabels.spread_and_n(base), fewlabels.signed_difference(other, base)


def _seeds(
    runs: Sequence[Run], pipeline: str, rate: float, regime: str, segmentation: str
) -> dict[int, float]:
    """Give the scores of the seeds that were run, in percent."""
    wanted = {"pipeline": pipeline, "rate": rate, "regime": regime}
    wanted["segmentation"] = segmentation
    return {
        run["seed"]: 100 * run["score"] for run in runs if wanted.items() <= run.items()
    }


def _short(rate: float) -> str:
    """Write a rate as people do: 2e-5."""
    return f"{rate:.0e}".replace("e-0", "e-")


def what_training_does() -> Iterator[Sequence[str]]:
    """Say who decides, and what moves."""
    return diagnosis.rows_of(read_recorded(RECORDED / "fewlabels_diagnosis.jsonl"))


def before_training() -> Iterator[Sequence[str]]:
    """Say how well the encoder knows similar texts without any training."""
    return untrained.rows_of(read_recorded(RECORDED / "fewlabels_untrained.jsonl"))


def _of(runs: Sequence[Run], task: str, arm: str) -> list[Run]:
    return [run for run in runs if (run["task"], run["arm"]) == (task, arm)]


TABLES: dict[str, Callable[[], Rows]] = {
    "textcat": textcat,
    "pooler": pooler,
    "ner": ner,
    "deletion": deletion,
    "orders": orders,
    "few-labels": fewlabels.scored,
    "best-heads": fewlabels.best,
    "compared": fewlabels.compared,
    "by-kind": fewlabels.by_kind,
    "other-cuts": fewlabels.other_cuts,
    "every-metric": fewlabels.every_metric,
    "in-short": fewlabels.in_short,
    "regimes": partial(fewlabels.regimes, fewlabels.SCORED_RUNS, fewlabels.HEADS),
    "held-out-regimes": partial(
        fewlabels.regimes, fewlabels.TRIED_RUNS, fewlabels.HELD_OUT_HEADS
    ),
    "heads": fewlabels.tried_on_texts,
    "token-heads": fewlabels.tried_on_tokens,
    "init-regimes": init_regimes,
    "init-spans": init_spans,
    "diagnosis": what_training_does,
    "costs": cost,
    "untrained": before_training,
}


def check_marks(path: Path) -> None:
    """Stop at a mark of a page that would be left as it stands.

    path (Path): The page.
    """
    page = path.read_text("utf8")
    for mark in _MARK.finditer(page):
        is_table = mark[1] == "table"
        pattern, names = (_TABLE, [*TABLES]) if is_table else (_FIGURE, [*FIGURES])
        if mark[2] not in names:
            there = ", ".join(names)
            raise SystemExit(f"{path}: {mark[0]} is none of {there}.")
        found = pattern.match(page, mark.start())
        if not found or _MARK.search(found[0], 1):
            raise SystemExit(f"{path}: {mark[0]} has no <!-- end of {mark[1]} -->.")


def filled(page: str, tables: Mapping[str, Callable[[], Rows]] = TABLES) -> str:
    """Write tables into a page."""

    def table(found: re.Match[str]) -> str:
        header, *rows = tables[found[2]]()
        lines = [header, ["---"] * len(header), *rows]
        text = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
        return f"{found[1]}\n{text}\n{found[3]}"

    return _TABLE.sub(table, page)


def illustrated(page: str, figures: Mapping[str, Figure]) -> str:
    """Write into a page what its figures show, and where they are."""

    def image(found: re.Match[str]) -> str:
        shown = f"![{figures[found[2]].alt}]({found[2]}.svg)"
        return f"{found[1]}\n{shown}\n\n{found[3]}"

    return _FIGURE.sub(image, page)


def is_drawn(path: Path, figure: Figure) -> bool:
    """Say whether a file shows a figure already, as another matplotlib drew it.

    Each version draws the same with other bytes.
    """
    if not path.exists():
        return False
    svg = path.read_text("utf8")
    by, other = (_DRAWN_BY.findall(one)[:1] for one in (svg, figure.svg))
    return by != other and f"<desc>{escape(figure.alt)}</desc>" in svg


def main() -> None:
    """Write the tables and figures of results from recorded scores."""
    for path in (PAGE, README):
        check_marks(path)
    figures = {name: draw() for name, draw in FIGURES.items()}
    for name, figure in figures.items():
        path = PAGE.with_name(f"{name}.svg")
        if not is_drawn(path, figure):
            path.write_text(figure.svg, "utf8")
    for path in (PAGE, README):
        page = illustrated(filled(path.read_text("utf8")), figures)
        path.write_text(page, "utf8")


if __name__ == "__main__":
    typer.run(main)
