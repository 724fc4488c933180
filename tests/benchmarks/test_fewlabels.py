"""Runs with few labels: all arms get the same texts, and each run is done once."""

import pytest

from benchmarks.fewlabels import arms, tasks, training
from benchmarks.matrix import is_done, read_done, run_missing
from benchmarks.numbers import difference, interval, mean_over, minus, spread


def run_of(name, arm, **settings):
    (run,) = arms.runs([name], [arm], [300], 1)
    return {**run, "rate": 1e-3, "head_rate": 1e-3, **settings}


def test_all_arms_draw_the_same(data):
    task = tasks.TASKS["CoLA"]
    first, again = (tasks.draw(data, task, "dev", 10, 0) for _ in range(2))
    assert first == again
    assert first.train != tasks.draw(data, task, "dev", 10, 1).train
    held_out = tasks.draw(data, task, "held-out", 10, 0)
    assert held_out.train == first.train
    assert not {*held_out.test} & {*held_out.pool}
    with pytest.raises(SystemExit, match=r"CoLA/train.tsv has 24 texts to draw 25"):
        tasks.draw(data, task, "dev", 25, 0)


@pytest.mark.parametrize(
    ("name", "arm", "settings"),
    [
        ("SST-2", "no-cls", {"regime": "rates"}),
        ("STS-B", "pair-ngrams", {}),
        ("WNUT17", "wide", {"regime": "head-first"}),
    ],
)
def test_a_run_is_trained_scored_and_done_once(
    name, arm, settings, data, tmp_path, encoder
):
    results = tmp_path / "results.jsonl"
    run = run_of(name, arm, size=8, epochs=1, **settings)
    done = run_missing(
        results, [run], lambda one: training.train_and_score(one, data, encoder)
    )
    assert is_done(run, done)
    assert all(-1 <= done[0][metric] <= 1 for metric in tasks.TASKS[name].metrics)
    run_missing(results, [run], lambda one: pytest.fail("It was done already."))
    assert read_done(results) == done


def test_a_stopped_command_is_resumed(tmp_path):
    results = tmp_path / "results.jsonl"
    runs = [run_of("CoLA", arm) for arm in ("encoder", "ngrams")]

    def stop(run):
        # Another process leaves the run to this one.
        run_missing(results, [run], lambda _: pytest.fail("It is being done."))
        if run["arm"] == "ngrams":
            raise KeyboardInterrupt
        return {"cats_matthews": 0.5}

    with pytest.raises(KeyboardInterrupt):
        run_missing(results, runs, stop)
    seen = []
    run_missing(results, runs, lambda run: seen.append(run) or {"cats_matthews": 0.6})
    assert seen == [runs[1]]
    assert len(read_done(results)) == 2


def test_differences_are_paired_by_seed():
    gained = minus({0: 2.0, 1: 4.0, 2: 9.0}, {0: 1.0, 1: 3.0})
    assert gained == {0: 1.0, 1: 1.0}
    assert difference(gained) == "+1.0 (n = 2)"  # whose interval says nothing
    assert difference({**gained, 2: 1.0}) == "+1.0 (+1.0 to +1.0, n = 3)"
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
