"""Whole files through a pipeline: what is read, what is written, and what fails."""

import gzip
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
from ..interpreter import CONTEXT
from .conftest import expected, read_lines, texts, write_lines

ROWS = [{"id": str(n), "text": text} for n, text in enumerate(texts(11))]


def write(path, rows):
    if path.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pylist(rows), path, row_group_size=3)
        return str(path)
    if path.suffix == ".txt":
        text = "".join(f"{row['text']}\r\n" for row in rows)
    elif path.suffix in (".csv", ".tsv"):
        separator = "," if path.suffix == ".csv" else "\t"
        text = "\n".join(map(separator.join, [rows[0], *(r.values() for r in rows)]))
    else:
        text = "".join(json.dumps(row) + "\n" for row in rows)
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


def read(path):
    is_parquet = path.suffix == ".parquet"
    return parquet.read_table(path).to_pylist() if is_parquet else read_lines(path)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    ("source", "ending"),
    [
        *(("in.parquet", "jsonl"), ("in.parquet", "parquet"), ("in.csv", "parquet")),
        *(("in.jsonl.gz", "jsonl"), ("in.tsv", "jsonl"), ("in.txt", "jsonl")),
    ],
)
def test_rows_of_all_formats_keep_their_order_and_cells(
    model, source, ending, tmp_path
):
    path, output = write(tmp_path / source, ROWS), tmp_path / f"out.{ending}"
    assert predict(str(model), path, output) == (11, 0, None)
    rows = [{"text": row["text"]} for row in ROWS] if source == "in.txt" else ROWS
    assert read(output) == expected(model, rows)
    files = sorted(file.name for file in tmp_path.iterdir())
    assert files == sorted((source, output.name))


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    "engine", ["local", pytest.param("ray", marks=pytest.mark.slow)]
)
def test_other_processes_write_the_same_bytes(model, engine, tmp_path, monkeypatch):
    if engine == "ray":
        pytest.importorskip("ray")
    monkeypatch.setattr(prediction, "get_context", lambda method: CONTEXT)
    path = write_lines(tmp_path / "in.jsonl", ROWS)
    here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    predict(str(model), path, here)
    predict(str(model), path, there, engine=engine, n_process=2)
    assert here.read_bytes() == there.read_bytes()


def test_each_gpu_has_one_process(monkeypatch):
    monkeypatch.setattr(prediction, "get_context", lambda method: CONTEXT)
    monkeypatch.setattr(prediction, "annotate", process_of)
    pipelines = [prediction.Pipeline("nlp", None, gpu_id) for gpu_id in (3, 5)]
    with prediction._workers("local", pipelines, None) as annotated:
        processes = set(annotated([["a"]] * 4))
    assert sorted(gpu_id for gpu_id, _ in processes) == [3, 5]
    assert len({*dict(processes).values(), os.getpid()}) == 3


def process_of(pipeline, texts):
    return pipeline.gpu_id, os.getpid()


def test_an_encoder_predicts_the_same_in_parts(trained, tmp_path, monkeypatch):
    monkeypatch.setattr(row_files, "MOST_ROWS", 5)
    model, output = str(trained("textcat")), tmp_path / "out.jsonl"
    predict(model, write_lines(tmp_path / "in.jsonl", ROWS * 3), output)
    docs = spacy.load(model).pipe(row["text"] for row in ROWS * 3)
    for row, doc in zip(read(output), docs, strict=True):
        assert row["cats"] == pytest.approx(doc.cats, abs=1e-5)


def test_the_vocabulary_does_not_grow(model, tmp_path, monkeypatch):
    """A million texts have millions of words, which spaCy would keep for ever."""
    annotate, sizes = prediction.annotate, []

    def watched(pipeline, batch):
        results = annotate(pipeline, batch)
        sizes.append(len(prediction.load_once(pipeline).vocab.strings))
        return results

    monkeypatch.setattr(prediction, "annotate", watched)
    monkeypatch.setattr(row_files, "MOST_ROWS", 10)
    rows = [{"text": f"word{n} name{n}"} for n in range(60)]
    predict(str(model), write_lines(tmp_path / "in.jsonl", rows), tmp_path / "o.jsonl")
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
    assert (first["at"], first["price"]) == ("2026-01-02 00:00:00", "1.50")
    assert (first["kind"], first["more"]) == ("a", {"n": [1, 2]})
    assert second["share"] is None


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_rows_that_fail_go_to_a_side_file(model, ending, tmp_path):
    reasons = {
        '{"id": "0", "text": null}': "has None in column 'text'",
        '{"id": "1", "text": " "}': "has no text",
        '{"id": "2"}': "has nothing in column 'text'.*: 'id'",
        "{oops": "not a JSON object",
        "[1]": r"not a JSON object: \[1\]",
        '{"id": "8", "text": "a", "cats": 3}': "--prefix",
    }
    failing = dict(zip((0, 2, 5, 6, 7, 8), reasons, strict=True))
    lines = [failing.get(n, json.dumps(row)) for n, row in enumerate(ROWS)]
    path, output = tmp_path / "in.jsonl", tmp_path / f"out.{ending}"
    path.write_text("\n".join(lines), "utf8")
    predicted = predict(str(model), str(path), output)
    assert predicted == (11, 6, tmp_path / f"out.{ending}.failed.jsonl")
    right = [row for n, row in enumerate(ROWS) if n not in failing]
    assert read(output) == expected(model, right)
    failures = read_lines(predicted.failures)
    assert [row["row"] for row in failures] == [n + 1 for n in failing]
    for row, pattern in zip(failures, reasons.values(), strict=True):
        assert re.search(pattern, row["reason"])
    assert failures[-1]["cells"] == {"id": "8", "text": "a", "cats": 3}
    # Failures of an output that is overwritten are none of the new one's.
    predict(str(model), write_lines(path, ROWS), output, force=True)
    assert not predicted.failures.exists()


@Language.component("spanft_test_refuses")
def refuse(doc):
    if "refuse" in doc.text:
        raise RuntimeError("this one")
    return doc


@pytest.mark.usefixtures("small_parts")
def test_texts_that_a_component_refuses_fail_alone(model, tmp_path):
    nlp = spacy.load(model, enable=["textcat"])
    nlp.add_pipe("spanft_test_refuses")
    nlp.to_disk(tmp_path / "nlp")
    rows = [{"text": "refuse" if n in (0, 1, 6) else "a"} for n in range(9)]
    rows[7] = {"text": "a" * 1_000_001}
    path = write_lines(tmp_path / "in.jsonl", rows)
    predicted = predict(str(tmp_path / "nlp"), path, tmp_path / "out.jsonl")
    assert (predicted.n_rows, predicted.n_failures) == (9, 4)
    # A pipeline that looks for no entities does not say that there are none.
    assert [*read_lines(tmp_path / "out.jsonl")[0]] == ["text", "label", "cats"]
    failures = read_lines(predicted.failures)
    assert [row["row"] for row in failures] == [1, 2, 7, 8]
    reasons = [row["reason"] for row in failures]
    assert reasons[:3] == ["RuntimeError: this one"] * 3
    assert "1000001" in reasons[3]
    write_lines(tmp_path / "in.jsonl", rows[:2])
    with pytest.raises(SpanftError, match=r"None of the first 2 .* 1: RuntimeError"):
        predict(str(tmp_path / "nlp"), path, tmp_path / "none.jsonl")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(SpanftError, match=r"no categories, entities or spans"):
        predict(str(tmp_path / "blank"), path, tmp_path / "o.jsonl")


def test_types_of_json_are_widened_or_refused_before_predicting(
    model, tmp_path, monkeypatch
):
    monkeypatch.setattr(row_files, "MOST_ROWS", 1)
    rows = [{"text": "a", "n": 1}, {"text": "b", "n": 1.5, "m": "x"}, {"text": "c"}]
    rows.append({"text": " ", "n": "one"})  # which fails, and so does not count
    path = write_lines(tmp_path / "in.jsonl", rows)
    predict(str(model), path, tmp_path / "out.parquet")
    written = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    cells = [(row["n"], row["m"]) for row in written]
    assert cells == [(1.0, None), (1.5, "x"), (None, None)]
    monkeypatch.setattr(prediction, "annotate", None)
    for value in ({"n": "five"}, {"meta": {}}, {"id": "\ud800"}, {"n": 2**70}):
        write_lines(tmp_path / "in.jsonl", [*rows, {"text": "d", **value}])
        with pytest.raises(SpanftError, match=r"written as Parquet.*\.jsonl"):
            predict(str(model), path, tmp_path / "other.parquet")
    assert not (tmp_path / "other.parquet.parts").exists()


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
    predicted = predict(str(tmp_path / "nlp"), path, output, **pair)
    assert (predicted.n_rows, predicted.n_failures) == (3, 1)
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
        ("in.data", "a", {}, "--format"),
        ("in.jsonl", "", {}, "no rows"),
        ("in.parquet", "no Parquet", {}, "cannot be read as parquet"),
        ("in.csv", "id,words\n1,a\n", {}, "column 'text'.* 'id', 'words'"),
        ("in.csv", 'id,text\n1,"a\n', {}, "cannot be read as csv"),
        ("in.csv", "id,text\n1,a,b\n", {}, "more cells"),
        ("in.txt", b"\xff\n", {}, "--errors replace"),
        ("in.txt", "a\n", {"code": "no.py"}, "There is no file 'no.py'"),
        ("in.txt", "a\n", {"output": "out.csv"}, "must end in .parquet or .jsonl"),
        ("in.txt", "a\n", {"output": "in.txt/out.jsonl"}, "is a file"),
        ("in.jsonl", '{"text": "a"}', {"output": "in.jsonl"}, "both read and written"),
        ("in.txt", "a\n", {"output": "there.jsonl"}, "already exists.*--force"),
    ],
)
def test_wrong_inputs_leave_nothing_behind(
    model, source, data, how, message, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("there.jsonl", "there.jsonl.failed.jsonl"):
        (tmp_path / name).write_text("precious")
    if data is not None:
        data = data if isinstance(data, bytes) else data.encode()
        (tmp_path / source).write_bytes(data)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    settings = {"model": str(model), "output": "out.jsonl", **how}
    with pytest.raises(SpanftError, match=message):
        predict(settings.pop("model"), source, settings.pop("output"), **settings)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_command(model, tmp_path):
    lines = '{"text": "New York", "label": "bad"}\n{}\n'
    (tmp_path / "in.jsonl").write_text(lines, "utf8")
    args = ("spanft", "predict", model, "in.jsonl", "out.jsonl")
    done = run(*args, cwd=tmp_path, ok=False)
    assert re.search(r"columns of these\s+names: 'label'.*--prefix", done.stderr, re.S)
    done = run(*args, "--prefix", "p_", cwd=tmp_path)
    assert "1 of 2 rows. See out.jsonl.failed.jsonl" in done.stderr
    names = ["text", "label", "p_label", "p_cats", "p_ents", "p_spans"]
    assert [*read_lines(tmp_path / "out.jsonl")[0]] == names
    assert "--gpu-id" in run(*args, "-F", "-g", "x", cwd=tmp_path, ok=False).stderr
    (tmp_path / "in.jsonl").write_text('{"text": "a"}', "utf8")
    assert run(*args, "-F", "-q", cwd=tmp_path).stderr == ""
