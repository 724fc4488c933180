"""CoNLL's columns and datasets of tags, and labels that are new in dev."""

import gzip
import warnings

import datasets
import pytest
import spacy
from spacy.tokens import DocBin
from spacy.util import load_config_from_str

from spacy_spanft.errors import SpanftError
from spacy_spanft.training.readers.conll import conll_corpus, ner_dataset_corpus

IOB1 = [
    ("U.N.", "NNP", "I-NP", "I-ORG"),
    ("official", "NN", "I-NP", "O"),
    ("Ekeus", "NNP", "I-NP", "I-PER"),
    ("Smith", "NNP", "I-NP", "B-PER"),
    ("Jones", "NNP", "I-NP", "I-PER"),
    ("Bonn", "NNP", "I-NP", "I-LOC"),
    None,
    ("Bonn", "NNP", "I-NP", "I-LOC"),
]
IOB2 = ["B-ORG", "O", "B-PER", "B-PER", "I-PER", "B-LOC", None, "B-LOC"]
BILUO = ["U-ORG", "O", "U-PER", "B-PER", "L-PER", "U-LOC", None, "U-LOC"]
BIOES = ["S-ORG", "O", "S-PER", "B-PER", "E-PER", "S-LOC", None, "S-LOC"]
ENTS = [("U.N.", "ORG"), ("Ekeus", "PER"), ("Smith Jones", "PER"), ("Bonn", "LOC")]


def table(tags=None, columns=4, separator=" "):
    """Write the sentences with their own tags, or with others."""
    tags = tags or [row and row[-1] for row in IOB1]
    cells = [
        row and [*row[: columns - 1], tag] for row, tag in zip(IOB1, tags, strict=True)
    ]
    return "\n".join(separator.join(row) if row else "" for row in cells) + "\n"


def ents(corpus, nlp):
    found = [example.reference for example in corpus(nlp)]
    return [[(ent.text, ent.label_) for ent in doc.ents] for doc in found]


@pytest.mark.parametrize("tags", [None, IOB2, BILUO, BIOES])
@pytest.mark.parametrize("columns", [2, 4])
@pytest.mark.parametrize(
    ("separator", "end"), [(" ", "\n"), ("\t", "\r\n"), ("  ", "\r")]
)
def test_schemes_and_separators(nlp, tmp_path, tags, columns, separator, end):
    text = table(tags, columns, separator).replace("\n", end)
    (tmp_path / "x.conll").write_bytes(text.encode())
    assert ents(conll_corpus(tmp_path / "x.conll"), nlp) == [ENTS, ENTS[-1:]]


def test_compressed_with_a_byte_order_mark(nlp, tmp_path):
    data = gzip.compress(b"\xef\xbb\xbf" + table().encode())
    (tmp_path / "x.conll.gz").write_bytes(data)
    assert ents(conll_corpus(tmp_path / "x.conll.gz"), nlp) == [ENTS, ENTS[-1:]]


def test_documents(nlp, tmp_path):
    text = f"-DOCSTART- -X- O O\n\n{table()}\n-DOCSTART- -X- O O\n\n{table()}"
    (tmp_path / "x").write_text(text)
    corpus = conll_corpus(tmp_path / "x", unit="document", spans_key="sc")
    # The same label at the end of a sentence and at the beginning of the next: two.
    assert ents(corpus, nlp) == [[*ENTS, ENTS[-1]]] * 2
    doc = next(corpus(nlp)).reference
    assert [sent.text for sent in doc.sents][1] == "Bonn"
    assert [span.text for span in doc.spans["sc"]] == [ent.text for ent in doc.ents]
    assert [token.tag_ for token in doc][:2] == ["NNP", "NN"]
    sentences = conll_corpus(tmp_path / "x", limit=3)
    assert ents(sentences, nlp) == [ENTS, ENTS[-1:], ENTS]
    (tmp_path / "y").write_text(table())
    with pytest.warns(UserWarning, match="one Doc, 2 sentences long"):
        list(conll_corpus(tmp_path / "y", unit="document")(nlp))


def test_tokens(nlp, tmp_path):
    (tmp_path / "x").write_text("don't\tO\nNew-York\tB-LOC\n\t\nhe\u00a0is\tO\n# O\n")
    gold, second = conll_corpus(tmp_path / "x")(nlp)
    assert [token.text for token in gold.predicted] == ["don't", "New-York"]
    assert [token.text for token in second.predicted] == ["he\u00a0is", "#"]
    own = next(conll_corpus(tmp_path / "x", gold_tokens=False)(nlp))
    assert [t.text for t in own.predicted][:2] == ["do", "n't"]
    assert own.get_aligned_ner()[-3:] == ["B-LOC", "I-LOC", "L-LOC"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a O\nb PER\n", r"Line 2 of '.*x' has the tag 'PER', but tags must be O, or"),
        ("a B-PER,B-LOC\n", "has the tag 'B-PER,B-LOC'"),
        ("a b-per\n", "has the tag 'b-per'"),
        ("# id = 5\na O\n", "Line 1 .* begin with # are not comments"),
        ("1\ta\tO\n2\tb\tO\n", "first column of .* numbers the tokens"),
        ("a\t\n", "Line 1 of .* must be a token and its tag"),
        ("a NN O\nb c NN O\n", "Line 2 of .* has 4 columns, but the first line has 3"),
        ("-DOCSTART- O\n\n", "no rows in"),
    ],
)
def test_bad_lines(nlp, tmp_path, text, expected):
    (tmp_path / "x").write_text(text)
    with pytest.raises(SpanftError, match=expected):
        list(conll_corpus(tmp_path / "x")(nlp))


def test_bad_files(nlp, tmp_path):
    (tmp_path / "x").write_bytes(b"a O\n\xff O\n")
    with pytest.raises(SpanftError, match="not valid UTF-8 at byte 4"):
        list(conll_corpus(tmp_path / "x")(nlp))
    assert len(list(conll_corpus(tmp_path / "x", errors="replace")(nlp))) == 1
    with pytest.raises(SpanftError, match=r"--paths\.train"):
        conll_corpus(None)
    with pytest.raises(SpanftError, match=r"spaCy's own format"):
        conll_corpus(tmp_path / "x.spacy")


class TestNerDataset:
    @pytest.fixture
    def save(self, tmp_path):
        def save(rows, names=None):
            kind = datasets.ClassLabel(names=names) if names else None
            value = "string" if isinstance(rows[0][1][0], str) else "int64"
            string = datasets.Sequence(datasets.Value("string"))
            tags = datasets.Sequence(kind or datasets.Value(value))
            features = datasets.Features({"tokens": string, "ner_tags": tags})
            data = [dict(zip(features, row, strict=True)) for row in rows]
            dataset = datasets.Dataset.from_list(data, features=features)
            dataset.save_to_disk(tmp_path / "saved")
            return str(tmp_path / "saved")

        return save

    def test_reads_what_conll_reads(self, nlp, tmp_path, save):
        """IOB1, where I- begins an entity, and a row without tokens in the middle."""
        rows = [
            (["U.N.", "official", "Ekeus"], ["I-ORG", "O", "I-PER"]),
            ([], []),
            (["New", "York", "Bonn"], ["I-LOC", "I-LOC", "B-LOC"]),
        ]
        blocks = ["\n".join(map(" ".join, zip(*row, strict=True))) for row in rows]
        (tmp_path / "x.conll").write_text("\n\n".join(blocks) + "\n")
        config = {"@readers": "spacy-spanft.NerDataset.v1", "spans_key": "sc"}
        config["name"] = save(rows)
        examples = list(spacy.registry.resolve({"x": config})["x"](nlp))
        expected = conll_corpus(tmp_path / "x.conll", spans_key="sc")(nlp)
        for ours, other in zip(examples, expected, strict=True):
            assert ours.reference.to_json() == other.reference.to_json()
            assert not ours.predicted.ents
            assert len(ours.reference.spans["sc"]) == 2
        assert len(list(ner_dataset_corpus(config["name"], limit=1)(nlp))) == 1

    @pytest.mark.parametrize(
        ("row", "names", "settings", "expected"),
        [
            ((["a"], ["PER"]), None, {}, r"Row 0 of split 'train' .* tag 'PER', but"),
            ((["a"], [3]), None, {}, r"Row 0 .* has \[3\] in column 'ner_tags'"),
            ((["a"], [-1]), ["O"], {}, r"has \[None\] in column 'ner_tags'"),
            ((["a", "b"], ["O"]), None, {}, "Row 0 .* has 2 tokens, but 1 tags"),
            ((["a", ""], ["O", "O"]), None, {}, r"has \['a', ''\] in column 'tokens'"),
            ((["a"], ["O"]), None, {"tokens": "words"}, "no column 'words' in"),
        ],
    )
    def test_errors(self, nlp, save, row, names, settings, expected):
        corpus = ner_dataset_corpus(save([row], names), **settings)
        with pytest.raises(SpanftError, match=expected):
            list(corpus(nlp))


CONFIG = """
[nlp]
lang = "en"
pipeline = ["ner", "bilou_ner", "spancat"]
[components]
[components.ner]
factory = "ner"
[components.bilou_ner]
factory = "bilou_ner"
[components.spancat]
factory = "spancat"
[corpora]
[corpora.train]
@readers = "spacy-spanft.ConllCorpus.v1"
spans_key = "sc"
path = "{train}"
[corpora.dev]
@readers = "spacy-spanft.ConllCorpus.v1"
spans_key = "sc"
path = "{dev}"
[training]
dev_corpus = "corpora.dev"
train_corpus = "corpora.train"
[initialize]
[initialize.after_init]
@callbacks = "spacy-spanft.warn_unseen_labels.v1"
"""


def initialize(train, dev):
    from spacy.training.initialize import init_nlp

    config = load_config_from_str(CONFIG.format(train=train, dev=dev))
    nlp = spacy.util.load_model_from_config(config, auto_fill=True, validate=False)
    return init_nlp(nlp.config)


def test_unseen_labels_are_warned_about_for_each_component(tmp_path):
    (tmp_path / "train").write_text("Bonn B-LOC\n")
    (tmp_path / "dev").write_text("Bonn B-LOC\nis O\nKohl B-PER\n")
    with pytest.warns(UserWarning, match="The dev data") as caught:
        initialize(tmp_path / "train", tmp_path / "dev")
    messages = [str(w.message) for w in caught if "dev data" in str(w.message)]
    names = ("ner", "bilou_ner", "spancat")
    for name, message in zip(names, messages, strict=True):
        assert f"{name!r} has not seen" in message
        assert "predict: 'PER'." in message
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="The dev data")
        initialize(tmp_path / "train", tmp_path / "train")


def test_an_error_in_dev_comes_before_training(tmp_path):
    (tmp_path / "train").write_text("Bonn B-LOC\n")
    (tmp_path / "dev").write_text("Bonn LOC\n")
    with pytest.raises(SpanftError, match=r"Line 1 of .*dev"):
        initialize(tmp_path / "train", tmp_path / "dev")


def test_what_spacy_convert_makes_of_it(nlp, tmp_path):
    """Where spaCy reads such a file itself, ours reads the same."""
    from spacy.training.converters import conll_ner_to_docs

    expected = list(conll_ner_to_docs(table(), n_sents=1, no_print=True))
    (tmp_path / "x").write_text(table())
    found = [example.reference for example in conll_corpus(tmp_path / "x")(nlp)]
    stored = DocBin(docs=found, attrs=["ORTH", "TAG", "ENT_IOB", "ENT_TYPE"])
    theirs = DocBin(docs=expected, attrs=["ORTH", "TAG", "ENT_IOB", "ENT_TYPE"])
    for ours, other in zip(stored.tokens, theirs.tokens, strict=True):
        assert ours.tolist() == other.tolist()
