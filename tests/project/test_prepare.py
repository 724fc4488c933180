"""The data of the project's tasks: every layout of files, datasets, splits, errors."""

import importlib
import json
from pathlib import Path

import datasets
import pytest
import spacy
import typer
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from typer.testing import CliRunner

from spacy_spanft.experiments.metrics import metric_of

from .task_data import (
    LAYOUTS,
    TASKS,
    content_of,
    expected_of,
    rows_of,
    sentences_of,
    write_layout,
)

ROOT = Path(__file__).parents[2]
prepare = importlib.import_module("prepare")  # found once task_data is imported
splits = importlib.import_module("splits")


def run(*args, ok=True):
    app = typer.Typer()
    app.command()(prepare.main)
    done = CliRunner().invoke(app, [str(arg) for arg in args])
    assert (done.exit_code == 0) == ok, f"{done.output}\n{done.exception!r}"
    if not ok:
        assert done.stderr.startswith("✘ ")
        assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def read(folder):
    vocab = Vocab()
    paths = sorted(folder.glob("*.spacy"))
    parts = {
        path.stem: list(DocBin().from_disk(path).get_docs(vocab)) for path in paths
    }
    return parts, json.loads((folder / "task.json").read_text())


def assert_prepared(task, folder):
    """Compare with what was generated: all of it, and nothing twice."""
    parts, about = read(folder)
    texts = {
        part: [content_of(task, doc) for doc in docs] for part, docs in parts.items()
    }
    assert about["counts"] == {part: len(docs) for part, docs in parts.items()}
    assert about["left_out"] == 0
    kind = TASKS[task].kind
    assert (about["task"], about["kind"]) == (task, kind)
    if task == "wikigold":
        assert [len(texts[part]) for part in ("train", "dev", "test")] == [48, 6, 6]
        every = [text for part in ("train", "dev", "test") for text in texts[part]]
        assert sorted(every) == sorted(expected_of(task, "whole"))
        return
    assert texts["test"] == expected_of(task, "test")
    if about["source"].get("splits", about["source"].get("files")).get("dev"):
        assert texts["train"] == expected_of(task, "train")
        assert texts["dev"] == expected_of(task, "dev")
    else:
        assert len(texts["dev"]) == 4
        both = [text for text, _ in texts["train"] + texts["dev"]]
        assert sorted(both) == sorted(t for t, _ in expected_of(task, "train"))
        distinct = dict(expected_of(task, "train"))
        assert dict(texts["train"] + texts["dev"]) == distinct
    if task == "mnli":
        assert texts["test_mismatched"] == expected_of(task, "test_mismatched")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.filterwarnings("ignore:Rows of")
def test_files(layout, tmp_path):
    task = layout.split("-")[0]
    folder = tmp_path / "data" / LAYOUTS[layout][0]
    write_layout(layout, folder)
    output = run(task, tmp_path / "out", "--data-dir", tmp_path / "data")
    assert "✔ Written to" in output
    assert_prepared(task, tmp_path / "out")
    if layout in ("sst2", "wikigold"):
        # Named by its own folder, and over what is there already: the same bytes.
        before = (tmp_path / "out" / "train.spacy").read_bytes()
        run(task, tmp_path / "out", "--data-dir", folder)
        assert (tmp_path / "out" / "train.spacy").read_bytes() == before
    assert not list(tmp_path.glob(".*"))


def test_every_metric_is_known_to_compare():
    factories = {"single": "textcat", "pair": "textcat", "score": "text_regressor"}
    nlp = spacy.blank("en")
    for task in TASKS.values():
        component = nlp.add_pipe(factories.get(task.kind, "ner"))
        for label in task.labels:
            component.add_label(label)
        metric = metric_of(nlp, task.metric, task.positive_label)
        assert metric.name == task.metric
        nlp.remove_pipe(nlp.pipe_names[0])


@given(
    rows=st.lists(st.tuples(st.integers(0, 9), st.integers())),
    n=st.integers(0, 12),
    taken=st.sets(st.integers(0, 9)),
)
def test_repeated_rows_are_in_one_part(rows, n, taken):
    stay, drawn = splits.split_off(rows, n, key=lambda row: row[0], taken=taken)
    keys = [{row[0] for row in part} for part in (stay, drawn)]
    assert not keys[0] & keys[1]
    assert not taken & (keys[0] | keys[1])
    free = [row for row in rows if row[0] not in taken]
    assert len(drawn) == min(n, len(free))
    assert [row for row in free if row in stay] == stay
    assert all(row in stay or row[0] in keys[1] for row in free)
    again = splits.split_off(rows, n, key=lambda row: row[0], taken=taken)
    assert again == (stay, drawn)


def test_rows_of_the_test_data_are_left_out(tmp_path):
    lines = [f"text {i}\t{i % 2}" for i in range(30)]
    for file, rows in (("train", [*lines, *lines[:3]]), ("dev", lines[25:])):
        (tmp_path / f"{file}.tsv").write_text("\n".join(["sentence\tlabel", *rows]))
    run("sst2", tmp_path / "out", "--data-dir", tmp_path)
    parts, about = read(tmp_path / "out")
    texts = [{doc.text for doc in docs} for docs in parts.values()]
    assert sum(map(len, texts)) == len(set.union(*texts)) == 30
    assert about["left_out"] == 33 + 5 - sum(about["counts"].values())


def test_limits(tmp_path, monkeypatch):
    write_layout("rte", tmp_path)
    args = ("rte", tmp_path / "out", "--data-dir", tmp_path)
    run(*args, "--limit", 2)
    assert set(read(tmp_path / "out")[1]["counts"].values()) == {2}
    monkeypatch.setattr(prepare, "MAX_DEV", 3)
    run(*args)
    counts = read(tmp_path / "out")[1]["counts"]
    assert counts == {"train": 37, "dev": 3, "test": 6}


def save(folder, task):
    """Save the parts of a task as Parquet, in the form of the hub's datasets."""
    about = TASKS[task]
    columns = [column for column in about.layouts[0][:3] if column]
    rows = {part: rows_of(task, part) for part in about.splits if about.kind != "ner"}
    if task == "wikigold":  # whose one part is two splits
        whole = sentences_of(task, "whole")
        rows = {"train": whole[:45], "test": whole[45:]}
    elif about.kind == "ner":
        rows = {part: sentences_of(task, part) for part in about.splits}
    for part, of_part in rows.items():
        split = about.splits.get(part, part)
        path = folder / "data" / f"{split}-00000-of-00001.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        cells = [[cell for cell in row if cell is not None] for row in of_part]
        made = [dict(zip(columns, row, strict=True)) for row in cells]
        datasets.Dataset.from_list(made).to_parquet(path)


@pytest.mark.parametrize("task", ["cola", "mnli", "stsb", "conll2003", "wikigold"])
def test_datasets(task, tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    save(tmp_path / "hub", task)
    hub = (str(tmp_path / "hub"), None)
    monkeypatch.setitem(TASKS, task, TASKS[task]._replace(hub=hub))
    run(task, tmp_path / "out")
    assert_prepared(task, tmp_path / "out")


def test_columns_that_do_not_fit(tmp_path):
    for file in ("train.tsv", "dev.tsv"):
        (tmp_path / file).write_text("question\tlabel\na\t1\n")
    output = run("qqp", tmp_path / "out", "--data-dir", tmp_path, ok=False)
    assert "has the columns 'question', 'label', but for qqp must have" in output
