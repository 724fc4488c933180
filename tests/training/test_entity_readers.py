"""Entities from CoNLL's columns, datasets of tags, and annotation tools' exports."""

import gzip
import json

import datasets
import pytest
import spacy

from spacy_spanft.errors import SpanftError
from spacy_spanft.training.readers.entities import (
    conll_corpus,
    has_offsets,
    ner_dataset_corpus,
)

WORDS = ["U.N.", "official", "Ekeus", "Smith", "Jones", "Bonn", None, "Bonn"]
IOB1 = ["I-ORG", "O", "I-PER", "B-PER", "I-PER", "I-LOC", None, "I-LOC"]
IOB2 = ["B-ORG", "O", "B-PER", "B-PER", "I-PER", "B-LOC", None, "B-LOC"]
BILUO = ["U-ORG", "O", "U-PER", "B-PER", "L-PER", "U-LOC", None, "U-LOC"]
BIOES = ["S-ORG", "O", "S-PER", "B-PER", "E-PER", "S-LOC", None, "S-LOC"]
ENTS = [("U.N.", "ORG"), ("Ekeus", "PER"), ("Smith Jones", "PER"), ("Bonn", "LOC")]

TEXT = "Ada Lovelace met Babbage in London."
SPANS = [(0, 12, "PER"), (17, 24, "PER"), (28, 34, "LOC")]
OBJECTS = [{"start": a, "end": b, "label": label} for a, b, label in SPANS]
LABEL_STUDIO = [{"start": a, "end": b, "labels": [label]} for a, b, label in SPANS]
RELATIONS = [{"start_offset": a, "end_offset": b, "label": c} for a, b, c in SPANS]
EXPECTED = [("Ada Lovelace", "PER"), ("Babbage", "PER"), ("London", "LOC")]


def table(tags=IOB1, columns=4, separator=" "):
    lines = ""
    for word, tag in zip(WORDS, tags, strict=True):
        cells = [word, "NN" if tag == "O" else "NNP", "I-NP"][: columns - 1]
        lines += f"{separator.join([*cells, tag]) if word else ''}\n"
    return lines


def ents(corpus, nlp):
    docs = [example.reference for example in corpus(nlp)]
    return [[(ent.text, ent.label_) for ent in doc.ents] for doc in docs]


@pytest.mark.parametrize(
    ("tags", "columns", "separator", "end"),
    [
        *((IOB1, 4, " ", "\n"), (IOB2, 2, "\t", "\r\n")),
        *((BILUO, 4, "  ", "\r"), (BIOES, 2, " ", "\n")),
    ],
)
def test_schemes_and_separators(nlp, tmp_path, tags, columns, separator, end):
    text = table(tags, columns, separator).replace("\n", end)
    (tmp_path / "x.conll").write_bytes(text.encode())
    data = gzip.compress(b"\xef\xbb\xbf" + text.encode())  # a byte order mark
    (tmp_path / "x.gz").write_bytes(data)
    for name in ("x.conll", "x.gz"):
        assert ents(conll_corpus(tmp_path / name), nlp) == [ENTS, ENTS[-1:]]


def test_documents(nlp, tmp_path):
    text = f"-DOCSTART- -X- O O\n\n{table()}\n-DOCSTART- -X- O O\n\n{table()}"
    (tmp_path / "x").write_text(text)
    corpus = conll_corpus(tmp_path / "x", unit="document", spans_key="sc")
    # The same label at the end of a sentence and at the beginning of the next: two.
    assert ents(corpus, nlp) == [[*ENTS, ENTS[-1]]] * 2
    doc = next(corpus(nlp)).reference
    assert [sent.text for sent in doc.sents][1] == "Bonn"
    assert [span.text for span in doc.spans["sc"]] == [e.text for e in doc.ents]
    assert [token.tag_ for token in doc][:2] == ["NNP", "NN"]
    sentences = conll_corpus(tmp_path / "x", limit=3)
    assert ents(sentences, nlp) == [ENTS, ENTS[-1:], ENTS]


def test_tokens(nlp, tmp_path):
    text = "don't\tO\nNew-York\tB-LOC\n\t\nhe\u00a0is\tO\n# O\n"
    (tmp_path / "x").write_text(text)
    gold, second = conll_corpus(tmp_path / "x")(nlp)
    assert [token.text for token in gold.predicted] == ["don't", "New-York"]
    assert [token.text for token in second.predicted] == ["he\u00a0is", "#"]
    own = next(conll_corpus(tmp_path / "x", gold_tokens=False)(nlp))
    assert [t.text for t in own.predicted][:2] == ["do", "n't"]
    assert own.get_aligned_ner()[-3:] == ["B-LOC", "I-LOC", "L-LOC"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a O\nb PER\n", r"Line 2 of '.*x' has the tag 'PER', but tags must be O"),
        ("# id = 5\na O\n", "Line 1 .* with # are not comments"),
        ("1\ta\tO\n2\tb\tO\n", "first column of .* numbers the tokens"),
        ("a NN O\nb c NN O\n", "Line 2 of .* 4 columns, but the first line has 3"),
        ("-DOCSTART- O\n\n", "no rows in"),
        ("a O\nb\n", "must be a token and its tag"),
    ],
)
def test_bad_lines(nlp, tmp_path, text, expected):
    (tmp_path / "x").write_text(text)
    with pytest.raises(SpanftError, match=expected):
        list(conll_corpus(tmp_path / "x")(nlp))


def save(folder, rows, names=None):
    string = datasets.Sequence(datasets.Value("string"))
    tags = datasets.Sequence(datasets.ClassLabel(names=names)) if names else string
    features = datasets.Features({"tokens": string, "ner_tags": tags})
    data = [dict(zip(features, row, strict=True)) for row in rows]
    datasets.Dataset.from_list(data, features=features).save_to_disk(folder / "saved")
    return str(folder / "saved")


def test_a_dataset_is_read_as_conll_is(nlp, tmp_path):
    """IOB1, where I- begins an entity, and a row without tokens in the middle."""
    rows = [
        (["U.N.", "official", "Ekeus"], ["I-ORG", "O", "I-PER"]),
        ([], []),
        (["New", "York", "Bonn"], ["I-LOC", "I-LOC", "B-LOC"]),
    ]
    blocks = ["\n".join(map(" ".join, zip(*row, strict=True))) for row in rows]
    (tmp_path / "x.conll").write_text("\n\n".join(blocks) + "\n")
    config = {"@readers": "spacy-spanft.NerDataset.v1", "spans_key": "sc"}
    config["name"] = save(tmp_path, rows)
    examples = list(spacy.registry.resolve({"x": config})["x"](nlp))
    expected = conll_corpus(tmp_path / "x.conll", spans_key="sc")(nlp)
    for ours, other in zip(examples, expected, strict=True):
        assert ours.reference.to_json() == other.reference.to_json()
        assert not ours.predicted.ents
        assert len(ours.reference.spans["sc"]) == 2


@pytest.mark.parametrize(
    ("row", "names", "expected"),
    [
        ((["a"], ["PER"]), None, r"Row 1 of split 'train' .* tag 'PER', but"),
        ((["a"], [-1]), ["O"], r"has \[None\] in column 'ner_tags'"),
        ((["a", "b"], ["O"]), None, "Row 1 .* has 2 tokens, but 1 tags"),
    ],
)
def test_bad_rows_of_a_dataset(nlp, tmp_path, row, names, expected):
    with pytest.raises(SpanftError, match=expected):
        list(ner_dataset_corpus(save(tmp_path, [row], names))(nlp))


@pytest.fixture
def write(tmp_path):
    def write(*rows, name="x.jsonl"):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        text = json.dumps(rows) if name.endswith(".json") else lines
        (tmp_path / name).write_text(text, "utf8")
        return tmp_path / name

    return write


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"spans": OBJECTS, "tokens": [{"text": "A"}]}, "x.jsonl"),
        ({"labels": SPANS}, "x.ndjson"),
        ({"entities": RELATIONS, "relations": []}, "x.jsonl"),
        ({"ents": OBJECTS}, "x.jsonl"),
        ({"id": 1, "label": LABEL_STUDIO, "annotator": 1}, "x.json"),
    ],
)
def test_formats_with_offsets(nlp, write, row, name):
    empty = {"text": "Nobody.", "spans": [], "label": []}
    path = write(empty, {"text": TEXT, **row}, name=name)
    assert has_offsets(path)
    first, second = conll_corpus(path, spans_key="sc", limit=2)(nlp)
    for spans in (second.reference.spans["sc"], second.reference.ents):
        assert [(span.text, span.label_) for span in spans] == EXPECTED
    assert not second.predicted.ents
    # A text without entities is one to learn from, not one without annotation.
    assert first.get_aligned_ner() == ["O", "O"]


def test_which_rows_are_read(nlp, write):
    assert not has_offsets(write({"text": "a", "label": ["x", "y"]}))
    assert not has_offsets("x.conll")
    # A classifier's row, and a row in another encoding.
    path = write({"text": "a", "spans": [], "label": "x"})
    assert not has_offsets(path)
    path.write_text(path.read_text(), "utf-16")
    assert not has_offsets(path)
    path = write({"text": TEXT, "spans": OBJECTS}, name="X.json")
    assert has_offsets(path.rename(path.with_name("X.JSON")))
    rows = [
        {"text": TEXT, "spans": OBJECTS[:1], "answer": answer}
        for answer in ("reject", "accept", "ignore")
    ]
    assert ents(conll_corpus(write(*rows)), nlp) == [EXPECTED[:1]]
    # White space around spans does not count.
    path = write({"text": TEXT, "label": [[0, 13, "PER"], [16, 24, "PER"]]})
    assert ents(conll_corpus(path), nlp) == [EXPECTED[:2]]


def test_spans_inside_tokens_are_counted_and_named(nlp, write):
    label = [[3, 9, "LOC"], [0, 2, "X"]]
    path = write({"text": "In Londonderry.", "label": label})
    expected = r"whole tokens: 1, .* 'London' \(Line 1 of .*\), read as 'Londonde"
    with pytest.warns(UserWarning, match=expected):
        assert ents(conll_corpus(path), nlp) == [[("In", "X"), ("Londonderry", "LOC")]]


def test_overlapping_spans_are_for_spancat(nlp, write):
    path = write({"text": TEXT, "label": [[0, 12, "PER"], [4, 12, "SURNAME"]]})
    with pytest.raises(SpanftError, match=r"Line 1 of .* overlap.*--pipeline spancat"):
        ents(conll_corpus(path), nlp)
    (example,) = conll_corpus(path, spans_key="sc")(nlp)
    spans = example.reference.spans["sc"]
    assert [span.label_ for span in spans] == ["PER", "SURNAME"]
    # Nothing is known about its entities.
    assert set(example.get_aligned_ner()) == {None}


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ([[0, 99, "PER"]], r"Line 1 of .* span \[0, 99, 'PER'\], but .* 'Ada L"),
        ([{"start": 0, "end": 3}], "has the span"),
        ([[0, 3, ""]], r"has the span \[0, 3, ''\]"),
        (["PER"], "No row of .* has spans with character offsets"),
    ],
)
def test_errors_name_the_row_and_the_span(nlp, write, label, expected):
    with pytest.raises(SpanftError, match=expected):
        ents(conll_corpus(write({"text": TEXT, "label": label})), nlp)
