"""Several trained pipelines, grouped into arms, on the same test data."""

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, combinations, zip_longest
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any, NamedTuple

import numpy as np

from ...errors import ComparisonError, Errors, Warnings, shown
from ...util.extras import require
from ...util.files import is_there
from ...util.pipelines import check_pipeline
from ..statistics.methods import MethodDifference, method_difference
from ..statistics.resampling import resample
from ..statistics.significance import Difference, models_difference
from .ensemble import measure_ensemble_in_subprocess
from .measure import Measured, Setup, measure_in_subprocess
from .progress import watched
from .runs import Missing
from .written import is_written


class Arm(NamedTuple):
    """Pipelines that differ in their seeds only.

    name (str): Its name.
    runs (list[Measured]): What was found of each.
    models (Optional[Difference]): How much better these trained models are than those
        of the first arm, on texts of this kind; None for that arm.
    method (Optional[MethodDifference]): How much better the method is, whatever the
        seeds and the texts; None for the first arm, and where there is one run only.
    """

    name: str
    runs: list[Measured]
    models: Difference | None = None
    method: MethodDifference | None = None

    @property
    def scores(self) -> list[float]:
        """The score of each run."""
        return [run.score for run in self.runs]

    @property
    def mean(self) -> float:
        """The mean of the scores."""
        return mean(self.scores)

    @property
    def speeds(self) -> list[float]:
        """How many words each run predicted in a second, where that is known."""
        speeds = [run.words_per_second for run in self.runs]
        return [speed for speed in speeds if speed is not None]

    @property
    def std(self) -> float | None:
        """Their standard deviation, if there are several."""
        return stdev(self.scores) if len(self.runs) > 1 else None


class Comparison(NamedTuple):
    """Arms on the same data, the baseline first.

    metric (str): The metric.
    data (str): The data.
    n_docs (int): How many texts there are.
    arms (list[Arm]): The arms.
    ensembles (list[Arm]): The runs of each arm as one, where that was asked for; each
        is compared with the ensemble of the first arm.
    missing (Missing): What is missing of the matrix whose runs these are.
    """

    metric: str
    data: str
    n_docs: int
    arms: list[Arm]
    ensembles: list[Arm] = []  # noqa: RUF012 (never written to)
    missing: Missing = Missing()

    @property
    def meaning(self) -> str:
        """What the metric's name stands for, if that differs between pipelines."""
        return self.arms[0].runs[0].meaning

    def to_json(self) -> dict[str, Any]:
        """Give all figures as plain values.

        RETURNS (dict[str, Any]): Values that `json.dumps` takes.
        """
        base = self.arms[0].runs[0].n_parameters
        found = {
            "metric": self.metric,
            "data": self.data,
            "n_docs": self.n_docs,
            "arms": [_json(arm, base) for arm in self.arms],
        }
        if self.ensembles:
            found["ensembles"] = [_json(arm, base) for arm in self.ensembles]
        if self.meaning:
            found["metric_meaning"] = self.meaning
        if told := self.missing.told():
            runs = [run._asdict() for run in self.missing.runs]
            found["missing"] = {**self.missing._asdict(), "runs": runs, "told": told}
        return found


def _json(arm: Arm, base: int | None) -> dict[str, Any]:
    n_parameters, speeds = arm.runs[0].n_parameters, arm.speeds
    added = n_parameters / base - 1 if n_parameters and base else None
    return {
        "name": arm.name,
        "scores": arm.scores,
        "mean": arm.mean,
        "std": arm.std,
        "models": arm.models and arm.models._asdict(),
        "method": arm.method and arm.method._asdict(),
        "n_parameters": n_parameters,
        "parameters_added": added,
        "words_per_second": median(speeds) if speeds else None,
        "words_per_second_range": [min(speeds), max(speeds)] if speeds else None,
        "peak_memory": _mean_of(arm, "peak_memory"),
        "spans_per_doc": _mean_of(arm, "spans_per_doc"),
        "n_ngrams": arm.runs[0].n_ngrams,
    }


def compare(
    arms: Mapping[str, Sequence[str | Path]],
    data: str | Path,
    *,
    metric: str | None = None,
    positive_label: str | None = None,
    gpu_id: int = -1,
    n_resamples: int = 1000,
    ensemble: bool = False,
) -> Comparison:
    """Measure trained pipelines on the same data, one after the other.

    The arms take turns, so that what slows the machine down for a while slows all.

    arms (Mapping[str, Sequence[Union[str, Path]]]): For each arm its pipelines, which
        differ in their seeds, or files of predictions (.jsonl). All are compared with
        the first arm.
    data (Union[str, Path]): The test data: DocBins (.spacy), or whatever the pipelines'
        own dev corpus reads.
    metric (Optional[str]): The metric, such as "cats_matthews"; None takes what counts
        most in the first pipeline's own [training.score_weights].
    positive_label (Optional[str]): The positive label, for "cats_f1".
    gpu_id (int): The GPU; -1 for the CPU.
    n_resamples (int): How often the bootstrap draws.
    ensemble (bool): Whether to measure the runs of each arm as one pipeline, too.
    RETURNS (Comparison): What was found.
    """
    require("A comparison", "scipy")
    _check_shape(arms)
    named = {name: [str(path) for path in paths] for name, paths in arms.items()}
    _check_arms(named, ensemble)
    reference = _reference(named)
    setup = Setup(str(data), metric, positive_label, gpu_id, reference)
    found: dict[str, list[Measured]] = {name: [] for name in named}
    # Its metric is that of all.
    jobs = sorted(_in_turns(named), key=lambda job: job[1] != [reference])
    for name, (path,) in watched(jobs, "pipelines"):
        run = _measure(measure_in_subprocess, name, path, setup)
        setup = setup._replace(metric=run.metric)
        found[name].append(run)
    _check_alike(found)
    _warn_copies(found)
    first = next(iter(found.values()))[0]
    made = _against_first(found, n_resamples)
    together = _ensembles(named, found, setup) if ensemble else {}
    ensembles = [
        arm for arm in _against_first(together, n_resamples) if len(found[arm.name]) > 1
    ]
    return Comparison(first.metric, str(data), len(first.texts), made, ensembles)


def _check_shape(arms: Any) -> None:
    """Raise unless these are names, each with a list of pipelines."""
    lists = arms.values() if isinstance(arms, Mapping) else [None]
    for paths in lists:
        if isinstance(paths, str) or not isinstance(paths, Sequence):
            raise ComparisonError(Errors.BAD_ARMS_SHAPE.format(value=shown(arms)))


def _check_arms(arms: Mapping[str, Sequence[str]], ensemble: bool) -> None:
    if not arms or not all(arms.values()):
        raise ComparisonError(Errors.NO_ARMS)
    if ensemble and all(len(paths) == 1 for paths in arms.values()):
        raise ComparisonError(Errors.NO_ENSEMBLE)
    _check_distinct(arms)
    # All of them now: to measure one may take minutes.
    for path in chain.from_iterable(arms.values()):
        if not is_written(path) and os.path.isfile(path):
            raise ComparisonError(Errors.NO_ARM_FILE.format(path=path))
        if not is_written(path):
            check_pipeline(path)
        elif not is_there(path):
            raise ComparisonError(Errors.NOT_FOUND.format(path=path, cwd=os.getcwd()))


def _check_distinct(arms: Mapping[str, Sequence[str]]) -> None:
    """Raise for a pipeline that is there twice in an arm; warn of arms that are one."""
    places: dict[str, set[str]] = {name: set() for name in arms}
    for name, path in ((name, path) for name, paths in arms.items() for path in paths):
        place = os.path.realpath(path) if is_there(path) else path
        if place in places[name]:
            raise ComparisonError(Errors.SAME_RUN.format(name=name, path=path))
        places[name].add(place)
    for one, other in combinations(arms, 2):
        if places[one] == places[other]:
            told = {"one": one, "other": other, "paths": ", ".join(arms[other])}
            warnings.warn(Warnings.SAME_PIPELINES.format(**told), stacklevel=4)


def _reference(arms: Mapping[str, Sequence[str]]) -> str:
    """Find the pipeline that says how predictions in files are scored."""
    paths = [path for paths in arms.values() for path in paths]
    pipelines = [path for path in paths if not is_written(path)]
    if not pipelines:
        raise ComparisonError(Errors.ONLY_PREDICTIONS.format(paths=", ".join(paths)))
    return pipelines[0]


def _measure(
    measurer: Callable[..., Measured], name: str, what: Any, setup: Setup
) -> Measured:
    """Measure a pipeline of an arm, or several as one."""
    try:
        return measurer(what, setup)
    except BrokenProcessPool as error:
        path = what if isinstance(what, str) else ", ".join(what)
        message = Errors.MEASURER_DIED.format(path=path, arm=name)
        raise ComparisonError(message) from error


def _check_alike(found: Mapping[str, list[Measured]]) -> None:
    """Raise if the runs cannot be compared text by text, or score by score."""
    base, first = next((name, runs[0]) for name, runs in found.items())
    for name, runs in found.items():
        for run in runs:
            if run.texts != first.texts:
                raise ComparisonError(Errors.OTHER_TEXTS.format(name=name))
            if run.meaning != first.meaning:
                names = {"first": base, "second": name}
                told = {"one": first.meaning, "other": run.meaning, **names}
                told["metric"] = run.metric
                raise ComparisonError(Errors.OTHER_MEANINGS.format(**told))


def _warn_copies(found: Mapping[str, list[Measured]]) -> None:
    """Warn of runs that may not be independent of each other."""
    for name, runs in found.items():
        alike = [(a, b) for a, b in combinations(runs, 2) if a.seed == b.seed]
        seeds = {one.seed for one, _ in alike if one.seed is not None}
        if any(_is_copy(one, other) for one, other in alike):
            warnings.warn(Warnings.SAME_ANSWERS.format(name=name), stacklevel=3)
        elif seeds:
            told = {"name": name, "seed": min(seeds)}
            warnings.warn(Warnings.SAME_SEED.format(**told), stacklevel=3)


def _is_copy(one: Measured, other: Measured) -> bool:
    return one.answers == other.answers and np.array_equal(
        one.rows, other.rows, equal_nan=one.rows.dtype.kind == "f"
    )


def _in_turns(arms: Mapping[str, Sequence[str]]) -> list[tuple[str, list[str]]]:
    """List the first run of each arm, then the second ones, and so on."""
    columns = [[(name, [path]) for path in paths] for name, paths in arms.items()]
    return [job for turn in zip_longest(*columns) for job in turn if job is not None]


def _against_first(found: Mapping[str, list[Measured]], n_resamples: int) -> list[Arm]:
    if not found:
        return []
    rows = {name: [run.rows for run in runs] for name, runs in found.items()}
    score_of = next(iter(found.values()))[0].score_of
    scores = resample(rows, score_of, n_resamples=n_resamples)
    scores = {
        name: one._replace(seeds=_seeds(found[name])) for name, one in scores.items()
    }
    first, *others = found
    made = [Arm(first, found[first])]
    for name in others:
        both = (scores[first], scores[name])
        models, method = models_difference(*both), method_difference(*both)
        made.append(Arm(name, found[name], models, method))
    return made


def _seeds(runs: list[Measured]) -> list[int] | None:
    seeds = [run.seed for run in runs if run.seed is not None]
    return seeds if len(seeds) == len(runs) else None


def _ensembles(
    arms: Mapping[str, Sequence[str]],
    found: Mapping[str, list[Measured]],
    setup: Setup,
) -> dict[str, list[Measured]]:
    """Measure the runs of each arm as one; a single run is that one."""
    together = dict(found)
    jobs = [(name, list(paths)) for name, paths in arms.items() if len(paths) > 1]
    for name, paths in watched(jobs, "ensembles"):
        together[name] = [_measure(measure_ensemble_in_subprocess, name, paths, setup)]
    return together


def _mean_of(arm: Arm, name: str) -> float | None:
    values = [getattr(run, name) for run in arm.runs]
    return None if None in values else mean(values)
