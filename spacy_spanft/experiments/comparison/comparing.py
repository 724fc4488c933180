"""Several trained pipelines, grouped into arms, on the same test data."""

import os
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, combinations, zip_longest
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from ...errors import ComparisonError
from ...util.extras import require
from ...util.files import is_there
from ...util.pipelines import check_pipeline
from ..statistics.methods import MethodDifference, method_difference
from ..statistics.resampling import resample
from ..statistics.significance import Difference, models_difference
from .measure import Measured, Setup, measure_in_subprocess
from .runs import Missing
from .written import is_written

Job = tuple[str, list[str]]


class Arm(NamedTuple):
    """Pipelines that differ only in their seeds.

    models (Optional[Difference]): How much better these trained models are than those
        of the first arm, on texts of this kind; None for the first arm.
    method (Optional[MethodDifference]): How much better the method is, with other seeds
        and other texts; None for the first arm, and if an arm has a single run.
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
    def std(self) -> float | None:
        """The standard deviation of the scores, if there are several."""
        return stdev(self.scores) if len(self.runs) > 1 else None

    @property
    def speeds(self) -> list[float]:
        """The known speeds of the runs, in words a second."""
        speeds = [run.words_per_second for run in self.runs]
        return [speed for speed in speeds if speed is not None]

    def to_json(self, base: int | None) -> dict[str, Any]:
        """Return plain values.

        base (Optional[int]): The number of weights of the first arm.
        """
        n_parameters, speeds = self.runs[0].n_parameters, self.speeds
        added = n_parameters / base - 1 if n_parameters and base else None
        return {
            "name": self.name,
            "scores": self.scores,
            "mean": self.mean,
            "std": self.std,
            "models": self.models and self.models._asdict(),
            "method": self.method and self.method._asdict(),
            "n_parameters": n_parameters,
            "parameters_added": added,
            "words_per_second": median(speeds) if speeds else None,
            "words_per_second_range": [min(speeds), max(speeds)] if speeds else None,
            "peak_memory": self._mean_of("peak_memory"),
            "spans_per_doc": self._mean_of("spans_per_doc"),
            "n_ngrams": self.runs[0].n_ngrams,
        }

    def _mean_of(self, name: str) -> float | None:
        values = [getattr(run, name) for run in self.runs]
        return None if None in values else mean(values)


class Comparison(NamedTuple):
    """Arms on the same data, the baseline first.

    n_docs (int): The number of texts.
    ensembles (list[Arm]): The runs of each arm as one pipeline, if requested, compared
        with the ensemble of the first arm.
    missing (Missing): The missing runs of the experiment.
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
        """Return all figures as values that `json.dumps` takes."""
        base = self.arms[0].runs[0].n_parameters
        values = {
            "metric": self.metric,
            "data": self.data,
            "n_docs": self.n_docs,
            "arms": [arm.to_json(base) for arm in self.arms],
        }
        if self.ensembles:
            values["ensembles"] = [arm.to_json(base) for arm in self.ensembles]
        if self.meaning:
            values["metric_meaning"] = self.meaning
        if told := self.missing.told():
            runs = [run._asdict() for run in self.missing.runs]
            values["missing"] = {**self.missing._asdict(), "runs": runs, "told": told}
        return values


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

    The arms take turns, so that a slow moment of the machine affects all of them.

    arms (Mapping[str, Sequence[Union[str, Path]]]): For each arm its pipelines, which
        differ in their seeds, or files of predictions (.jsonl). The first arm is the
        baseline.
    data (Union[str, Path]): The test data: DocBins (.spacy), or whatever the pipelines'
        own dev corpus reads.
    metric (Optional[str]): The metric, such as "cats_matthews"; None for the one with
        the highest weight in the first pipeline's [training.score_weights].
    positive_label (Optional[str]): The positive label, for "cats_f1".
    gpu_id (int): The GPU; -1 for the CPU.
    n_resamples (int): The number of bootstrap samples.
    ensemble (bool): Whether to measure the runs of each arm as one pipeline, too.
    RETURNS (Comparison): The scores, costs and differences.
    """
    require("A comparison", "scipy")
    named = {name: [str(path) for path in paths] for name, paths in arms.items()}
    _check_arms(named, ensemble)
    reference = _reference(named)
    setup = Setup(str(data), metric, positive_label, gpu_id, reference)
    runs: dict[str, list[Measured]] = {name: [] for name in named}
    # Its metric is that of all.
    jobs = sorted(_in_turns(named), key=lambda job: job[1] != [reference])
    for name, paths in tqdm(jobs, "Measuring", disable=None, leave=False):
        run = _measure(name, paths, setup)
        setup = setup._replace(metric=run.metric)
        runs[name].append(run)
    _check_alike(runs)
    _warn_copies(runs)
    ensembles: list[Arm] = []
    if ensemble:
        members = [(name, paths) for name, paths in named.items() if len(paths) > 1]
        voted = [(name, _measure(name, paths, setup)) for name, paths in members]
        joint = {**runs, **{name: [run] for name, run in voted}}
        several = dict(members)
        ensembles = [a for a in _arms(joint, n_resamples) if a.name in several]
    compared = _arms(runs, n_resamples)
    first = compared[0].runs[0]
    return Comparison(first.metric, str(data), len(first.texts), compared, ensembles)


def _check_arms(arms: Mapping[str, Sequence[str]], ensemble: bool) -> None:
    if not arms or not all(arms.values()):
        raise ComparisonError(
            "There is nothing to compare: name at least one pipeline."
        )
    if ensemble and all(len(paths) == 1 for paths in arms.values()):
        raise ComparisonError("No arm has several runs, which an ensemble consists of.")
    for name, paths in arms.items():
        real = [os.path.realpath(path) if is_there(path) else path for path in paths]
        if repeated := [p for i, p in enumerate(paths) if real[i] in real[:i]]:
            raise ComparisonError(
                f"The arm {name!r} has the pipeline {repeated[0]!r} twice."
            )
    # Before anything is measured, which may take minutes.
    for path in chain.from_iterable(arms.values()):
        if not is_written(path):
            _check_pipeline(path)
        elif not is_there(path):
            raise ComparisonError(f"There is no file {path!r}.")


def _check_pipeline(path: str) -> None:
    if os.path.isfile(path):
        raise ComparisonError(
            f"{path!r} is a file. Pipelines are folders, such as training/model-best, "
            f"and predictions are files whose name ends in .jsonl."
        )
    check_pipeline(path)


def _reference(arms: Mapping[str, Sequence[str]]) -> str:
    """Return the pipeline that determines how files of predictions are scored."""
    paths = [path for paths in arms.values() for path in paths]
    pipelines = [path for path in paths if not is_written(path)]
    if not pipelines:
        raise ComparisonError(
            f"A pipeline determines how predictions are scored, and there is none. "
            f"Name one beside {', '.join(paths)}."
        )
    return pipelines[0]


def _in_turns(arms: Mapping[str, Sequence[str]]) -> list[Job]:
    """Return the first run of each arm, then the second ones, and so on."""
    columns = [[(name, [path]) for path in paths] for name, paths in arms.items()]
    return [job for turn in zip_longest(*columns) for job in turn if job is not None]


def _measure(name: str, paths: list[str], setup: Setup) -> Measured:
    try:
        return measure_in_subprocess(paths, setup)
    except BrokenProcessPool as error:
        raise ComparisonError(
            f"The process that measured {', '.join(paths)!r}, of the arm {name!r}, was "
            f"killed, perhaps for lack of memory."
        ) from error


def _check_alike(arms: Mapping[str, list[Measured]]) -> None:
    """Raise if the runs cannot be compared text by text, or score by score."""
    base, first = next((name, runs[0]) for name, runs in arms.items())
    for name, run in ((name, run) for name, runs in arms.items() for run in runs):
        if run.texts != first.texts:
            raise ComparisonError(
                f"The pipelines of {name!r} read other texts from the data than those "
                f"of {base!r}."
            )
        if run.meaning != first.meaning:
            raise ComparisonError(
                f"{run.metric} means {first.meaning} for {base!r} and {run.meaning} "
                f"for {name!r}. Choose another metric."
            )


def _warn_copies(arms: Mapping[str, list[Measured]]) -> None:
    """Warn of runs that may not be independent of each other."""
    for name, runs in arms.items():
        pairs = [(a, b) for a, b in combinations(runs, 2) if a.seed == b.seed]
        seeds = [a.seed for a, _ in pairs if a.seed is not None]
        if any(_is_copy(a, b) for a, b in pairs):
            text = f"Runs of {name!r} have the same answer to every text"
        elif seeds:
            text = f"Runs of {name!r} have the same seed ({min(seeds)})"
        else:
            continue
        warnings.warn(f"{text}: they may not be independent runs.", stacklevel=3)


def _is_copy(one: Measured, other: Measured) -> bool:
    is_float = one.rows.dtype.kind == "f"
    return one.answers == other.answers and np.array_equal(
        one.rows, other.rows, equal_nan=is_float
    )


def _arms(runs: Mapping[str, list[Measured]], n_resamples: int) -> list[Arm]:
    """Compare the runs of each arm with those of the first."""
    rows = {name: [run.rows for run in arm] for name, arm in runs.items()}
    score_of = next(iter(runs.values()))[0].score_of
    scores = {
        name: arm._replace(seeds=_seeds(runs[name]))
        for name, arm in resample(rows, score_of, n_resamples=n_resamples).items()
    }
    first, *others = runs
    arms = [Arm(first, runs[first])]
    for name in others:
        both = (scores[first], scores[name])
        differences = models_difference(*both), method_difference(*both)
        arms.append(Arm(name, runs[name], *differences))
    return arms


def _seeds(runs: list[Measured]) -> list[int] | None:
    seeds = [run.seed for run in runs if run.seed is not None]
    return seeds if len(seeds) == len(runs) else None
