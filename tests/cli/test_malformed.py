"""Files with faults at random: one short line says what is wrong, or all is read right.

What is right is told by readers of a few lines below, which know no faults.
"""

import csv
import io
import json
import random
import re
import warnings

import pytest

from spacy_spanft.errors import SpanftError
from spacy_spanft.training.readers.classification import table_corpus
from spacy_spanft.training.readers.entities import conll_corpus

N_EACH = 60
ROWS = [
    *(("text", "label"), ("A good one, it is.", "x"), ('He said "no" to that', "y")),
    *(("Straße 12", "x"), ("日本 is far", "z")),
]
OBJECTS = [dict(zip(ROWS[0], row, strict=True)) for row in ROWS[1:]]
CSV = io.StringIO()
csv.writer(CSV).writerows(ROWS)
FILES = {
    "csv": CSV.getvalue(),
    "tsv": "".join("\t".join(row) + "\n" for row in ROWS),
    "jsonl": "".join(json.dumps(x, ensure_ascii=False) + "\n" for x in OBJECTS),
    "conll": "New B-LOC\nYork I-LOC\n\n-DOCSTART- O\n\n"
    "Éva B-PER\nlikes O\nBonn B-LOC\n",
}
BYTES = [
    *(b"\0", b"\xff", b"\r", b"\n", b"\t", b",", b'"', b"}", b"\\", b"#", b":"),
    *(b"[" * 1500, b"\xef\xbb\xbf", b"\xff\xfe", b" ", b"B-"),
]
FIELDS = [
    *("", " ", "null", "NaN", "9" * 400, "\\ud800", "x" * 2000, '"', '""', "\r"),
    *("text", "label", "-", "o", "b-per", "I-", "#", "-DOCSTART-", "a\tb", "a,b"),
    *('["x", "y"]', '{"text": "a"}', "[" * 1500, "\ufeff"),
]


def mutate(data, chance):
    """Make one to three faults: of bytes, of fields, or of lines."""
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(data) + 1)
        fields = re.split(rb"([\t,: \n\"]+)", data)
        kind = chance.choice(["insert", "delete", "field", "repeat", "lines", "ends"])
        if kind == "insert":
            data = data[:at] + chance.choice(BYTES) + data[at:]
        elif kind == "delete":
            data = data[:at] + data[at + chance.choice([1, 1, 5, 50]) :]
        elif kind in ("field", "repeat"):
            new = chance.choice(FIELDS).encode()
            new = new if kind == "field" else chance.choice(fields)
            fields.insert(chance.randrange(len(fields)), new)
            data = b"".join(fields)
        elif kind == "lines":
            lines = data.split(b"\n")
            chance.shuffle(lines)
            data = b"\n".join(lines[: chance.choice([1, 3, 99])])
        else:
            data = data.replace(b"\n", chance.choice([b"\r\n", b"\r", b"\n\n"]))
    return data


def simply_read(data, format):
    """Read what has no fault: the texts with their labels, or the tokens and tags."""
    text = data.decode("utf-8-sig").removeprefix("\ufeff")
    if format == "conll":
        lines = [line.strip() for line in re.split("[\r\n]", text) if line.strip()]
        lines = [line for line in lines if not line.startswith("-DOCSTART-")]
        return [line.split("\t" if "\t" in line else " ")[0].strip() for line in lines]
    # Lone carriage returns end lines only where nothing else does.
    ends = re.compile("\r*\n" if "\n" in text.rstrip("\n") else "\r")
    lines = [line.rstrip("\r\n") for line in ends.split(text)]
    lines = [line for line in lines if line]
    if format == "jsonl":
        rows = [json.loads(line) for line in lines if line.strip()]
    else:
        names, *cells = (line.split("\t") for line in lines)
        if format == "csv":
            names, *cells = filter(None, csv.reader(io.StringIO(text, newline="")))
        names = [name.strip() for name in names]
        rows = [dict(zip(names, row, strict=True)) for row in cells]
    texts = []
    for row in rows:
        labels = row["label"] if isinstance(row["label"], list) else [row["label"]]
        texts.append((row["text"], {str(label).strip() for label in labels}))
    return texts


def read(path, format, nlp):
    if format == "conll":
        corpus = conll_corpus(path)
        return [token.text for example in corpus(nlp) for token in example.reference]
    docs = [example.reference for example in table_corpus(path)(nlp)]
    return [(doc.text, {n for n, v in doc.cats.items() if v}) for doc in docs]


@pytest.mark.parametrize("format", FILES)
def test_faults_at_random(nlp, tmp_path, format):
    chance = random.Random(format)
    path = tmp_path / f"x.{format}"
    whole = FILES[format].encode()
    path.write_bytes(whole)
    assert read(path, format, nlp) == simply_read(whole, format)
    n_refused = 0
    for _ in range(N_EACH):
        data = mutate(whole, chance)
        path.write_bytes(data)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rows = read(path, format, nlp)
        except SpanftError as error:
            n_refused += 1
            message = str(error)
            assert len(message.splitlines()) == 1, (data, message)
            assert len(message) < 1000, (data[:1000], message)
            names_it = re.search(r"[Ll]ine \d|no rows|twice", message)
            assert names_it, (data[:1000], message)
        else:
            assert rows == simply_read(data, format), data
    # Neither is everything refused, nor everything taken.
    assert 0.1 < n_refused / N_EACH < 0.95
