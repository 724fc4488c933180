"""The benchmarks measure what they can where a peer is missing, after a warning."""

import re
from itertools import takewhile

from benchmarks import encoder, harness


def rows_of(output, what):
    lines = [re.split(r"\s{2,}", line.strip()) for line in output.split("\n")]
    start = [line[0] for line in lines].index(what)
    rows = takewhile(lambda line: line != [""], lines[start + 2 :])
    return {name: cells for name, *cells in rows}


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
