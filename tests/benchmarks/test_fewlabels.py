"""Runs with few labels: all arms get the same texts, and each run is done once."""

import pytest

from benchmarks.fewlabels import arms, tasks, training
from benchmarks.matrix import is_done, read_done, run_missing


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
