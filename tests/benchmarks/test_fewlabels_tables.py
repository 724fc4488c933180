"""The tables of few labels: differences paired by seed, means and intervals."""

import pytest

from benchmarks.fewlabels import tables, tasks
from benchmarks.fewlabels.arms import CHOSEN
from benchmarks.numbers import difference, interval, mean_over, minus, spread


@pytest.fixture
def record(monkeypatch):
    """Return a function that replaces the records and the tasks by its own."""

    def replace(scores):
        """Take the points of each seed, by (task, size, arm), and regime if any."""
        names = {task for task, *_ in scores}
        known = {name: tasks.TASKS[name] for name in tasks.TASKS if name in names}
        recorded = []
        for (task, size, arm, *regime), values in scores.items():
            usual = "everything" if tasks.TASKS[task].text else "head-first"
            run = {"task": task, "size": size, "arm": arm}
            run["regime"] = regime[0] if regime else usual
            for seed, value in enumerate(values):
                score = {tasks.TASKS[task].metrics[0]: value / 100}
                recorded.append({**run, "seed": seed, **score})
        monkeypatch.setattr(tables, "recorded", lambda _: recorded)
        monkeypatch.setattr(tables, "TASKS", known)

    return replace


def means(row):
    return [cell.split(" ")[0] for cell in row]


def test_differences_are_paired_by_seed():
    gained = minus({0: 2.0, 1: 4.0, 2: 9.0}, {0: 1.0, 1: 3.0})
    assert gained == {0: 1.0, 1: 1.0}
    assert difference(gained) == "+1.0 (+1.0 to +1.0, n = 2)"
    assert difference({3: -0.5}) == "−0.5 (n = 1)"
    assert difference({}) == "-"


def test_intervals_are_those_of_t():
    assert interval([0.0, 2.0]) == pytest.approx((1 - 12.706, 1 + 12.706), abs=1e-3)
    half = 4.303 / 3**0.5
    assert interval([1.0, 0.0, 2.0]) == pytest.approx((1 - half, 1 + half), abs=1e-3)
    assert spread({0: 80.0, 1: 82.0}) == "81.0 ± 1.4, n = 2"


def test_means_are_of_the_seeds_that_all_have():
    assert mean_over([{0: 1.0, 1: 2.0}, {1: 4.0, 2: 9.0}]) == {1: 3.0}
    assert mean_over([{0: 1.0}, {1: 4.0}]) == mean_over([]) == {}


def test_means_of_kinds_are_paired_over_tasks(record):
    """For labels `init` is the head over n-grams, for tokens the one without spans."""
    scores = {}
    for name, scale in {"CoLA": 1, "WNUT17": 3}.items():
        best, twin, bare, *_ = CHOSEN[tasks.TASKS[name].kind]
        gains = {"encoder": 0, bare: 1, twin: 3, best: 2, "ngrams": -1}
        for arm, gain in gains.items():
            scores[name, 100, arm] = (gain * scale, 10 + 2 * gain * scale)
    record(scores)
    header, labels, entities, both = tables.TABLES["gains"]()
    assert header[2:] == ("`init`", "`init` − `init --no-spans`")
    assert labels[:2] == ("100", "CoLA")
    assert means(labels[2:]) == ["+3.0", "+1.5"]
    # Seeds with 3 and 6 points, whose t interval of one degree of freedom is wide.
    assert entities[2] == "+4.5 (−14.6 to +23.6, n = 2)"
    assert means(entities[2:]) == ["+4.5", "+4.5"]
    assert both[:2] == ("100", "all")
    assert means(both[2:]) == ["+3.8", "+3.0"]


def test_means_of_all_sizes_are_paired_by_seed(record):
    gains = {100: (1, 5), 300: (3, 1), 10_000: (50, 50)}
    scores = {("CoLA", size, "ngrams"): own for size, own in gains.items()}
    record(scores | {("CoLA", size, "encoder"): (0, 0) for size in gains})
    rows = [row[:3] for row in tables.TABLES["paper-by-kind"]() if row[1] == "CoLA"]
    # Seed 0 gains 2 points on average, seed 1 three; 10,000 labels are not few.
    assert rows == [
        ("100", "CoLA", "+3.0 (−22.4 to +28.4, n = 2)"),
        ("300", "CoLA", "+2.0 (−10.7 to +14.7, n = 2)"),
        ("all", "CoLA", "+2.5 (−3.9 to +8.9, n = 2)"),
    ]
    short = [row[:2] for row in tables.TABLES["paper"]()][1:]
    assert ("100", "CoLA") not in short
    assert {("100", "all"), ("all", "CoLA"), ("all", "all")} <= {*short}


def test_regimes_are_compared_head_by_head(record):
    scores = {
        ("CoLA", 300, "encoder", "everything"): [10, 20, 30],
        ("CoLA", 300, "encoder", "rates"): [11, 23],
        ("CoLA", 300, "ngrams", "everything"): [50, 60],
        ("WNUT17", 300, "encoder", "head-first"): [30, 40],
        ("WNUT17", 300, "encoder", "everything"): [20, 40],
    }
    record(scores)
    _, *rows = tables.TABLES["regimes"]()
    alone = "encoder alone"
    assert rows == [  # no head that has one regime only
        (alone, "CoLA", "20.0 ± 10.0, n = 3", "+2.0 (−10.7 to +14.7, n = 2)", "-"),
        (alone, "WNUT17", "−5.0 (−68.5 to +58.5, n = 2)", "-", "35.0 ± 7.1, n = 2"),
    ]
