"""NER datasets, rows that are incomplete, and the columns of files."""

import pytest
import spacy

from spacy_spanft.errors import ReaderError, SpanftError
from spacy_spanft.training.readers.conll import conll_corpus
from spacy_spanft.training.readers.ner_dataset import ner_dataset_corpus
from spacy_spanft.training.readers.tables import columns_of
from spacy_spanft.training.readers.textcat import dataset_corpus, table_corpus


class TestNerDataset:
    """The reader by itself."""

    def save(self, folder, rows, tags=None):
        import datasets

        named = datasets.ClassLabel(names=tags) if tags else None
        kind = datasets.Value("string" if isinstance(rows[0][1][0], str) else "int64")
        features = datasets.Features(
            {
                "tokens": datasets.Sequence(datasets.Value("string")),
                "ner_tags": datasets.Sequence(named or kind),
            }
        )
        data = [dict(zip(features, row, strict=True)) for row in rows]
        datasets.Dataset.from_list(data, features=features).save_to_disk(folder)
        return str(folder)

    def test_reads_what_conll_reads(self, nlp, tmp_path):
        """IOB1, where I- begins an entity, and a row without tokens in the middle."""
        rows = [
            (["U.N.", "official", "Ekeus"], ["I-ORG", "O", "I-PER"]),
            ([], []),
            (["New", "York", "Bonn"], ["I-LOC", "I-LOC", "B-LOC"]),
        ]
        blocks = ["\n".join(map(" ".join, zip(*row, strict=True))) for row in rows]
        (tmp_path / "x.conll").write_text("\n\n".join(blocks) + "\n")
        config = {
            "@readers": "spacy-spanft.NerDataset.v1",
            "name": self.save(tmp_path / "x", rows),
            "spans_key": "sc",
        }
        found = list(spacy.registry.resolve({"x": config})["x"](nlp))
        expected = conll_corpus(tmp_path / "x.conll", spans_key="sc")(nlp)
        for one, other in zip(found, expected, strict=True):
            assert one.reference.to_json() == other.reference.to_json()
            assert [t.text for t in one.predicted] == [t.text for t in other.predicted]
            assert not one.predicted.ents
            assert len(one.reference.spans["sc"]) == 2
        limited = ner_dataset_corpus(config["name"], limit=1)
        assert len(list(limited(nlp))) == 1

    @pytest.mark.parametrize(
        ("row", "tags", "settings", "expected"),
        [
            ((["a"], ["PER"]), None, {}, r"Row 0 of split 'train' .* tag 'PER', but"),
            ((["a"], [3]), None, {}, r"Row 0 .* has \[3\] in column 'ner_tags', and"),
            ((["a"], [-1]), ["O"], {}, r"has \[None\] in column 'ner_tags'"),
            ((["a", "b"], ["O"]), None, {}, "Row 0 .* has 2 tokens, but 1 tags"),
            ((["a", ""], ["O", "O"]), None, {}, r"has \['a', ''\] in column 'tokens'"),
            (
                (["a"], ["O"]),
                None,
                {"tokens": "words"},
                "There is no column 'words' in .* tokens = ",
            ),
            (
                (["a"], ["O"]),
                None,
                {"tags": "tags"},
                "There is no column 'tags' in .* tags = ",
            ),
        ],
    )
    def test_errors(self, nlp, tmp_path, row, tags, settings, expected):
        name = self.save(tmp_path / "x", [row], tags)
        with pytest.raises(ReaderError, match=expected):
            list(ner_dataset_corpus(name, **settings)(nlp))

    def test_nothing_in_it(self, nlp, tmp_path):
        name = self.save(tmp_path / "x", [(["a"], ["O"]), ([], [])])
        with pytest.raises(SpanftError, match="limit is -1"):
            ner_dataset_corpus(name, limit=-1)
        import datasets

        empty = datasets.load_from_disk(name).select([1])
        empty.save_to_disk(tmp_path / "y")
        with pytest.raises(ReaderError, match="no rows in split 'train'"):
            list(ner_dataset_corpus(str(tmp_path / "y"))(nlp))


class TestIncompleteRows:
    def test_are_left_out(self, nlp, tmp_path):
        path = tmp_path / "x.tsv"
        path.write_text("text\tlabel\na\tx\nonly one\nb\t\nc\t-\nd\ty\te\nf\ty\n")
        found = table_corpus(path, incomplete="skip", limit=2)(nlp)
        assert [(eg.reference.text, eg.reference.cats) for eg in found] == [
            ("a", {"x": 1.0, "y": 0.0}),
            ("f", {"x": 0.0, "y": 1.0}),
        ]
        with pytest.raises(ReaderError, match=r"Line 3 .* has 1 cell,"):
            list(table_corpus(path)(nlp))
        texts = table_corpus(path, label=None, incomplete="skip")(nlp)
        assert [eg.reference.text for eg in texts] == ["a", "b", "c", "f"]

    def test_in_jsonl_with_scores(self, nlp, tmp_path):
        path = tmp_path / "x.jsonl"
        path.write_text('{"text": "a", "n": null}\n{"text": "b", "n": 2}\n')
        found = list(table_corpus(path, score="n", incomplete="skip")(nlp))
        assert [eg.reference.cats for eg in found] == [{"score": 2.0}]

    def test_wrong_setting(self):
        for make in (table_corpus, dataset_corpus):
            with pytest.raises(SpanftError, match="incomplete is 'drop', but must be"):
                make("x.tsv", incomplete="drop")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("x.tsv", "\ufeffa b\tc\r\n1\t2\n", ["a b", "c"]),
        ("x.csv", '"a, b",c\n1,2\n', ["a, b", "c"]),
        ("x.jsonl", '\n{"a": 1, "b": 2}\n{"c": 3}\n', ["a", "b"]),
        ("x.tsv", "", []),
        ("x.jsonl", "", []),
    ],
)
def test_columns_of_files(tmp_path, name, text, expected):
    (tmp_path / name).write_bytes(text.encode())
    assert columns_of(tmp_path / name) == expected
