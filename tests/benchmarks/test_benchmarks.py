"""The benchmarks measure what they can where a peer is missing, after a warning."""

import re
import sys
import time
import weakref
from itertools import takewhile

import nltk
import pytest

from benchmarks import counting, encoder, gpu, harness, head, raw_text, segmenting
from spacy_spanft.ngrams import readers
from spacy_spanft.segmenters import nltk_chunk

LINES = "the new york times of the united states wrote it in new york city .\n"


@pytest.fixture
def here(monkeypatch):
    """Run contestants in this process: starting one takes seconds."""

    def run(function, *args):
        begin = time.perf_counter()
        try:
            result = function(*args)
        except MemoryError:
            return None
        return harness.Run(time.perf_counter() - begin, 1.0, result)

    monkeypatch.setattr(harness, "run_alone", run)


@pytest.fixture
def text(tmp_path):
    (tmp_path / "text.txt").write_text(LINES * 12)
    return tmp_path / "text.txt"


def rows_of(output, what):
    """Return the cells of a printed table, by row title."""
    lines = [re.split(r"\s{2,}", line.strip()) for line in output.split("\n")]
    start = [line[0] for line in lines].index(what)
    rows = takewhile(lambda line: line != [""], lines[start + 2 :])
    return {name: cells for name, *cells in rows}


def test_counting_without_polars(here, monkeypatch, text, capsys):
    monkeypatch.setitem(sys.modules, "polars", None)
    counting.main(text, n_tokens=100, repeat=2, identical=True)
    output = capsys.readouterr().out
    assert output.startswith("⚠ polars_group_by is not measured: import of polars")
    rows = rows_of(output, "time")
    assert rows["polars_group_by"] == []
    assert len(rows["ours"]) == len(rows["nltk_everygrams"]) == 4
    assert rows_of(output, "memory")["ours"] == [
        "1 MB",
        "1 MB-1 MB",
        "1.00",
        "1.00-1.00",
    ]
    assert "the same as ours: True" in output
    assert "polars_group_by:" not in output


def test_segmenting_without_nltks_data(monkeypatch, dictionary, text, capsys):
    # The PhraseMatcher of the default dictionary takes half a minute.
    monkeypatch.setattr(readers, "_read_default", lambda lang: dictionary)
    for name in ("load_entity_chunker", "load_phrase_chunker", "load_tagger"):
        getattr(nltk_chunk, name).cache_clear()
    monkeypatch.setattr(nltk.data, "path", [])
    segmenting.main(text, length=10, repeat=2, nltk_docs=3)
    output = capsys.readouterr().out
    first, second = output.split("\n")[:2]
    assert first.startswith("⚠ NLTK, entities is not measured: NLTK's data is missing")
    assert second.startswith("⚠ NLTK, phrases is not measured: NLTK's data is missing")
    assert "all write the same spans: True" in output
    rows = rows_of(output, "speed")
    assert rows["NLTK, entities"] == rows["NLTK, phrases"] == []
    assert rows["ours"][0].endswith("M tokens/s")
    assert rows["ours"][2:] == ["1.00", "1.00-1.00"]


def test_raw_text_without_psutil(monkeypatch, text, capsys):
    monkeypatch.setitem(sys.modules, "psutil", None)
    raw_text.main(text, n_process=1)
    output = capsys.readouterr().out
    assert output.startswith("⚠ memory is not measured: import of psutil")
    assert [len(row) for row in rows_of(output, "time").values()] == [4, 4]


def test_the_head(here, capsys):
    head.main(n_docs=2, n_rows=4, width=4, repeat=1)
    rows = rows_of(capsys.readouterr().out, "step")
    assert [*rows] == ["ours", "padded", "padded by loops"]
    head.main(n_docs=2, n_rows=4, width=4, repeat=1, memory=True)
    assert rows_of(capsys.readouterr().out, "memory of a step")["ours"]


def test_a_contestant_that_fails_ends_nothing():
    assert harness.run_alone(time.sleep, "x") is None


def test_one_pipeline_is_on_the_gpu_at_a_time(monkeypatch):
    """Otherwise the memory of one would count for the next."""
    import torch

    class Pipeline:
        pipe_names = ("span_segmenter",)

        def __init__(self):
            self.itself = self
            made.append(weakref.ref(self))

        def update(self, examples, sgd, annotates):
            alive.append(sum(pipeline() is not None for pipeline in made))

    made, alive = [], []
    for name in ("synchronize", "reset_peak_memory_stats", "empty_cache"):
        monkeypatch.setattr(torch.cuda, name, lambda: None)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: 2**20)
    make = lambda *_, **settings: (Pipeline(), [], None)  # noqa: E731
    for name in ("save_bert", "make_texts"):
        monkeypatch.setattr(f"benchmarks.step.{name}", lambda *_, **size: [])
    monkeypatch.setattr("benchmarks.step.make_pipeline", make)
    rows = gpu.training_rows(1, 1, 2)
    assert [row[2] for row in rows] == ["1"] * len(made) == ["1"] * 4
    assert set(alive) == {1}


def test_the_encoder_against_a_plain_loop(bert, tmp_path, monkeypatch, capsys):
    """Without spacy-transformers, whose rows are then empty."""
    lines = [f"the film is {'very ' * (i % 7)}good\t{i % 2}" for i in range(80)]
    path = tmp_path / "train.tsv"
    path.write_text("sentence\tlabel\n" + "\n".join(lines) + "\n")
    monkeypatch.setattr(encoder, "needs", lambda name: harness.needs("nowhere"))
    encoder.main(path, bert, n_steps=1, n_predicted=10, n_turns=1)
    output = capsys.readouterr().out
    assert "⚠ textcat_spanft over spacy-transformers is not measured" in output
    rows = rows_of(output, "training step")
    over = "textcat_spanft over spacy-transformers"
    assert [*rows] == [encoder.PLAIN, "textcat_spanft", "textcat_baseline", over]
    assert rows[over] == []
    assert rows["textcat_spanft"][2] == "1.00"
    assert [*rows_of(output, "prediction")] == [*[*rows][:3], encoder.SORTED, over]
