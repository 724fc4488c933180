"""What init says of the time that a training takes."""

from itertools import count

from spacy_spanft.configs import config_for_data, timing


def test_longer_trainings_take_longer(entities, bert, monkeypatch):
    """By a clock that is a second further at each look."""
    made = config_for_data(str(entities), task="ner", transformer=str(bert))
    seconds = []
    for steps, contrast in ((10, 0), (20, 0), (20, 10)):
        made.config["training"] |= {"max_steps": steps, "eval_frequency": 10}
        made.config["initialize"]["after_init"]["contrast"] = contrast
        monkeypatch.setattr(timing, "perf_counter", count().__next__)
        seconds.append(timing.training_seconds(made))
    assert seconds == sorted({*seconds})


def test_labels_may_come_late(bert, tmp_path, monkeypatch):
    path = tmp_path / "t.conll"
    path.write_text("in O\n\n" * 9 + "in O\nRome B-LOC\n\n" * 9)
    monkeypatch.setattr(timing, "_N_SAMPLED", 4)
    assert timing.training_seconds(config_for_data(str(path), transformer=str(bert)))


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
