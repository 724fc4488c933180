"""Training from Python does what the commands do."""

import math
from datetime import date

import numpy as np
import pandas as pd
import pytest
import spacy
import srsly
from spacy.util import load_config

from spacy_spanft import train
from spacy_spanft.errors import SpanftError

from ..commands import run
from ..tiny import weights_of
from .conftest import changed

ROWS = [(f"a {'good' if i % 2 else 'bad'} film {i}", "AB"[i % 2]) for i in range(20)]
QUICK = {"training.max_steps": 2, "training.eval_frequency": 1}
STEPS = ("--training.max_steps", 2, "--training.eval_frequency", 1)


def test_rows_train_what_the_commands_train(bert, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nlp = train(ROWS, transformer=bert, output="out", overrides=QUICK)
    rows = [{"text": text, "label": label} for text, label in ROWS]
    srsly.write_jsonl("t.jsonl", rows)
    run("spanft", "init", "x.cfg", "--train", "t.jsonl", "--transformer", bert)
    run("train", "x.cfg", "--output", "by_hand", *STEPS)
    both = map(load_config, ("out/config.cfg", "x.cfg"))
    assert changed(*both) == {"paths.train", "training.max_steps"}
    by_hand = spacy.load("by_hand/model-best")
    mine, theirs = weights_of(nlp), weights_of(by_hand)
    for name, weight in mine.items():
        np.testing.assert_array_equal(weight, theirs[name], err_msg=name)
    assert set(nlp("a film").cats) == {"A", "B"}
    done = run("spanft", "evaluate", "by_hand/model-best", "t.jsonl")
    assert "by_hand/model-best was trained on t.jsonl" in done.stderr


def test_other_forms_of_data(bert, tmp_path):
    rows = [{"body": text, "kind": np.int64(label == "A")} for text, label in ROWS]
    rows[0] |= {"on": date(2026, 1, 2), "vector": np.ones(2)}
    rows += [{"body": "good", "kind": pd.NA}, {"body": math.nan, "kind": 1}]
    how = {"columns": {"text": "body"}, "label": "kind", "spans": False}
    how["incomplete"] = "skip"
    dev = [{"body": "good", "kind": 1}, {"body": "bad", "kind": 0}]
    how |= {"transformer": bert, "overrides": QUICK}
    with pytest.warns(UserWarning, match="left out: 2 of 22"):
        nlp = train(iter(rows), dev=dev, **how)
    assert nlp.pipe_names == ["transformer", "textcat"]
    assert set(nlp("a film").cats) == {"0", "1"}
    rows = [{"text": text, "label": {"x", label}} for text, label in ROWS]
    nlp = train(rows, spans=False, transformer=bert, overrides=QUICK)
    assert set(nlp("a film").cats) == {"A", "B", "x"}


def test_wrong_data_and_settings_are_refused(bert, tmp_path):
    output = tmp_path / "new"
    for data, settings, message in (
        (ROWS, {"overrides": {"training.max_epoch": 1}}, "Is 'max_epochs' meant?"),
        (ROWS, {"overrides": {"max_steps": 1}}, "'max_steps', .* Known: .* training"),
        ("none.spacy", {}, "There is no file 'none.spacy'"),
        ([("a", "x")] * 9, {}, "Every text of data has the label 'x'"),
        ([*ROWS, 3], {}, "A row is 3, but must be a dict"),
        ([(b"a", "x")], {}, "A row has bytes, b'a'"),
        ([("a", {"x", None})], {}, "Line 1 of data has None for a label"),
        (ROWS, {"text": "body"}, "no column 'body' in data.* with 'text'"),
        (ROWS, {"task": "pair"}, "^'task' pair is for pairs .* with 'text_pair'"),
        (ROWS, {"output": __file__}, r"test_fine_tuning\.py' is a file\. Name a"),
        (ROWS, {"regime": "typo"}, "regime is 'typo', but must be one of"),
    ):
        with pytest.raises(SpanftError, match=message):
            train(data, **{"transformer": bert, "output": output, **settings})
        assert not output.exists()
    with pytest.raises(TypeError, match=r"^train\(\) got an unexpected .* 'outputs'"):
        train(ROWS, outputs="x")
