"""Entities and spans as Prodigy, doccano and Label Studio export them."""

import json

import pytest
import spacy

from spacy_spanft.errors import SpanftError
from spacy_spanft.training.readers.conll import conll_corpus
from spacy_spanft.training.readers.offsets import has_offsets

TEXT = "Ada Lovelace met Babbage in London."
SPANS = [(0, 12, "PER"), (17, 24, "PER"), (28, 34, "LOC")]
OBJECTS = [{"start": start, "end": end, "label": label} for start, end, label in SPANS]
LABEL_STUDIO = [
    {"start": start, "end": end, "text": TEXT[start:end], "labels": [label]}
    for start, end, label in SPANS
]
RELATIONS = [
    {"id": i, "label": label, "start_offset": start, "end_offset": end}
    for i, (start, end, label) in enumerate(SPANS)
]
EXPECTED = [("Ada Lovelace", "PER"), ("Babbage", "PER"), ("London", "LOC")]


@pytest.fixture
def write(tmp_path):
    """Write rows as JSON lines, or as a JSON list if the file ends in .json."""

    def write(*rows, name="x.jsonl"):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        text = json.dumps(rows) if name.endswith(".json") else lines
        (tmp_path / name).write_text(text, "utf8")
        return tmp_path / name

    return write


def ents(path, nlp, **settings):
    docs = [example.reference for example in conll_corpus(path, **settings)(nlp)]
    return [[(ent.text, ent.label_) for ent in doc.ents] for doc in docs]


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (
            {"spans": OBJECTS, "tokens": [{"text": "Ada"}], "answer": "accept"},
            "x.jsonl",
        ),
        ({"id": 1, "label": SPANS}, "x.jsonl"),
        ({"labels": SPANS}, "x.ndjson"),
        ({"entities": RELATIONS, "relations": []}, "x.jsonl"),
        ({"id": 1, "label": LABEL_STUDIO, "annotator": 1}, "x.json"),
    ],
)
def test_formats(nlp, write, row, name):
    empty = {"text": "Nobody.", "spans": [], "label": []}
    path = write(empty, {"text": TEXT, **row}, name=name)
    assert has_offsets(path)
    assert ents(path, nlp) == [[], EXPECTED]
    assert ents(path, nlp, limit=2)[1:] == [EXPECTED]
    first, second = conll_corpus(path, spans_key="sc")(nlp)
    assert [(s.text, s.label_) for s in second.reference.spans["sc"]] == EXPECTED
    assert not second.predicted.ents
    assert second.predicted.text == TEXT
    # A text without entities is one to learn from, not one without annotation.
    assert first.get_aligned_ner() == ["O", "O"]


def test_other_files_have_no_offsets(write):
    assert not has_offsets(write({"text": "a", "label": "x"}))
    assert not has_offsets(write({"text": "a", "label": ["x", "y"]}))
    assert not has_offsets("x.conll")


def test_only_accepted_rows_are_read(nlp, write):
    rows = [
        {"text": TEXT, "spans": OBJECTS[:1], "answer": answer}
        for answer in ("reject", "accept", "ignore")
    ]
    assert ents(write(*rows), nlp) == [EXPECTED[:1]]


def test_space_around_spans_does_not_count(nlp, write):
    row = {"text": TEXT, "label": [[0, 13, "PER"], [16, 24, "PER"]]}
    assert ents(write(row), nlp) == [EXPECTED[:2]]


def test_spans_inside_tokens_are_counted_and_named(nlp, write):
    good = {"text": TEXT, "label": SPANS}
    bad = {"text": "In Londonderry.", "label": [[3, 9, "LOC"], [0, 2, "X"]]}
    expected = (
        r"x\.jsonl' .* whole tokens: 1, the first is 'London' \(Line 2 of .*\), "
        "read as 'Londonderry'"
    )
    with pytest.warns(UserWarning, match=expected):
        assert ents(write(good, bad), nlp)[1] == [("In", "X"), ("Londonderry", "LOC")]


def test_overlapping_spans_are_for_spancat(nlp, write):
    path = write({"text": TEXT, "label": [[0, 12, "PER"], [4, 12, "SURNAME"]]})
    with pytest.raises(SpanftError, match=r"Line 1 of .* overlap.* spans_key"):
        ents(path, nlp)
    (example,) = conll_corpus(path, spans_key="sc")(nlp)
    labels = [span.label_ for span in example.reference.spans["sc"]]
    assert labels == ["PER", "SURNAME"]
    # Nothing is known about its entities.
    assert set(example.get_aligned_ner()) == {None}


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        (
            [[0, 99, "PER"]],
            r"Line 1 of .* has the span \[0, 99, 'PER'\], but .* 'Ada L",
        ),
        ([[5, 5, "PER"]], "has the span"),
        ([[12, 13, "PER"]], "has the span"),
        ([[0, 3]], "has the span"),
        ([{"start": 0, "end": 3}], "has the span"),
        ([[0, 3, 4]], "has the span"),
        (["PER"], "No row of .* has spans with character offsets"),
    ],
)
def test_errors_name_the_row_and_the_span(nlp, write, label, expected):
    with pytest.raises(SpanftError, match=expected):
        ents(write({"text": TEXT, "label": label}), nlp)


def test_files_that_are_not_rows(nlp, write, tmp_path):
    with pytest.raises(SpanftError, match=r'Line 1 of .* has no "text"'):
        ents(write({"txt": TEXT, "label": SPANS}), nlp)
    (tmp_path / "x.json").write_text('{"text": 1}')
    with pytest.raises(SpanftError, match="not a JSON list of objects"):
        ents(tmp_path / "x.json", nlp)
    (tmp_path / "x.json").write_text("[")
    with pytest.raises(SpanftError, match="is not valid JSON"):
        ents(tmp_path / "x.json", nlp)


def test_ner_learns_from_them(write):
    config = {"@readers": "spacy-spanft.ConllCorpus.v1"}
    config["path"] = str(write({"text": TEXT, "spans": OBJECTS}))
    corpus = spacy.registry.resolve({"train": config})["train"]
    nlp = spacy.blank("en")
    nlp.add_pipe("ner")
    spacy.util.fix_random_seed(0)
    optimizer = nlp.initialize(lambda: corpus(nlp))
    for _ in range(30):
        nlp.update(list(corpus(nlp)), sgd=optimizer)
    assert [(ent.text, ent.label_) for ent in nlp(TEXT).ents] == EXPECTED
