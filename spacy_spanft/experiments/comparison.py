"""Several trained pipelines, grouped into arms, on the same test data."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, zip_longest
from operator import ne
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any, NamedTuple

from tqdm import tqdm

from ..errors import SpanftError, counted, shown, warn
from ..util import require
from ..util.pipelines import check_pipeline
from .measuring import (
    Measured,
    Setup,
    check_texts,
    is_written,
    measure,
    run_in_subprocess,
    warn_of_unknown,
)
from .significance import Difference, method_difference, models_difference, resample
from .task_data import check_data

ENSEMBLE = " (ensemble)"  # after the name of an arm


class Arm(NamedTuple):
    """Pipelines that differ only in their seeds.

    models (Optional[Difference]): How much better these trained models are than those
        of the first arm, on texts of this kind; None for the first arm.
    method (Optional[Difference]): How much better the method is, with other seeds
        and other texts; None for the first arm, and if an arm has a single run.
    """

    name: str
    runs: list[Measured]
    models: Difference | None = None
    method: Difference | None = None

    @property
    def scores(self) -> list[float]:
        """The score of each run."""
        return [run.score for run in self.runs]

    @property
    def mean(self) -> float:
        """The mean of the scores."""
        return mean(self.scores)

    @property
    def std(self) -> float | None:
        """The standard deviation of the scores, if there are several."""
        return stdev(self.scores) if len(self.runs) > 1 else None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        runs = self.runs
        return {
            "name": self.name,
            "scores": self.scores,
            "mean": self.mean,
            "std": self.std,
            "models": self.models and self.models._asdict(),
            "method": self.method and self.method._asdict(),
            "n_parameters": runs[0].n_parameters,
            "words_per_second": of_known(median, [x.words_per_second for x in runs]),
            "peak_memory": of_known(mean, [x.peak_memory for x in runs]),
        }


class Comparison(NamedTuple):
    """Arms on the same data, the baseline first.

    seconds (Mapping[str, Sequence[float]]): How long the runs of arms were trained.
    missing (Mapping[str, str]): Why runs of the experiment are missing, by ARM/SEED.
    """

    metric: str
    data: str
    n_docs: int
    arms: list[Arm]
    notes: Mapping[str, str] = {}
    seconds: Mapping[str, Sequence[float]] = {}
    missing: Mapping[str, str] = {}

    @property
    def meaning(self) -> str:
        """What the metric's name stands for, if that differs between pipelines."""
        return self.arms[0].runs[0].meaning

    def to_json(self) -> dict[str, Any]:
        """Return all figures as values that `json.dumps` takes."""
        return {
            **self._asdict(),
            "metric_meaning": self.meaning,
            "arms": [arm.to_json() for arm in self.arms],
        }


def of_known(
    average: Callable[[list[float]], float], values: Iterable[float | None]
) -> float | None:
    """Return the average of the known numbers; None if there are none."""
    known = [value for value in values if value is not None]
    return average(known) if known else None


def compare(
    arms: Mapping[str, Sequence[str | Path]],
    data: str | Path,
    *,
    metric: str | None = None,
    positive_label: str | None = None,
    gpu_id: int = -1,
    n_resamples: int = 1000,
    ensemble: bool = False,
    columns: Mapping[str, str] | None = None,
) -> Comparison:
    """Measure trained pipelines on the same data, one after the other.

    The arms take turns, so that a slow moment of the machine affects all of them.

    arms (Mapping[str, Sequence[Union[str, Path]]]): For each arm its pipelines, which
        differ in their seeds, or files of predictions (.spacy). The first arm is the
        baseline.
    data (Union[str, Path]): The test data: DocBins (.spacy), a table, or whatever the
        pipelines' own dev corpus reads.
    metric (Optional[str]): The metric, such as "cats_matthews"; None for the one with
        the highest weight in the first pipeline's [training.score_weights].
    positive_label (Optional[str]): The positive label, for "cats_f1".
    gpu_id (int): The GPU; -1 for the CPU.
    ensemble (bool): Whether to measure the runs of each arm as one pipeline, too, as an
        arm "NAME (ensemble)": scores averaged, spans by majority.
    columns (Optional[Mapping[str, str]]): The columns of a table, and how to read it,
        where that is not as in the pipelines' own tables.
    """
    require("A comparison", "scipy")
    paths_of = {name: [str(path) for path in paths] for name, paths in arms.items()}
    reference = _reference(paths_of)
    check_data(str(data))
    setup = Setup(
        str(data), metric, positive_label, gpu_id, reference, {**(columns or {})}
    )
    names_and_paths = [[(name, x) for x in paths] for name, paths in paths_of.items()]
    turns = chain.from_iterable(zip_longest(*names_and_paths))
    # The metric of the first one is that of all. Files are soon read, or refused.
    jobs: list[tuple[str, Any]] = sorted(
        filter(None, turns), key=lambda x: (not is_written(x[1]), x[1] != reference)
    )
    if ensemble:
        several = [
            (f"{name}{ENSEMBLE}", paths)
            for name, paths in paths_of.items()
            if len(paths) > 1 and not any(map(is_written, paths))
        ]
        if not several:
            raise SpanftError("No arm has several pipelines for an ensemble.")
        jobs += several
    runs: dict[str, list[Measured]] = {name: [] for name in paths_of}
    for name, path in tqdm(jobs, "Measuring", disable=None, leave=False):
        run = run_in_subprocess(measure, path, setup)
        setup = setup._replace(metric=run.metric)
        runs.setdefault(name, []).append(run)
    _check_alike(runs)
    first = next(iter(runs.values()))[0]
    check_texts(first.texts, str(data))
    for name, of_arm in runs.items():
        unknown = sorted({label for run in of_arm for label in run.unknown})
        warn_of_unknown(unknown, str(data), shown(name))
    compared = _arms(runs, n_resamples)
    notes = {arm.name: arm.runs[0].note for arm in compared if arm.runs[0].note}
    return Comparison(first.metric, str(data), len(first.texts), compared, notes)


def _reference(arms: Mapping[str, Sequence[str]]) -> str:
    """Return the pipeline that says how predictions are scored; raise if none can."""
    paths = list(chain.from_iterable(arms.values()))
    for name, of_arm in arms.items():
        if len({*map(Path, of_arm)}) < len(of_arm):
            raise SpanftError(f"The arm {name!r} has the same run twice: {of_arm}.")
    pipelines = [path for path in paths if not is_written(path)]
    for path in paths:
        (check_data if is_written(path) else check_pipeline)(path)
    if not pipelines:
        raise SpanftError(
            f"A pipeline determines how predictions are scored, and there is none. "
            f"Name one beside {', '.join(paths)}."
        )
    return pipelines[0]


def _check_alike(arms: Mapping[str, list[Measured]]) -> None:
    """Raise if the runs cannot be compared text by text, or score by score."""
    base, first = next((name, runs[0]) for name, runs in arms.items())
    for name, run in ((name, run) for name, runs in arms.items() for run in runs):
        if run.texts != first.texts:
            raise SpanftError(f"{base!r} and {name!r} read different texts.")
        if run.gold != first.gold:
            n = counted(sum(map(ne, run.gold, first.gold)), "text")
            warn(f"{base!r} and {name!r} read different annotations of {n}.")
        if run.meaning != first.meaning:
            raise SpanftError(
                f"{run.metric} means {first.meaning} for {base!r} and {run.meaning} "
                f"for {name!r}. Choose another metric."
            )


def _arms(runs: Mapping[str, list[Measured]], n_resamples: int) -> list[Arm]:
    """Compare the runs of each arm with those of the first."""
    rows = {name: [run.rows for run in arm] for name, arm in runs.items()}
    first, *others = runs
    score_of = runs[first][0].score_of
    scores = resample(rows, score_of, n_resamples=n_resamples)
    for name, arm in runs.items():
        seeds = [run.seed for run in arm if run.seed is not None]
        if len(seeds) == len(arm):
            scores[name] = scores[name]._replace(seeds=seeds)
    arms = [Arm(first, runs[first])]
    for name in others:
        both = (scores[first], scores[name])
        differences = models_difference(*both), method_difference(*both)
        arms.append(Arm(name, runs[name], *differences))
    return arms
