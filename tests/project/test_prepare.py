"""The data of the project's tasks: every layout of files, datasets, splits, errors."""

import importlib
import json
from pathlib import Path

import pytest
import spacy
import typer
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import DocBin
from spacy.training import Corpus
from typer.testing import CliRunner

from spacy_spanft.training.readers.classification import table_corpus

from ..tiny import save_bert
from .task_data import (
    LAYOUTS,
    TAGS,
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
        assert done.exit_code == 1
        assert done.stderr.startswith("✘ ")
        assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def read(folder):
    """Read what was written: each part, and what is output of it."""
    vocab = spacy.blank("en").vocab
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
def test_files(layout, tmp_path):
    task = layout.split("-")[0]
    write_layout(layout, tmp_path / "data" / LAYOUTS[layout][0])
    output = run(task, tmp_path / "out", "--data-dir", tmp_path / "data")
    assert "✔ Written to" in output
    assert_prepared(task, tmp_path / "out")
    # Without a folder of its own, and over what is there already: the same bytes.
    before = (tmp_path / "out" / "train.spacy").read_bytes()
    run(task, tmp_path / "out", "--data-dir", tmp_path / "data" / LAYOUTS[layout][0])
    assert (tmp_path / "out" / "train.spacy").read_bytes() == before
    assert_prepared(task, tmp_path / "out")
    assert not list(tmp_path.glob(".*"))


def test_every_metric_is_known_to_compare():
    from spacy_spanft.experiments.metrics import metric_of

    factories = {"single": "textcat", "pair": "textcat", "score": "text_regressor"}
    for task in TASKS.values():
        nlp = spacy.blank("en")
        component = nlp.add_pipe(factories.get(task.kind, "ner"))
        for label in task.labels:
            component.add_label(label)
        metric = metric_of(nlp, task.metric, task.positive_label)
        assert metric.name == task.metric


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Prepare pairs with labels, and pairs with scores."""
    folder = tmp_path_factory.mktemp("pairs")
    for task in ("rte", "stsb"):
        write_layout(task, folder / LAYOUTS[task][0])
        run(task, folder / task, "--data-dir", folder)
    return folder


@pytest.fixture(scope="module")
def pair_nlp():
    tokenizer = {"@tokenizers": "spacy-spanft.PairTokenizer.v1"}
    return spacy.blank("en", config={"nlp": {"tokenizer": tokenizer}})


class TestPairs:
    """What is read from the .spacy files is what TableCorpus reads."""

    @pytest.mark.parametrize("task", ["rte", "stsb"])
    def test_tokens_and_labels(self, pairs, pair_nlp, task):
        score = {"score": "score"} if task == "stsb" else {}
        expected = table_corpus(
            pairs / LAYOUTS[task][0] / "dev.tsv",
            text="sentence1",
            text_pair="sentence2",
            **score,
        )
        path = pairs / task / "test.spacy"
        for corpus in (Corpus(path), table_corpus(path, text_pair="sentence2")):
            for example, other in zip(
                corpus(pair_nlp), expected(pair_nlp), strict=True
            ):
                for doc in (example.predicted, example.reference):
                    assert [t.text for t in doc] == [t.text for t in other.reference]
                    assert [t.text for t in doc].count("[SEP]") == 1
                assert example.reference.cats == other.reference.cats
                assert not example.predicted.cats


class TestSplits:
    def test_in_three(self):
        parts = splits.split_in_three(range(25))
        assert {part: len(rows) for part, rows in parts.items()} == {
            "train": 21,
            "dev": 2,
            "test": 2,
        }
        every = [row for part in parts.values() for row in part]
        assert sorted(every) == list(range(25))
        assert parts == splits.split_in_three(range(25))
        assert parts != splits.split_in_three(range(25), seed=1)

    @given(
        rows=st.lists(st.tuples(st.integers(0, 9), st.integers())),
        n=st.integers(0, 12),
        taken=st.sets(st.integers(0, 9)),
    )
    def test_repeated_rows_are_in_one_part(self, rows, n, taken):
        stay, drawn = splits.split_off(rows, n, key=lambda row: row[0], taken=taken)
        keys = [{row[0] for row in part} for part in (stay, drawn)]
        assert not keys[0] & keys[1]
        assert not taken & (keys[0] | keys[1])
        free = [row for row in rows if row[0] not in taken]
        assert len(drawn) == min(n, len(free))
        assert [row for row in free if row in stay] == stay
        assert all(row in stay or row[0] in keys[1] for row in free)
        assert (stay, drawn) == splits.split_off(
            rows, n, key=lambda r: r[0], taken=taken
        )

    def test_rows_of_the_test_data_are_left_out(self, tmp_path):
        lines = [f"text {i}\t{i % 2}" for i in range(30)]
        train = ["sentence\tlabel", *lines, *lines[:3]]
        (tmp_path / "train.tsv").write_text("\n".join(train))
        (tmp_path / "dev.tsv").write_text("\n".join(["sentence\tlabel", *lines[25:]]))
        run("sst2", tmp_path / "out", "--data-dir", tmp_path)
        parts, about = read(tmp_path / "out")
        texts = {part: {doc.text for doc in docs} for part, docs in parts.items()}
        assert sum(map(len, texts.values())) == 30
        assert len(set.union(*texts.values())) == 30
        assert about["left_out"] == 33 + 5 - sum(about["counts"].values())

    @pytest.mark.parametrize("task", ["rte", "snli", "wikigold"])
    def test_limit(self, tmp_path, task):
        write_layout(task, tmp_path)
        sizes = set()
        for limit in (2, 3):
            run(task, tmp_path / "out", "--data-dir", tmp_path, "--limit", limit)
            sizes |= set(read(tmp_path / "out")[1]["counts"].values())
        assert sizes == {2, 3}

    def test_at_most_so_many_dev_rows(self, tmp_path, monkeypatch):
        monkeypatch.setattr(prepare, "MAX_DEV", 3)
        write_layout("rte", tmp_path)
        run("rte", tmp_path / "out", "--data-dir", tmp_path)
        counts = read(tmp_path / "out")[1]["counts"]
        assert counts == {"train": 37, "dev": 3, "test": 6}


class TestDatasets:
    """Local folders of the format that the hub's datasets have."""

    @pytest.fixture(autouse=True)
    def cache(self, tmp_path, monkeypatch):
        import datasets

        monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
        datasets.disable_progress_bars()
        yield
        datasets.enable_progress_bars()

    def save(self, folder, task, monkeypatch, tail=()):
        """Save the parts of a task as Parquet, and let the task be read from there."""
        import datasets

        about = TASKS[task]
        splits = dict(about.splits)
        if task == "wikigold":  # whose one part is two splits
            splits = {"train": "train", "test": "test"}
        columns = [column for column in about.layouts[0][:3] if column]
        for part, split in splits.items():
            rows = self.rows(task, part, split)
            data = datasets.Dataset.from_list(
                [dict(zip(columns, row, strict=True)) for row in [*rows, *tail]],
                features=self.features(task, columns),
            )
            path = folder / "data" / f"{split}-00000-of-00001.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            data.to_parquet(path)
        monkeypatch.setitem(TASKS, task, about._replace(hub=(str(folder), None)))

    def rows(self, task, part, split):
        if task == "wikigold":
            whole = sentences_of(task, "whole")
            return whole[:45] if split == "train" else whole[45:]
        if TASKS[task].kind == "ner":
            return sentences_of(task, part)
        rows = rows_of(task, part)
        if TASKS[task].labels:
            rows = [(a, b, TASKS[task].labels.index(label)) for a, b, label in rows]
        return [tuple(cell for cell in row if cell is not None) for row in rows]

    def features(self, task, columns):
        import datasets

        *texts, label = columns
        made = {text: datasets.Value("string") for text in texts}
        if TASKS[task].kind == "ner":
            made = {texts[0]: datasets.Sequence(datasets.Value("string"))}
            tags = TAGS if task != "wnut17" else None
            named = datasets.ClassLabel(names=tags) if tags else None
            made[label] = datasets.Sequence(named or datasets.Value("string"))
        elif TASKS[task].labels:
            made[label] = datasets.ClassLabel(names=list(TASKS[task].labels))
        else:
            made[label] = datasets.Value("float64")
        return datasets.Features(made)

    @pytest.mark.parametrize("task", TASKS)
    def test_tasks(self, task, tmp_path, monkeypatch):
        self.save(tmp_path / "hub", task, monkeypatch)
        run(task, tmp_path / "out")
        assert_prepared(task, tmp_path / "out")

    def test_limit(self, tmp_path, monkeypatch):
        self.save(tmp_path / "hub", "conll2003", monkeypatch)
        run("conll2003", tmp_path / "out", "--limit", 2)
        counts = read(tmp_path / "out")[1]["counts"]
        assert counts == {"train": 2, "dev": 2, "test": 2}


class TestErrors:
    def test_other_columns(self, tmp_path):
        for file in ("train.tsv", "dev.tsv"):
            (tmp_path / file).write_text("question\tlabel\na\t1\n")
        output = run("qqp", tmp_path / "out", "--data-dir", tmp_path, ok=False)
        assert "has the columns 'question', 'label', but for qqp must have" in output
        assert "'question1', 'question2', 'is_duplicate', or 'sentence1'" in output

    def test_encoders(self, tmp_path):
        from transformers import AutoTokenizer

        write_layout("rte", tmp_path)
        write_layout("sst2", tmp_path / "SST-2")
        bert = save_bert(tmp_path / "bert")
        where = ("--data-dir", tmp_path, "--transformer", bert)
        run("rte", tmp_path / "out", *where)
        assert read(tmp_path / "out")[1]["transformer"] == str(bert)
        tokenizer = AutoTokenizer.from_pretrained(bert)
        tokenizer.sep_token = None
        tokenizer.save_pretrained(bert)
        assert "has no separator" in run("rte", tmp_path / "out", *where, ok=False)
        run("sst2", tmp_path / "single", *where)

    @pytest.mark.parametrize("there", [False, True])
    def test_all_files_or_none(self, tmp_path, monkeypatch, there):
        write_layout("rte", tmp_path)
        start = ("rte", tmp_path / "out", "--data-dir", tmp_path)
        if there:
            run(*start, "--limit", 2)
        before = {p.name: p.read_bytes() for p in (tmp_path / "out").glob("*")}
        write = Path.write_bytes

        def fail(path, data):
            if path.name == "test.spacy":
                raise OSError(28, "No space left on device", str(path))
            return write(path, data)

        monkeypatch.setattr(Path, "write_bytes", fail)
        assert "No space left" in run(*start, ok=False)
        assert before == {p.name: p.read_bytes() for p in (tmp_path / "out").glob("*")}
        assert bool(before) == there
        assert not list(tmp_path.glob(".*"))
