"""What the results page says of few labels: pairs, means over tasks and intervals."""

import json
from itertools import product

import pytest

from benchmarks.fewlabels import choices, page, summary, tasks
from benchmarks.fewlabels.arms import CHOSEN

from .test_fewlabels import SETTING, run_of


def test_other_settings_are_in_no_table(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "RECORDED", tmp_path)
    kept = run_of("CoLA", "encoder")
    lines = [kept, {**kept, "rate": 1e-5}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / page.SCORED_RUNS).write_text(text, "utf8")
    chosen = {choices.key_of("encoder", "everything", tasks.TASKS["CoLA"]): SETTING}
    choices.write_choices(tmp_path / "fewlabels.json", chosen)
    assert page.recorded(page.SCORED_RUNS) == [kept]


def test_differences_are_paired_by_seed():
    assert summary.difference({0: 2.0, 1: 4.0, 2: 9.0}, {0: 1.0, 1: 3.0}) == (
        "+1.0 (+1.0 to +1.0, n = 2)"
    )
    assert summary.interval([0.0, 2.0]) == pytest.approx(
        (1 - 12.706, 1 + 12.706), abs=1e-3
    )
    runs = [
        {**run_of("CoLA", arm), "seed": seed, "cats_matthews": score}
        for arm, scores in {"encoder": (0.1, 0.2), "ngrams": (0.2, 0.4)}.items()
        for seed, score in enumerate(scores)
    ]
    assert "+15.0 (-48.5 to +78.5, n = 2)" in summary.results_table(runs)
    table = summary.over_tasks(runs)
    assert "+15.0 (-48.5 to +78.5, n = 2)" in table
    assert "+0.0" not in table  # the encoder is not compared with itself


def test_the_best_is_compared_with_its_twins(monkeypatch):
    recorded = []
    for name, regime in {"CoLA": "everything", "WNUT17": "head-first"}.items():
        best, twin, bare, *_ = CHOSEN[tasks.TASKS[name].kind]
        gains = {"encoder": 0.0, bare: 0.01, twin: 0.02, best: 0.05}
        if name == "WNUT17":
            gains = {"encoder": 0.0, bare: 0.01, twin: 0.03, best: 0.02}
        for (arm, gain), seed in product(gains.items(), range(2)):
            run = {"task": name, "size": 1000, "arm": arm, "regime": regime}
            metric = tasks.TASKS[name].metrics[0]
            recorded.append({**run, "seed": seed, metric: 0.1 * seed + gain})
    monkeypatch.setattr(page, "recorded", lambda _: recorded)
    monkeypatch.setattr(
        page, "TASKS", {name: tasks.TASKS[name] for name in ("CoLA", "WNUT17")}
    )
    _, cola, wnut, means = [row[3:] for row in page.best()]
    assert [cell[:4] for cell in cola] == ["+1.0", "+2.0", "+5.0", "+4.0", "+3.0"]
    assert [cell[:4] for cell in wnut] == ["+1.0", "+3.0", "+2.0", "+1.0", "−1.0"]
    assert [cell[:4] for cell in means] == ["+1.0", "+2.5", "+3.5", "+2.5", "+1.0"]


def test_means_of_kinds_are_paired_over_tasks(monkeypatch):
    """For labels `init` is the head over n-grams, for tokens the one without spans."""
    recorded = []
    for name, regime in {"CoLA": "everything", "WNUT17": "head-first"}.items():
        best, twin, bare, *_ = CHOSEN[tasks.TASKS[name].kind]
        scale = {"CoLA": 1.0, "WNUT17": 3.0}[name]
        gains = {"encoder": 0.0, bare: 0.01, twin: 0.03, best: 0.02, "ngrams": -0.01}
        for (arm, gain), seed in product(gains.items(), range(2)):
            run = {"task": name, "size": 100, "arm": arm, "regime": regime}
            metric = tasks.TASKS[name].metrics[0]
            score = 0.1 * seed * scale + gain * scale * (1 + seed)
            recorded.append({**run, "seed": seed, metric: score})
    monkeypatch.setattr(page, "recorded", lambda _: recorded)
    known = {name: tasks.TASKS[name] for name in ("CoLA", "WNUT17")}
    monkeypatch.setattr(page, "TASKS", known)
    header, labels, entities, apart, both = page.by_kind()
    assert header[2:5] == ("the paper's head", "`init`", "`init` − `init --no-spans`")
    assert labels[:2] == ("100", "CoLA")
    assert [cell[:4] for cell in labels[2:]] == ["−1.5", "+3.0", "+1.5", "+1.5", "−1.5"]
    # Of two seeds: 3 and 6 points, whose t interval of 1 degree reaches far.
    assert entities[3] == "+4.5 (−14.6 to +23.6, n = 2)"
    assert [cell[:4] for cell in entities[2:]] == [
        "−4.5",
        "+4.5",
        "+4.5",
        "+4.5",
        "−4.5",
    ]
    assert apart == ("100", "all but STS-B", *both[2:])
    assert both[:2] == ("100", "all")
    assert [cell[:5] for cell in both[2:]] == [
        "−3.0 ",
        "+3.8 ",
        "+3.0 ",
        "+3.0 ",
        "−3.0 ",
    ]


def test_means_of_all_sizes_are_paired_by_seed(monkeypatch):
    """A seed's mean is over few labels alone, and no other size stands beside them."""
    gains = {100: (1.0, 5.0), 300: (3.0, 1.0), 10_000: (50.0, 50.0)}
    recorded = []
    for (size, own), seed in product(gains.items(), range(2)):
        run = {"task": "CoLA", "size": size, "regime": "everything", "seed": seed}
        for arm, gain in (("encoder", 0.0), ("ngrams", own[seed] / 100)):
            recorded.append({**run, "arm": arm, "cats_matthews": 0.1 * seed + gain})
    monkeypatch.setattr(page, "recorded", lambda _: recorded)
    monkeypatch.setattr(page, "TASKS", {"CoLA": tasks.TASKS["CoLA"]})
    rows = [row[:3] for row in page.by_kind() if row[1] == "CoLA"]
    # Seed 0 gains 2 points in the mean, seed 1 three.
    assert rows == [
        ("100", "CoLA", "+3.0 (−22.4 to +28.4, n = 2)"),
        ("300", "CoLA", "+2.0 (−10.7 to +14.7, n = 2)"),
        ("all", "CoLA", "+2.5 (−3.9 to +8.9, n = 2)"),
    ]


def test_other_cuts_are_compared_over_seeds_that_both_have(monkeypatch):
    gains = {"encoder": (0, 0, 0), "ngrams": (3, 5, 9), "nltk": (1, 2)}
    recorded = [
        {
            **{"task": "CoLA", "size": 300, "regime": "everything", "arm": arm},
            **{"seed": seed, "cats_matthews": 0.1 * seed + gain / 100},
        }
        for arm, own in gains.items()
        for seed, gain in enumerate(own)
    ]
    monkeypatch.setattr(page, "recorded", lambda _: recorded)
    header, cola = page.other_cuts()
    cells = dict(zip(header, cola, strict=True))
    assert cells["NLTK's phrases"].startswith("+1.5 (−4.9 to")
    assert cells["n-grams"].endswith("n = 3)")
    assert cells["n-grams − NLTK's phrases"].startswith("+2.5 (−3.9 to")
    assert cells["n-grams, the best by PMI"] == "-"


def test_tables_of_the_page(monkeypatch):
    recorded = []
    for (arm, gain), seed in product({"encoder": 0.0, "cnn": 0.01}.items(), range(3)):
        run = {"task": "CoLA", "size": 300, "arm": arm, "regime": "everything"}
        recorded.append({**run, "seed": seed, "cats_matthews": 0.1 * seed + gain})
    other = {**recorded[-1], "regime": "rates", "cats_matthews": 0.9}
    rates = {**recorded[0], "regime": "rates", "cats_matthews": 0.7}
    monkeypatch.setattr(page, "recorded", lambda _: [*recorded, other, rates])
    header, cola = page.scored()  # and no mean of one task of six
    assert header[2:4] == ("encoder alone", "CNN without spans")
    assert cola == (
        *("300", "CoLA", "10.0 ± 10.0, n = 3"),
        *("+1.0 (+1.0 to +1.0, n = 3)", "-", "-"),
    )
    monkeypatch.setattr(page, "TASKS", {"CoLA": tasks.TASKS["CoLA"]})
    *_, means = page.scored()
    assert means == ("300", "mean", "", "+1.0 (+1.0 to +1.0, n = 3)", "-", "-")
    header, base, *heads_ = page.tried_on_texts()
    assert header == ("head", "CoLA")
    assert base == ("encoder alone", "10.0 ± 10.0, n = 3")
    assert ("CNN without spans", "+1.0 (+1.0 to +1.0, n = 3)") in heads_


def test_regimes_are_compared_head_by_head(monkeypatch):
    # CoLA is trained at once, WNUT17 the head first; neither has all seeds.
    found = {
        ("CoLA", "encoder", "everything"): [10, 20, 30],
        ("CoLA", "encoder", "rates"): [11, 23],
        ("CoLA", "ngrams", "everything"): [50, 60],
        ("CoLA", "mean-ngrams", "rates"): [70],
        ("SST-2", "encoder", "everything"): [40, 50, 60],
        ("SST-2", "encoder", "rates"): [41, 51, 61],
        ("WNUT17", "encoder", "head-first"): [30, 40],
        ("WNUT17", "encoder", "everything"): [20, 40],
    }
    recorded = [
        {
            **{"task": task, "size": 300, "arm": arm, "regime": regime},
            **{"seed": seed, tasks.TASKS[task].metrics[0]: value / 100},
        }
        for (task, arm, regime), values in found.items()
        for seed, value in enumerate(values)
    ]
    monkeypatch.setattr(page, "recorded", lambda _: recorded)
    header, *rows = page.regimes("fewlabels.jsonl", page.HEADS)
    assert header[:3] == ("head", "task", "everything at one rate")
    assert rows == [  # no head that has one regime alone, or lacks the main one
        (
            "encoder alone",
            "CoLA",
            "20.0 ± 10.0, n = 3",
            "+2.0 (−10.7 to +14.7, n = 2)",
            "-",
        ),
        (
            "encoder alone",
            "SST-2",
            "50.0 ± 10.0, n = 3",
            "+1.0 (+1.0 to +1.0, n = 3)",
            "-",
        ),
        ("encoder alone", "mean", "-", "+1.5 (−4.9 to +7.9, n = 2)", "-"),
        (
            "encoder alone",
            "WNUT17",
            "−5.0 (−68.5 to +58.5, n = 2)",
            "-",
            "35.0 ± 7.1, n = 2",
        ),
    ]


def test_what_pairs_are_compared_by(monkeypatch):
    gains = {"encoder": 0, "pair": 1, "pair-drawn": 2, "pair-words": 4}
    gains |= {"pair-ngrams": 3}
    recorded = [
        {
            **{"task": "STS-B", "size": 100, "regime": "everything", "arm": arm},
            **{"seed": seed, "cats_spearman": 0.1 * seed + gain / 100},
        }
        for (arm, gain), seed in product(gains.items(), range(2))
    ]
    monkeypatch.setattr(page, "recorded", lambda _: recorded)
    header, few, *more = page.compared()
    found = dict(zip(header, (cell.split(" ")[0] for cell in few), strict=True))
    assert found == {
        **{"labels": "100", "nothing else": "+1.0", "random spans": "-"},
        **{"a random dictionary's n-grams": "+2.0", "tokens": "+4.0"},
        **{"n-grams": "+3.0", "n-grams − a random dictionary's n-grams": "+1.0"},
        "n-grams − tokens": "−1.0",
    }
    assert [row[0] for row in more] == ["300", "1,000"]
    assert {cell for row in more for cell in row[1:]} == {"-"}


def test_a_mean_leaves_out_what_the_encoder_was_made_for(monkeypatch):
    gains = {"CoLA": ("cats_matthews", 1), "STS-B": ("cats_spearman", 9)}
    recorded = [
        {
            **{"task": name, "size": 100, "regime": "everything", "arm": arm},
            **{"seed": seed, metric: 0.1 * seed + gain / 100 * (arm == "ngrams")},
        }
        for name, (metric, gain) in gains.items()
        for arm, seed in product(("encoder", "ngrams"), range(2))
    ]
    monkeypatch.setattr(page, "recorded", lambda _: recorded)
    monkeypatch.setattr(page, "TASKS", {name: tasks.TASKS[name] for name in gains})
    found = {row[1]: row[2].split(" ")[0] for row in page.by_kind()}
    assert found["all but STS-B"] == found["CoLA"] == "+1.0"
    assert found["all"] == "+5.0"
