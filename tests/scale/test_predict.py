"""Whole files through a pipeline: what is read, what is written, and what fails."""

import csv
import json
import os
import re
from datetime import datetime
from decimal import Decimal

import pyarrow as pa
import pytest
import spacy
from pyarrow import parquet
from spacy.language import Language

from spacy_spanft import join_pair
from spacy_spanft.errors import SpanftError
from spacy_spanft.scale import predict, prediction, row_files

from ..commands import run
from .conftest import expected, read_lines, texts, write

ROWS = [{"id": str(n), "text": text} for n, text in enumerate(texts(11))]


def read(path):
    is_parquet = path.suffix == ".parquet"
    return parquet.read_table(path).to_pylist() if is_parquet else read_lines(path)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    ("source", "ending"),
    [
        *(("in.parquet", "jsonl"), ("in.csv", "parquet")),
        *(("in.jsonl.gz", "jsonl"), ("in.txt", "jsonl")),
    ],
)
def test_rows_of_all_formats_keep_their_order_and_cells(
    model, source, ending, tmp_path
):
    path, output = write(tmp_path / source, ROWS), tmp_path / f"out.{ending}"
    assert predict(str(model), path, output) == (11, 0)
    rows = [{"text": row["text"]} for row in ROWS] if source == "in.txt" else ROWS
    assert read(output) == expected(model, rows)
    files = sorted(file.name for file in tmp_path.iterdir())
    assert files == sorted((source, output.name))


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    "engine", ["local", pytest.param("ray", marks=pytest.mark.slow)]
)
def test_other_processes_write_the_same_bytes(model, engine, tmp_path):
    if engine == "ray":
        pytest.importorskip("ray")
    path = write(tmp_path / "in.jsonl", ROWS)
    here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    predict(str(model), path, here)
    predict(str(model), path, there, engine=engine, n_process=2)
    assert here.read_bytes() == there.read_bytes()


def test_each_gpu_has_one_process(monkeypatch):
    monkeypatch.setattr(prediction, "annotate", process_of)
    with prediction._workers("local", "nlp", None, [3, 5], None) as annotated:
        processes = set(annotated([(0, [("a", "")])] * 4))
    assert sorted(gpu_id for gpu_id, _ in processes) == [3, 5]
    assert len({*dict(processes).values(), os.getpid()}) == 3


def process_of(model, code, gpu_id, batch):
    return gpu_id, os.getpid()


def test_the_vocabulary_does_not_grow(model, tmp_path, monkeypatch):
    """A million texts have millions of words, which spaCy would keep for ever."""
    annotate, sizes = prediction.annotate, []

    def watched(*args):
        results = annotate(*args)
        sizes.append(len(prediction.load_once(*args[:-1]).vocab.strings))
        return results

    monkeypatch.setattr(prediction, "annotate", watched)
    monkeypatch.setattr(row_files, "MOST_ROWS", 10)
    rows = [{"text": f"word{n} name{n}"} for n in range(60)]
    predict(str(model), write(tmp_path / "in.jsonl", rows), tmp_path / "o.jsonl")
    assert len(sizes) == 6
    assert len(set(sizes)) == 1


def test_types_of_parquet_are_kept(model, tmp_path):
    columns = {
        "at": pa.array([datetime(2026, 1, 2), None], pa.timestamp("ns")),
        "price": [Decimal("1.50"), Decimal("2.25")],
        "text": ["New York", "a"],
        "kind": pa.array(["a", "b"]).dictionary_encode(),
        "more": [{"n": [1, 2]}, {"n": None}],
        "share": [None, float("nan")],
    }
    table, path = pa.table(columns), str(tmp_path / "in.parquet")
    parquet.write_table(table, path)
    predict(str(model), path, tmp_path / "out.parquet")
    written = parquet.read_table(tmp_path / "out.parquet").select([*columns])
    assert written.schema == table.schema
    assert str(written.to_pylist()) == str(table.to_pylist())
    predict(str(model), path, tmp_path / "out.jsonl")
    first, second = read_lines(tmp_path / "out.jsonl")
    assert (first["at"], second["share"]) == ("2026-01-02 00:00:00", None)


@pytest.mark.usefixtures("small_parts")
def test_rows_without_a_prediction_have_the_reason(model, tmp_path):
    reasons = {
        '{"id": "0", "text": null}': "has None in column 'text'",
        '{"id": "1", "text": " "}': "has no text",
        '{"id": "2"}': "no column 'text' in line 6.*: 'id'",
        "{oops": "not a JSON object",
        "[1]": r"not a JSON object: it is \[1\]",
        '{"id": "8", "text": "a", "cats": 3}': "'cats' .*--prefix",
    }
    failing = dict(zip((0, 2, 5, 6, 7, 8), reasons, strict=True))
    lines = [failing.get(n, json.dumps(row)) for n, row in enumerate(ROWS)]
    path, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_text("\n".join(lines), "utf8")
    assert predict(str(model), str(path), output) == (11, 6)
    written = read(output)
    right = [row for n, row in enumerate(ROWS) if n not in failing]
    assert [row for row in written if "error" not in row] == expected(model, right)
    for number, pattern in zip(failing, reasons.values(), strict=True):
        assert re.search(pattern, written[number].pop("error"))


def test_columns_of_parquet_are_those_of_all_rows(model, tmp_path, monkeypatch):
    monkeypatch.setattr(row_files, "MOST_ROWS", 1)
    path = tmp_path / "in.csv"
    path.write_text("id,text\n1,New York\n2\n3,b,c\n", "utf8")
    assert predict(str(model), str(path), tmp_path / "out.parquet") == (3, 2)
    first, second, third = read(tmp_path / "out.parquet")
    assert (first["text"], first["error"]) == ("New York", None)
    assert (second["id"], second["text"], second["cats"]) == ("2", None, None)
    assert "has 1 cell," in second["error"]
    assert "has 3 cells," in third["error"]


def test_a_column_of_csv_has_its_name_once(model, tmp_path):
    rows = [{"text": "New York"}, {"text": "a film", "label": "mine", "cats": {"x": 1}}]
    path = write(tmp_path / "in.jsonl", rows)
    predict(str(model), path, tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="") as file:
        header, *cells = csv.reader(file)
    assert sorted(header) == sorted({*header})
    first, second = (dict(zip(header, row, strict=True)) for row in cells)
    assert second["cats"] == '{"x": 1}'
    cats = spacy.load(model)("New York").cats
    assert cats
    for label, score in cats.items():
        assert float(first[f"cats.{label}"]) == pytest.approx(score, abs=1e-5)


@Language.component("spanft_test_refuses")
def refuse(doc):
    if "refuse" in doc.text:
        raise RuntimeError("this one")
    return doc


@pytest.mark.usefixtures("small_parts")
def test_texts_that_a_component_refuses_fail_alone(model, tmp_path, monkeypatch):
    nlp = spacy.load(model, enable=["textcat"])
    nlp.add_pipe("spanft_test_refuses")
    nlp.to_disk(tmp_path / "nlp")
    rows = [{"text": "refuse" if n in (0, 1, 6) else "a"} for n in range(9)]
    rows[7] = {"text": "a" * 1_000_001}
    path = write(tmp_path / "in.jsonl", rows)
    assert predict(str(tmp_path / "nlp"), path, tmp_path / "out.jsonl") == (9, 4)
    written = read_lines(tmp_path / "out.jsonl")
    # A pipeline that looks for no entities does not say that there are none.
    assert [*written[2]] == ["text", "label", "cats"]
    errors = [row.get("error", "") for row in written]
    assert [n for n, error in enumerate(errors) if error] == [0, 1, 6, 7]
    assert errors[0] == errors[1] == errors[6] == "RuntimeError: this one"
    assert "1000001" in errors[7]
    write(tmp_path / "in.jsonl", rows[:2])
    with pytest.raises(SpanftError, match=r"None of the first 2 .*\. RuntimeError"):
        predict(str(tmp_path / "nlp"), path, tmp_path / "none.jsonl")
    write(tmp_path / "in.jsonl", [{"text": ""}, *rows[:2]])
    monkeypatch.setattr(row_files, "MOST_ROWS", 1)
    with pytest.raises(SpanftError, match=r"None of the first 2 .*\. RuntimeError"):
        predict(str(tmp_path / "nlp"), path, tmp_path / "none.jsonl")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(SpanftError, match=r"no categories, entities or spans"):
        predict(str(tmp_path / "blank"), path, tmp_path / "o.jsonl")


def test_pairs(tmp_path):
    tokenizer = {"@tokenizers": "spacy-spanft.PairTokenizer.v1"}
    nlp = spacy.blank("en", config={"nlp": {"tokenizer": tokenizer}})
    nlp.add_pipe("textcat_multilabel").add_label("same")
    nlp.initialize()
    nlp.to_disk(tmp_path / "nlp")
    spacy.blank("en").to_disk(tmp_path / "single")
    rows = [{"a": "one text", "b": "another"}, {"a": " ", "b": ""}, {"a": "a", "b": ""}]
    path, output = write(tmp_path / "in.csv", rows), tmp_path / "out.jsonl"
    pair = {"text": "a", "text_pair": "b"}
    assert predict(str(tmp_path / "nlp"), path, output, **pair) == (3, 1)
    cats = nlp(join_pair("one text", "another")).cats
    assert read_lines(output)[0] == {**rows[0], "cats": pytest.approx(cats)}
    for name, options, message in (
        ("nlp", {"text": "a"}, r"for pairs of texts.*--text-pair"),
        ("nlp", {**pair, "separator": "|"}, r"--separator \[SEP\]"),
        ("single", pair, "for single texts.*without --text-pair"),
    ):
        with pytest.raises(SpanftError, match=message):
            predict(str(tmp_path / name), path, output, force=True, **options)


@pytest.mark.parametrize(
    ("source", "data", "how", "message"),
    [
        ("no.jsonl", None, {}, "There is no file"),
        ("in.data", b"a", {}, "--format"),
        ("in.csv", b"id,words\n1,a\n", {}, "the text: 'id', 'words'. .*--text"),
        ("in.txt", b"a\n", {"output": "out.tsv"}, "must end in .csv, .jsonl or"),
        ("in.txt", b"a\n", {"output": "there.jsonl"}, "already exists.*--force"),
        ("in.jsonl", b'{"text": "a"}', {"output": "in.jsonl"}, "both read and written"),
        ("in.txt", b"a\n", {"output": "MODEL/o.csv"}, "is in the pipeline's folder"),
    ],
)
def test_wrong_inputs_leave_nothing_behind(
    model, source, data, how, message, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.jsonl").write_text("precious")
    if data is not None:
        (tmp_path / source).write_bytes(data)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    settings = {"output": "out.jsonl", **how}
    output = settings.pop("output").replace("MODEL", str(model))
    with pytest.raises(SpanftError, match=message):
        predict(str(model), source, output, **settings)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_command(model, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "New York", "label": "bad"}\n{}\n')
    args = ("spanft", "predict", model, "in.jsonl", "out.jsonl")
    done = run(*args, "--prefix", "p_", cwd=tmp_path)
    assert "1 of 2 rows. See column p_error" in done.stderr
    names = ["text", "label", "p_label", "p_cats", "p_ents", "p_spans"]
    assert [*read_lines(tmp_path / "out.jsonl")[0]] == names
