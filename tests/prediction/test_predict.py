"""Whole files through a pipeline: what is read, what is written, and what fails."""

import gzip
import json
import os
from datetime import datetime
from decimal import Decimal
from importlib.util import find_spec

import pyarrow as pa
import pytest
import spacy
from pyarrow import csv as arrow_csv
from pyarrow import parquet
from spacy.language import Language

from spacy_spanft.errors import SpanftError
from spacy_spanft.prediction import parts, predict
from spacy_spanft.prediction.parts import Source, read_parts
from spacy_spanft.prediction.run import Columns

from ..commands import run
from ..tiny import OWN_LISTENER
from .conftest import expected, read_lines, texts

ROWS = [{"id": str(n), "text": text} for n, text in enumerate(texts(11))]


def write(path, rows):
    """Write rows in the format of the file's ending."""
    table = pa.Table.from_pylist(rows)
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=3)
    elif path.suffix == ".csv":
        arrow_csv.write_csv(table, path)
    elif path.suffix == ".tsv":
        lines = ["\t".join(row) for row in ([*rows[0]], *(r.values() for r in rows))]
        path.write_text("\n".join(lines), "utf8")
    elif path.suffix == ".txt":
        path.write_text("".join(f"{row['text']}\r\n" for row in rows), "utf8")
    else:
        text = "".join(json.dumps(row) + "\n" for row in rows)
        is_packed = path.suffix == ".gz"
        path.write_bytes(gzip.compress(text.encode()) if is_packed else text.encode())
    return path


def read(path):
    return (
        parquet.read_table(path).to_pylist()
        if path.suffix == ".parquet"
        else read_lines(path)
    )


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
@pytest.mark.parametrize(
    "source", ["in.parquet", "in.jsonl.gz", "in.csv", "in.tsv", "in.txt"]
)
def test_all_formats(model, source, ending, tmp_path):
    path = write(tmp_path / source, ROWS)
    output = tmp_path / f"out.{ending}"
    found = predict(str(model), str(path), output)
    assert found == (11, 0, None)
    rows = [{"text": row["text"]} for row in ROWS] if source == "in.txt" else ROWS
    assert read(output) == expected(model, rows)
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(
        (source, output.name)
    )


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    "how",
    [
        {"n_process": 2},
        pytest.param(
            {"engine": "ray", "n_process": 2},
            marks=pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray"),
        ),
    ],
)
def test_elsewhere(model, how, tmp_path):
    path = write(tmp_path / "in.jsonl", ROWS)
    predict(str(model), str(path), tmp_path / "here.jsonl")
    predict(str(model), str(path), tmp_path / "there.jsonl", **how)
    here, there = (tmp_path / f"{name}.jsonl" for name in ("here", "there"))
    assert here.read_bytes() == there.read_bytes()


def test_over_an_encoder(bert, tmp_path):
    """With an encoder that keeps rows, strings are forgotten, and nothing changes."""
    nlp = spacy.blank("en")
    encoder = {"model": {"name": str(bert)}}
    nlp.add_pipe("spanft_encoder", "transformer", config=encoder)
    nlp.add_pipe("span_segmenter")
    head = {"@architectures": "spacy-spanft.ClsTextCat.v1", "tok2vec": OWN_LISTENER}
    config = {"model": {**head, "exclusive_classes": True}}
    textcat = nlp.add_pipe("textcat", config=config)
    for label in ("A", "B"):
        textcat.add_label(label)
    nlp.initialize()
    nlp.to_disk(tmp_path / "nlp")
    path = write(tmp_path / "in.jsonl", ROWS * 3)
    output = tmp_path / "out.jsonl"
    parts_before = parts.MOST_ROWS
    try:
        parts.MOST_ROWS = 5
        predict(str(tmp_path / "nlp"), str(path), output)
    finally:
        parts.MOST_ROWS = parts_before
    docs = list(spacy.load(tmp_path / "nlp").pipe(row["text"] for row in ROWS * 3))
    for row, doc in zip(read(output), docs, strict=True):
        assert row["cats"] == pytest.approx(doc.cats, abs=1e-5)


def test_strings_are_forgotten(model, tmp_path, monkeypatch):
    """A million texts have millions of words, which spaCy keeps for ever."""
    from spacy_spanft.prediction import task

    sizes = []
    predict_part = task.predict_part

    def counted(setup, *args):
        done = predict_part(setup, *args)
        sizes.append(len(task.pipeline_of(setup).vocab.strings))
        return done

    monkeypatch.setattr("spacy_spanft.prediction.run.predict_part", counted)
    monkeypatch.setattr(parts, "MOST_ROWS", 10)
    rows = [{"text": f"word{n} name{n}"} for n in range(60)]
    predict(str(model), str(write(tmp_path / "in.jsonl", rows)), tmp_path / "o.jsonl")
    assert len(sizes) == 6
    assert len(set(sizes)) == 1


def test_types_of_parquet_are_kept(model, tmp_path):
    table = pa.table(
        {
            "at": pa.array([datetime(2026, 1, 2), None], pa.timestamp("ns")),
            "price": [Decimal("1.50"), Decimal("2.25")],
            "text": ["New York", "a"],
            "kind": pa.array(["a", "b"]).dictionary_encode(),
            "more": [{"n": [1, 2]}, {"n": None}],
            "share": [float("nan"), 1.0],
        }
    )
    parquet.write_table(table, tmp_path / "in.parquet")
    predict(str(model), str(tmp_path / "in.parquet"), tmp_path / "out.parquet")
    found = parquet.read_table(tmp_path / "out.parquet")
    assert found.select(table.column_names).equals(table, check_metadata=False) or (
        found.select(table.column_names).schema == table.schema
        and str(found.to_pylist()[0]["share"]) == "nan"
    )
    predict(str(model), str(tmp_path / "in.parquet"), tmp_path / "out.jsonl")
    first = read_lines(tmp_path / "out.jsonl")[0]
    assert first["at"].startswith("2026-01-02T00:00:00")
    assert (first["price"], first["kind"], first["share"]) == ("1.50", "a", None)
    assert first["more"] == {"n": [1, 2]}


def test_bytes_are_not_in_json(model, tmp_path):
    parquet.write_table(
        pa.table({"image": [b"\x00"], "text": ["a"]}), tmp_path / "in.parquet"
    )
    with pytest.raises(SpanftError, match="type bytes, which JSON cannot hold"):
        predict(str(model), str(tmp_path / "in.parquet"), tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl.parts").exists()


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
@pytest.mark.parametrize(
    ("first", "reason"),
    [
        ('{"id": "0", "text": null}', "has None in column"),
        ('{"id": "0", "text": " "}', "has no text"),
        ('{"id": "0"}', "no column 'text'"),
        ("{oops", "not a JSON object"),
    ],
)
def test_rows_that_fail(model, ending, first, reason, tmp_path):
    lines = [json.dumps(row) for row in ROWS]
    lines[0] = first
    lines[2] = "{oops"
    lines[7] = '{"id": "7"}'
    lines[8] = '{"id": "8", "text": "a", "cats": 3}'
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(lines), "utf8")
    output = tmp_path / f"out.{ending}"
    found = predict(str(model), str(path), output)
    assert found == (11, 4, tmp_path / f"out.{ending}.failed.jsonl")
    right = [row for n, row in enumerate(ROWS) if n not in (0, 2, 7, 8)]
    assert read(output) == expected(model, right)
    failures = read_lines(found.failures)
    assert [one["place"] for one in failures] == [
        "Line 1",
        "Line 3",
        "Line 8",
        "Line 9",
    ]
    assert failures[0].get("cells") == (None if "oops" in first else json.loads(first))
    said = (reason, "not a JSON object", "no column 'text'", "--prefix")
    for one, words in zip(failures, said, strict=True):
        assert words in one["reason"]
    assert not failures[0]["reason"].startswith("[")
    # Those of an output that is written over are none of the new one's.
    predict(str(model), str(write(path, ROWS)), output, force=True)
    assert not found.failures.exists()


@Language.component("spanft_test_refuses")
def refuse(doc):
    if "refuse" in doc.text:
        raise RuntimeError("this one")
    return doc


@pytest.mark.usefixtures("small_parts")
def test_texts_that_a_component_refuses(model, tmp_path):
    nlp = spacy.load(model)
    nlp.add_pipe("spanft_test_refuses")
    nlp.to_disk(tmp_path / "nlp")
    rows = [{"text": "refuse" if n in (0, 1, 6) else "a"} for n in range(9)]
    path = write(tmp_path / "in.jsonl", rows)
    found = predict(str(tmp_path / "nlp"), str(path), tmp_path / "out.jsonl")
    assert (found.n_rows, found.n_failures) == (9, 3)
    failures = read_lines(found.failures)
    assert [one["place"] for one in failures] == ["Line 1", "Line 2", "Line 7"]
    assert all(one["reason"] == "RuntimeError: this one" for one in failures)
    write(path, rows[:2])
    with pytest.raises(SpanftError, match=r"None of the first .* Line 1: RuntimeError"):
        predict(str(tmp_path / "nlp"), str(path), tmp_path / "none.jsonl")


def test_texts_that_are_too_long(model, tmp_path):
    rows = [{"text": "a"}, {"text": "a" * 1_000_001}]
    path = write(tmp_path / "in.jsonl", rows)
    found = predict(str(model), str(path), tmp_path / "out.jsonl")
    assert found.n_failures == 1
    assert "1,000,001" in read_lines(found.failures)[0]["reason"]
    write(path, rows[1:])
    with pytest.raises(SpanftError, match=r"Line 1.* 1,000,001 characters"):
        predict(str(model), str(path), tmp_path / "none.jsonl")


def test_columns_that_are_there(model, tmp_path):
    rows = [{"text": "New York", "label": "bad"}]
    path = str(write(tmp_path / "in.csv", rows))
    with pytest.raises(
        SpanftError, match=r"columns are already in .*: 'label'.*--prefix"
    ):
        predict(str(model), path, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl.parts").exists()
    predict(str(model), path, tmp_path / "out.jsonl", prefix="p_")
    names = ["text", "label", "p_label", "p_cats", "p_ents", "p_spans"]
    assert list(read_lines(tmp_path / "out.jsonl")[0]) == names


def test_columns_of_other_types(model, tmp_path, monkeypatch):
    """In a Parquet file each column has one type; widened where that loses nothing."""
    monkeypatch.setattr(parts, "MOST_ROWS", 1)
    rows = [{"text": "a", "n": 1}, {"text": "b", "n": 1.5, "m": "x"}, {"text": "c"}]
    path = write_lines(tmp_path / "in.jsonl", rows)
    predict(str(model), path, tmp_path / "out.parquet")
    found = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [(row["n"], row["m"]) for row in found] == [
        (1.0, None),
        (1.5, "x"),
        (None, None),
    ]
    write_lines(tmp_path / "in.jsonl", [*rows, {"text": "d", "n": "five"}])
    monkeypatch.setattr(
        "spacy_spanft.prediction.run.predict_part", None
    )  # nothing is predicted before
    with pytest.raises(SpanftError, match=r"one type.*\.jsonl"):
        predict(str(model), path, tmp_path / "other.parquet")
    assert not (tmp_path / "other.parquet.parts").exists()


def test_types_of_rows_that_fail_do_not_count(model, tmp_path):
    rows = [{"text": "a", "n": 1}, {"text": " ", "n": "one"}]
    path = write_lines(tmp_path / "in.jsonl", rows)
    found = predict(str(model), path, tmp_path / "out.parquet")
    assert (found.n_rows, found.n_failures) == (2, 1)


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf8")
    return str(path)


def test_pairs(tmp_path):
    tokenizer = {"@tokenizers": "spacy-spanft.PairTokenizer.v1"}
    nlp = spacy.blank("en", config={"nlp": {"tokenizer": tokenizer}})
    textcat = nlp.add_pipe("textcat_multilabel")
    textcat.add_label("same")
    nlp.initialize()
    nlp.to_disk(tmp_path / "nlp")
    path = write(tmp_path / "in.csv", [{"a": "one text", "b": "another"}])
    how = {"text": "a", "text_pair": "b"}
    predict(str(tmp_path / "nlp"), str(path), tmp_path / "out.jsonl", **how)
    from spacy_spanft import join_pair

    cats = nlp(join_pair("one text", "another")).cats
    row = {"a": "one text", "b": "another", "cats": pytest.approx(cats)}
    assert read_lines(tmp_path / "out.jsonl") == [row]  # no one label is the right one
    for other, message in (
        ({"text": "a"}, r"for pairs.*--text-pair\."),
        ({**how, "separator": "|"}, r"--separator is '\|', but must be .*'\[SEP\]'"),
    ):
        with pytest.raises(SpanftError, match=message):
            predict(str(tmp_path / "nlp"), str(path), tmp_path / "o.jsonl", **other)
    spacy.blank("en").to_disk(tmp_path / "single")
    with pytest.raises(SpanftError, match="for single texts"):
        predict(str(tmp_path / "single"), str(path), tmp_path / "o.jsonl", **how)
    write(path, [{"a": " ", "b": ""}, {"a": "one text", "b": ""}])
    found = predict(str(tmp_path / "nlp"), str(path), tmp_path / "o.jsonl", **how)
    assert (found.n_rows, found.n_failures) == (2, 1)


def test_parts_of_long_texts(tmp_path):
    rows = [{"text": "a" * 3_000_000}] * 4
    path = write_lines(tmp_path / "in.jsonl", rows)
    columns = Columns("text", None, None, None, None, "[SEP]", "error")
    found = list(read_parts(Source(path, "jsonl", columns)))
    assert [(part.number, len(part.rows)) for part in found] == [(0, 2), (1, 2)]
    write(tmp_path / "in.parquet", rows * 10)
    found = list(read_parts(Source(str(tmp_path / "in.parquet"), "parquet", columns)))
    assert sum(len(part.rows) for part in found) == 40
    assert len(found) > 1
    assert found[-1].rows[-1].place == "Row 40"


@pytest.mark.parametrize(
    ("source", "data", "how", "message"),
    [
        ("no.jsonl", None, {}, "There is no file"),
        (".", None, {}, "is a folder"),
        ("in.data", "a", {}, "--format"),
        ("in.data", "a", {"format": "xml"}, "format is 'xml'"),
        ("in.jsonl", "", {}, "no rows"),
        ("in.jsonl", '[{"text": "a"}]', {}, "not a JSON object: it is a list"),
        ("in.parquet", "no Parquet", {}, "cannot be read as a Parquet file"),
        ("in.csv", "id,text\n", {}, "no rows"),
        (
            "in.csv",
            "id,words\n1,a\n",
            {},
            r"^\[SF\d+\] There is no column 'text'.*--text",
        ),
        (
            "in.jsonl",
            '{"a": 1}\n{"b": 2}',
            {},
            "^.{7} There is no column 'text'.*line 1",
        ),
        ("in.txt", "a\n", {"code": "no.py"}, "There is no file 'no.py'"),
        ("in.txt", "a\n", {"separator": "|"}, "--text-pair"),
        ("in.txt", "a\n", {"n_process": 0}, "n_workers is 0"),
        ("in.txt", "a\n", {"engine": "spark"}, "engine is 'spark'"),
        ("in.txt", "a\n", {"model": "no_such_pipeline"}, "no_such_pipeline"),
        ("in.txt", "a\n", {"output": "out.csv"}, "must end in .parquet or .jsonl"),
        ("in.txt", "a\n", {"output": "in.txt/out.jsonl"}, "is a file"),
        ("in.jsonl", '{"text": "a"}', {"output": "in.jsonl"}, "both read and written"),
        ("in.txt", "a\n", {"output": "there.jsonl"}, "already exists.*--force"),
    ],
)
def test_wrong_inputs(model, source, data, how, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.jsonl").touch()
    if data is not None:
        (tmp_path / source).write_text(data, "utf8")
    before = sorted(tmp_path.iterdir())
    given = {"model": str(model), "output": "out.jsonl", **how}
    with pytest.raises(SpanftError, match=message):
        predict(given.pop("model"), source, given.pop("output"), **given)
    assert sorted(tmp_path.iterdir()) == before


def test_a_pipeline_that_predicts_nothing(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "nlp")
    (tmp_path / "in.txt").write_text("a\n")
    with pytest.raises(
        SpanftError, match=r"no categories, entities or spans.*sentencizer"
    ):
        predict(str(tmp_path / "nlp"), str(tmp_path / "in.txt"), tmp_path / "o.jsonl")


def test_nothing_is_predicted_of_no_text(model, tmp_path):
    """Least of all that it has no entities, where nothing looks for any."""
    nlp = spacy.load(model, enable=["textcat"])
    nlp.to_disk(tmp_path / "nlp")
    (tmp_path / "in.txt").write_text("\n \nlast\n", "utf8")
    output = tmp_path / "out.jsonl"
    found = predict(str(tmp_path / "nlp"), str(tmp_path / "in.txt"), output)
    assert found == (3, 2, tmp_path / "out.jsonl.failed.jsonl")
    assert [list(row) for row in read_lines(output)] == [["text", "label", "cats"]]
    said = ["Line 1 of", "Line 2 of"]
    for failure, words in zip(read_lines(found.failures), said, strict=True):
        assert failure["reason"].startswith(words)


@pytest.mark.parametrize("value", [{"meta": {}}, {"id": "\ud800"}])
def test_what_parquet_cannot_hold(value, model, tmp_path):
    path = write_lines(tmp_path / "in.jsonl", [{"text": "a", **value}])
    with pytest.raises(SpanftError, match=r"cannot be written as Parquet.*\.jsonl"):
        predict(str(model), path, tmp_path / "out.parquet")
    predict(str(model), path, tmp_path / "out.jsonl")


def test_files_of_others_stay(model, tmp_path):
    """The list of failures has a name that somebody may have given to something."""
    path = write_lines(tmp_path / "in.jsonl", [{"text": "a"}])
    kept = tmp_path / "out.jsonl.failed.jsonl"
    kept.write_text('{"text": "precious"}\n')
    for source in (path, str(kept)):
        with pytest.raises(SpanftError, match=r"failed\.jsonl"):
            predict(str(model), source, tmp_path / "out.jsonl")
    with pytest.raises(SpanftError, match="both read and written"):
        predict(str(model), str(kept), tmp_path / "out.jsonl", force=True)
    assert kept.read_text() == '{"text": "precious"}\n'
    assert sorted(one.name for one in tmp_path.iterdir()) == ["in.jsonl", kept.name]


def test_a_pipe_is_no_file(model, tmp_path):
    os.mkfifo(tmp_path / "in.jsonl")
    with pytest.raises(SpanftError, match="is a pipe or a device, not a file"):
        predict(str(model), str(tmp_path / "in.jsonl"), tmp_path / "out.jsonl")


def test_command(model, tmp_path):
    (tmp_path / "in.txt").write_text("New York\nlast", "utf8")
    done = run("spanft", "predict", model, "in.txt", "out.jsonl", cwd=tmp_path)
    assert "Wrote the predictions of 2 rows to out.jsonl" in done.stderr
    rows = [{"text": text} for text in ("New York", "last")]
    assert read_lines(tmp_path / "out.jsonl") == expected(model, rows)
    args = ("spanft", "predict", model, "in.txt", "out.jsonl")
    assert "--force" in run(*args, cwd=tmp_path, ok=False).stderr
    run(*args, "-F", "-q", cwd=tmp_path)
    (tmp_path / "in.jsonl").write_text('{"text": "a"}\n{}\n', "utf8")
    done = run("spanft", "predict", model, "in.jsonl", "o.parquet", cwd=tmp_path)
    assert (
        "Without a prediction: 1 of 2 rows. See o.parquet.failed.jsonl" in done.stderr
    )
