"""What init says of the time that a training takes."""

from itertools import count

import pytest

from spacy_spanft.configs import config_for_data, timing


def test_two_steps_are_measured(entities, bert, monkeypatch):
    how = {"task": "ner", "regime": "grouped", "transformer": str(bert)}
    made = config_for_data(str(entities), **how)
    # Each look at the clock is a second later: two steps take one, and so does loading.
    monkeypatch.setattr(timing, "perf_counter", count().__next__)
    n_train, n_dev = (len(made.data[part].n_words) for part in ("train", "dev"))
    settings = made.config["training"]
    size = settings["batcher"]["size"]
    n_batches = min(2, -(-n_train // size))
    n_predicted = n_dev * (1 + settings["max_steps"] // settings["eval_frequency"])
    expected = timing._SECONDS_OF_IMPORTS + 1 + settings["max_steps"] / n_batches
    expected += n_predicted * timing._SHARE_OF_PREDICTION / min(n_train, 2 * size)
    assert timing.training_seconds(made) == pytest.approx(expected)


def test_labels_may_come_late(bert, tmp_path, monkeypatch):
    path = tmp_path / "t.conll"
    path.write_text("in O\n\n" * 9 + "in O\nRome B-LOC\n\n" * 9)
    monkeypatch.setattr(timing, "_N_SAMPLED", 4)
    assert timing.training_seconds(config_for_data(str(path), transformer=str(bert)))


@pytest.mark.parametrize(("n", "n_halves"), [(12, 0), (30, 2), (70, 1)])
def test_contrast_and_its_choice_are_counted(n, n_halves, bert, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    rows = "".join(f"{i} film,{label}\n" for i, label in enumerate(n * "abc"))
    path.write_text(f"text,label\n{rows}")
    made = config_for_data(str(path), transformer=str(bert))
    seconds = []
    for steps in (0, 10):
        made.config["initialize"]["after_init"]["contrast"] = steps
        monkeypatch.setattr(timing, "perf_counter", count().__next__)
        seconds.append(timing.training_seconds(made))
    n_steps, n_predicted = 10 + n_halves * 2 * 5, 3 * n * (1 + n_halves * 2)
    more = n_steps / 2 + n_predicted * timing._SHARE_OF_PREDICTION / 32
    assert seconds[1] - seconds[0] == pytest.approx(more)  # two batches take a second


def test_very_long_texts_are_not_tried(bert, tmp_path):
    path = tmp_path / "t.csv"
    texts = [*("a b" for _ in range(11)), 5001 * "a "]
    rows = (f"{text},{'ab'[i % 2]}\n" for i, text in enumerate(texts))
    path.write_text("text,label\n" + "".join(rows))
    made = config_for_data(str(path), transformer=str(bert))
    assert timing.training_seconds(made) == 0.0


def test_times_are_rounded():
    words = {3: "10 seconds", 74: "70 seconds", 130: "2 minutes", 9000: "2.5 hours"}
    assert {seconds: timing.duration(seconds) for seconds in words} == words
