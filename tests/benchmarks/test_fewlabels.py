"""Runs with few labels: all arms get the same texts, and each run is done once."""

import pytest

from benchmarks.fewlabels import arms, tasks, training
from benchmarks.fewlabels.configs import config_for
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


def test_a_task_without_dev_data_is_split(data):
    task = tasks.TASKS["WikiGold"]
    parts = [tasks.draw(data, task, part, 10, 0) for part in ("dev", "held-out")]
    assert [len(part.test) for part in parts] == [6, 4]
    assert len(parts[0].pool) == 20
    # In WNUT17 some lines between texts hold a tab.
    path = data / task.train
    path.write_text(path.read_text("utf8").replace("\n\n", "\n\t\n", 5), "utf8")
    assert tasks.draw(data, task, "dev", 10, 0) == parts[0]


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


def test_training_learns(data, encoder):
    """Texts whose label is their last word, from a model with random weights."""
    path = data / tasks.TASKS["CoLA"].train
    rows = [f"the {'good' if i % 2 else 'bad'} film\t{i % 2}" for i in range(60)]
    path.write_text("\n".join(["sentence\tlabel", *rows]) + "\n", "utf8")
    run = run_of("CoLA", "ngrams", size=40, epochs=12, rate=0.01, part="held-out")
    assert training.train_and_score(run, data, encoder)["cats_accuracy"] == 1.0


def test_arms_and_regimes_change_the_config(tmp_path):
    files = {"train": tmp_path / "train.tsv", "dev": tmp_path / "dev.tsv"}

    def config_of(arm, regime="everything", task="CoLA"):
        run = run_of(task, arm, regime=regime)
        return config_for(tasks.TASKS[task], run, tmp_path, files, 10)

    for arm, summary in {"mean-ngrams": "mean", "ngrams": "cls"}.items():
        model = config_of(arm)["components"]["textcat"]["model"]
        assert (model["summary"], model["pair_separator"]) == (summary, None)
    model = config_of("pair", task="STS-B")["components"]["text_regressor"]["model"]
    assert model["pair_separator"] == "${nlp.tokenizer.separator}"
    for arm, version in {"ngrams": "v1", "wide": "v2"}.items():
        model = config_of(arm, task="WNUT17")["components"]["bilou_ner"]["model"]
        name = model["tok2vec"]["@architectures"]
        assert name == f"spacy-spanft.SpanTok2Vec.{version}"


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
