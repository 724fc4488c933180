"""The tables of few labels, from recorded runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path

from ..matrix import Run, read_recorded
from ..numbers import Seeds, difference, mean_over, minus, spread
from .arms import BASELINE, CHOSEN, MAIN_SIZE, SIZES, main_regime, settings_of
from .tasks import TASKS

_RESULTS = Path(__file__).parents[1] / "results"
SCORED, TRIED = _RESULTS / "fewlabels.jsonl", _RESULTS / "fewlabels_variants.jsonl"
Row = Sequence[str]
# An arm and the arm that it is compared with; a field of `Chosen` is that of each task.
Columns = Mapping[str, tuple[str, str]]

_INIT: Columns = {
    "`init`": ("init", BASELINE),
    "`init` − `init --no-spans`": ("init", "no_spans"),
}
_SPANS: Columns = {
    "n-grams − no spans": ("best", "bare"),
    "n-grams − random spans": ("best", "twin"),
}
_PAPER: Columns = {
    "n-grams": ("ngrams", BASELINE),
    "n-grams − random spans": ("ngrams", "random"),
    "n-grams − CNN without spans": ("ngrams", "cnn"),
}
_PAIRS: Columns = {
    "texts alone": ("pair", BASELINE),
    "random spans": ("pair-random", BASELINE),
    "a random dictionary's n-grams": ("pair-drawn", BASELINE),
    "tokens": ("pair-words", BASELINE),
    "n-grams": ("pair-ngrams", BASELINE),
    "n-grams − a random dictionary's": ("pair-ngrams", "pair-drawn"),
    "n-grams − tokens": ("pair-ngrams", "pair-words"),
}
_CUTS: Columns = {
    "NLTK's phrases": ("nltk", BASELINE),
    "n-grams of the task": ("task", BASELINE),
    "n-grams, the best by PMI": ("pmi", BASELINE),
    "n-grams": ("ngrams", BASELINE),
    "n-grams, without [CLS]": ("no-cls", BASELINE),
    "n-grams − NLTK's phrases": ("ngrams", "nltk"),
}
METRICS = {
    **{"cats_accuracy": "accuracy", "cats_macro_f": "macro F1", "cats_f1": "F1"},
    **{"cats_matthews": "Matthews", "cats_spearman": "Spearman"},
    **{"cats_pearson": "Pearson", "ents_f": "F1", "ents_p": "precision"},
    "ents_r": "recall",
}
REGIMES = {
    "everything": "everything at one rate",
    "rates": "the head at 1e-3",
    "head-first": "the head first, at 1e-3",
}


def recorded(results: Path) -> list[Run]:
    """Return the recorded runs whose settings are the chosen ones."""
    return [run for run in read_recorded(results) if _is_chosen(run)]


def _is_chosen(run: Run) -> bool:
    how = settings_of(TASKS[run["task"]], run["arm"], run["regime"], run["size"])
    return how.items() <= run.items()


def scores(
    runs: Sequence[Run], task: str, arm: str, metric: str = "", regime: str = ""
) -> Seeds:
    """Return the score of each seed, in points.

    runs (Sequence[Run]): The runs of one size.
    arm (str): The arm, or a field of `Chosen`.
    metric, regime (str): By default the main ones of the task.
    """
    arm = getattr(CHOSEN[TASKS[task].kind], arm, arm)
    key = metric or TASKS[task].metrics[0]
    how = {"arm": arm, "regime": regime or main_regime(TASKS[task]), "task": task}
    return {run["seed"]: 100 * run[key] for run in runs if how.items() <= run.items()}


def gains(runs: Sequence[Run], task: str, pair: tuple[str, str]) -> Seeds:
    """Return the difference of two arms for each seed; none if they are the same."""
    arms = [getattr(CHOSEN[TASKS[task].kind], arm, arm) for arm in pair]
    if arms[0] == arms[1]:
        return {}
    return minus(*(scores(runs, task, arm) for arm in arms))


def groups() -> dict[str, list[str]]:
    """Return the tasks whose means are shown: those of each kind, and all of them."""
    kinds = [[name for name in TASKS if TASKS[name].kind == kind] for kind in CHOSEN]
    return {", ".join(names): names for names in kinds if names} | {"all": [*TASKS]}


def by_kind(columns: Columns, is_short: bool = False) -> Iterator[Row]:
    """Yield the mean differences over tasks, by number of labels and over all of them.

    The encoder was made for the texts of STS-B, so there is a mean without it.

    is_short (bool): Whether to leave out the kinds of task at each size.
    """
    yield "labels", "tasks", *columns
    runs = recorded(SCORED)
    of_size = {size: [run for run in runs if run["size"] == size] for size in SIZES}
    of_size = {size: its_runs for size, its_runs in of_size.items() if its_runs}
    sizes = {f"{size:,}": [size] for size in of_size}
    if len(sizes) > 1:
        sizes["all"] = [*of_size]
    for (labels, some), (title, tasks) in product(sizes.items(), groups().items()):
        if is_short and "all" not in (labels, title):
            continue
        means = {title: tasks}
        if title == labels == "all":
            means = {"all but STS-B": [t for t in tasks if t != "STS-B"], **means}
        for name, its_tasks in means.items():
            pairs = [*product(some, its_tasks)]
            cells = [
                difference(mean_over([gains(of_size[s], t, column) for s, t in pairs]))
                for column in columns.values()
            ]
            if {*cells} != {"-"}:
                yield labels, name, *map(_of_ten, cells)


def by_task(columns: Columns, sizes: Sequence[int] = ()) -> Iterator[Row]:
    """Yield the scores of the encoder alone, and the differences of each task."""
    yield "labels", "task", "encoder alone", *columns
    runs = recorded(SCORED)
    for size in sizes or sorted({run["size"] for run in runs}):
        own = [run for run in runs if run["size"] == size]
        tasks = [name for name in TASKS if scores(own, name, BASELINE)]
        of_tasks = {
            name: [gains(own, name, pair) for pair in columns.values()]
            for name in tasks
        }
        for name, values in of_tasks.items():
            base = spread(scores(own, name, BASELINE))
            yield f"{size:,}", name, *map(_of_ten, (base, *map(difference, values)))
        if tasks == [*TASKS]:
            means = map(mean_over, zip(*of_tasks.values(), strict=True))
            yield f"{size:,}", "mean", "", *(_of_ten(difference(m)) for m in means)


def in_short() -> Iterator[Row]:
    """Yield the table of the README: one size, the metrics named."""
    (_, _, *header), *rows = by_task(_INIT, [MAIN_SIZE])
    yield "", *header
    for _, name, *cells in rows:
        metric = f", {METRICS[TASKS[name].metrics[0]]}" if name in TASKS else ""
        yield name + metric, *cells


def compared() -> Iterator[Row]:
    """Yield what the two texts of a pair are compared by, on STS-B."""
    yield "labels", *_PAIRS
    runs = recorded(SCORED)
    for size in SIZES:
        own = [run for run in runs if run["size"] == size]
        values = (difference(gains(own, "STS-B", pair)) for pair in _PAIRS.values())
        yield f"{size:,}", *map(_of_ten, values)


def regimes(results: Path, heads: Mapping[str, str]) -> Iterator[Row]:
    """Yield each head, by its title, compared with itself in the task's main regime."""
    yield "head", "task", *REGIMES.values()
    runs = [run for run in recorded(results) if run["size"] == MAIN_SIZE]
    for (title, arm), name in product(heads.items(), TASKS):
        own = {how: scores(runs, name, arm, regime=how) for how in REGIMES}
        main = own.pop(main_regime(TASKS[name]))
        if main and any(own.values()):
            cells = dict.fromkeys(REGIMES, spread(main))
            cells |= {how: difference(minus(s, main)) for how, s in own.items()}
            yield title, name, *cells.values()


def tried() -> Iterator[Row]:
    """Yield all heads that were tried on held-out data, called as in the records."""
    runs = recorded(TRIED)
    yield "head", *TASKS
    base = {name: scores(runs, name, BASELINE) for name in TASKS}
    yield BASELINE, *map(spread, base.values())
    for arm in dict.fromkeys(run["arm"] for run in runs if run["arm"] != BASELINE):
        own = {name: scores(runs, name, arm) for name in TASKS}
        yield arm, *(difference(minus(own[name], base[name])) for name in TASKS)


def _of_ten(cell: str) -> str:
    """Leave out the number of seeds where it is the usual one."""
    return cell.replace(", n = 10", "")


_HEADS = {"encoder alone": BASELINE, "the paper's head": "ngrams", "`init`": "init"}
_HELD_OUT = {"encoder alone": BASELINE, "n-grams": "best", "random spans": "twin"}
TABLES: dict[str, Callable[[], Iterator[Row]]] = {
    "gains": partial(by_kind, _INIT),
    "spans": partial(by_kind, _SPANS, is_short=True),
    "spans-by-kind": partial(by_kind, _SPANS),
    "paper": partial(by_kind, _PAPER, is_short=True),
    "paper-by-kind": partial(by_kind, _PAPER),
    "gains-by-task": partial(by_task, _INIT),
    "spans-by-task": partial(by_task, _SPANS),
    "paper-by-task": partial(by_task, _PAPER),
    "in-short": in_short,
    "pairs": compared,
    "cuts": partial(by_task, _CUTS, [MAIN_SIZE]),
    "regimes": partial(regimes, SCORED, _HEADS),
    "held-out-regimes": partial(regimes, TRIED, _HELD_OUT),
    "tried": tried,
}
