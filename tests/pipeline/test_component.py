"""The component's contract."""

import pickle
import warnings

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.util import registry as spacy_registry

from spacy_spanft.errors import SpanftError
from spacy_spanft.pipeline.span_segmenter import SpanSegmenter
from spacy_spanft.segmenters import registry
from spacy_spanft.segmenters.writing import with_singletons, write_spans

from .. import interpreter

TEXTS = [
    "New York City is in the United States.",
    "",
    "   ",
    "🙂 new\u00a0york 🙂 United Airlines",
    "שלום עולם new york",
    "the United States of America",
    "nothing here",
]
SPANS = [
    ["New York City", "United States"],
    [],
    [],
    ["United Airlines"],
    ["new york"],
    ["the United States of America"],
    [],
]


@pytest.fixture
def pipeline(dictionary):
    nlp = spacy.blank("en")
    nlp.add_pipe("span_segmenter")
    nlp.get_pipe("span_segmenter").initialize(nlp=nlp, dictionary=dictionary)
    return nlp


def texts_of(docs, key="ngrams"):
    return [[span.text for span in doc.spans[key]] for doc in docs]


def places_of(docs, key="ngrams"):
    return [
        [(s.start, s.end, s.start_char, s.end_char, s.label_) for s in doc.spans[key]]
        for doc in docs
    ]


def test_call_and_pipe(pipeline):
    docs = [pipeline(text) for text in TEXTS]
    assert texts_of(docs) == SPANS
    for batch_size in (1, 2, 1000):
        piped = list(pipeline.pipe(TEXTS, batch_size=batch_size))
        assert places_of(piped) == places_of(docs)
        component = pipeline.get_pipe("span_segmenter")
        made = (pipeline.make_doc(text) for text in TEXTS)
        assert places_of(component.pipe(made, batch_size=batch_size)) == places_of(docs)


def test_two_processes(pipeline):
    component = pickle.loads(pickle.dumps(pipeline.get_pipe("span_segmenter")))
    assert texts_of(component.pipe(map(pipeline.make_doc, TEXTS))) == SPANS
    docs = list(pipeline.pipe(TEXTS * 3, n_process=2, batch_size=4))
    assert texts_of(docs) == SPANS * 3


spans_lists = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4)), max_size=6)


@given(steps=spans_lists, labels=st.lists(st.sampled_from(["", "NP"]), min_size=6))
def test_fast_writing_equals_slicing(nlp, steps, labels):
    segments, at = [], 0
    for (gap, length), label in zip(steps, labels, strict=False):
        segments.append((at + gap, at + gap + length, *[label] * bool(label)))
        at += gap + length
    words = ["wörd🙂"[: 1 + i % 6] for i in range(at + 1)]
    doc = Doc(nlp.vocab, words=words, spaces=[i % 3 > 0 for i in range(len(words))])
    plain = [Span(doc, s, e, *label) for s, e, *label in segments]
    write_spans(doc, segments, key="x", writer="me")
    names = "start", "end", "start_char", "end_char", "label_", "kb_id", "id", "text"
    written, sliced = (
        [[getattr(span, name) for name in names] for span in spans]
        for spans in (doc.spans["x"], plain)
    )
    assert written == sliced


def test_with_singletons(dictionary):
    assert with_singletons([(1, 3), (3, 5, "x")], 7) == [
        *((0, 1), (1, 3), (3, 5, "x"), (5, 6), (6, 7))
    ]
    assert with_singletons([], 2) == [(0, 1), (1, 2)]
    assert with_singletons([], 0) == []
    nlp = spacy.blank("en")
    nlp.add_pipe("span_segmenter", config={"singletons": True, "spans_key": "all"})
    nlp.get_pipe("span_segmenter").initialize(nlp=nlp, dictionary=dictionary)
    assert texts_of(nlp.pipe(["in New York .", ""]), "all") == [
        ["in", "New York", "."],
        [],
    ]


def test_a_long_doc(pipeline):
    doc = Doc(pipeline.vocab, words=["new", "york"] * 50_000)
    assert len(pipeline.get_pipe("span_segmenter")(doc).spans["ngrams"]) == 50_000


class TestKeys:
    def test_taken_by_another(self, pipeline):
        doc = pipeline.make_doc("new york")
        doc.spans["ngrams"] = [doc[0:1]]
        with pytest.raises(SpanftError, match=r"doc.spans\['ngrams'\] already exists"):
            pipeline(doc)
        with pytest.raises(SpanftError, match="overwrite"):
            list(pipeline.pipe([doc]))
        pipeline.get_pipe("span_segmenter").overwrite = True
        assert texts_of([pipeline(doc)]) == [["new york"]]

    def test_own_spans_are_written_again(self, pipeline):
        doc = pipeline("new york")
        from_json = Doc(pipeline.vocab).from_json(doc.to_json())
        joined = Doc.from_docs([doc, pipeline("united states")])
        assert texts_of(map(pipeline, [from_json, joined])) == [
            ["new york"],
            ["new york", "united states"],
        ]
        again = Doc(pipeline.vocab).from_bytes(doc.to_bytes())
        stored = next(DocBin(docs=[doc]).get_docs(pipeline.vocab))
        for seen in (doc, again, stored):
            assert texts_of([pipeline(seen)]) == [["new york"]]

    def test_two_of_them(self, dictionary):
        nlp = spacy.blank("en")
        for name in ("one", "two"):
            component = nlp.add_pipe(
                "span_segmenter", name=name, config={"spans_key": name}
            )
            component.initialize(nlp=nlp, dictionary=dictionary)
        doc = nlp("new york")
        assert texts_of([doc], "one") == texts_of([doc], "two") == [["new york"]]
        nlp.get_pipe("two").spans_key = "one"
        with pytest.raises(SpanftError, match="not written by 'two' but by 'one'"):
            nlp("new york")


class TestInitialize:
    def make(self, dictionary):
        config = {
            "nlp": {"lang": "en", "pipeline": ["span_segmenter"]},
            "components": {"span_segmenter": {"factory": "span_segmenter"}},
            "initialize": {
                "components": {"span_segmenter": {"dictionary": dictionary}}
            },
        }
        return spacy.util.load_model_from_config(config, auto_fill=True)

    def test_reads_the_dictionary_once_and_keeps_it(self, dictionary, tmp_path):
        path = tmp_path / "build" / "a.tsv.gz"
        dictionary.to_disk(path)
        nlp = self.make(str(path))
        nlp.initialize()
        assert texts_of(nlp.pipe(TEXTS)) == SPANS
        nlp.to_disk(tmp_path / "pipeline")
        path.unlink()  # the build paths need not be there later, nor elsewhere
        code = (
            f"import spacy; nlp = spacy.load({str(tmp_path / 'pipeline')!r});"
            f"print([[s.text for s in d.spans['ngrams']] for d in nlp.pipe({TEXTS!r})])"
        )
        done = interpreter.run("-c", code, cwd=tmp_path)
        assert done.stdout.strip() == str(SPANS), done.stderr

    def test_reader_that_cuts(self, dictionary, tmp_path):
        dictionary.to_disk(tmp_path / "a.tsv.gz")
        reader = {"@readers": "spacy-spanft.NgramDictionary.v1"}
        path = str(tmp_path / "a.tsv.gz")
        nlp = self.make({**reader, "path": path, "top_k": 1, "min_count": 2})
        nlp.initialize()
        assert texts_of([nlp("new york in the united states")]) == [["new york"]]

    def test_missing_file(self, tmp_path):
        with pytest.raises(SpanftError, match=r"no file .*missing"):
            self.make(str(tmp_path / "missing.tsv.gz")).initialize()

    def test_segmenter_that_takes_none(self, dictionary):
        nlp = spacy.blank("en")
        segmenter = {"@segmenters": "spacy-spanft.RandomSegmenter.v1"}
        component = nlp.add_pipe("span_segmenter", config={"segmenter": segmenter})
        component.initialize(nlp=nlp)
        with pytest.raises(SpanftError, match=r"Remove \[initialize.components"):
            component.initialize(nlp=nlp, dictionary=dictionary)

    def test_annotates_in_training(self, pipeline, monkeypatch):
        textcat = pipeline.add_pipe("textcat")
        textcat.add_label("A")
        textcat.add_label("B")
        cats = {"A": 1.0, "B": 0.0}
        example = Example.from_dict(pipeline.make_doc("new york"), {"cats": cats})
        optimizer = pipeline.initialize(lambda: [example])
        component = pipeline.get_pipe("span_segmenter")
        seen = []

        def noted(docs, spans):
            SpanSegmenter.set_annotations(component, docs, spans)
            seen.extend(texts_of(docs))

        monkeypatch.setattr(component, "set_annotations", noted)
        for _ in range(2):
            pipeline.update([example], sgd=optimizer, annotates=["span_segmenter"])
        assert seen == [["new york"]] * 2

    def test_dictionary_for_another_language(self, dictionary):
        nlp = spacy.blank("de")
        component = nlp.add_pipe("span_segmenter")
        with pytest.warns(UserWarning, match="language 'de' with the default"):
            nlp("in der Stadt")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            nlp("once is enough")
            fresh = spacy.blank("de")
            component = fresh.add_pipe("span_segmenter")
            component.initialize(nlp=fresh, dictionary=dictionary)
            fresh("in der Stadt")


class TestSerialization:
    def test_disk(self, pipeline, tmp_path):
        pipeline.to_disk(tmp_path / "a")
        other = spacy.load(tmp_path / "a")
        assert texts_of(other.pipe(TEXTS)) == SPANS
        other.to_disk(tmp_path / "b")
        name = "span_segmenter/segmenter/dictionary.tsv.gz"
        assert (tmp_path / "a" / name).read_bytes() == (
            tmp_path / "b" / name
        ).read_bytes()

    def test_segmenter_without_data(self, tmp_path):
        nlp = spacy.blank("en")
        segmenter = {"@segmenters": "spacy-spanft.RandomSegmenter.v1", "seed": 7}
        nlp.add_pipe("span_segmenter", config={"segmenter": segmenter})
        nlp.to_disk(tmp_path)
        doc = "a b c d e f g h i j k l m n o p"
        assert places_of([spacy.load(tmp_path)(doc)]) == places_of([nlp(doc)])
        nlp.from_bytes(nlp.to_bytes())

    def test_data_that_is_missing_or_damaged(self, pipeline, tmp_path):
        pipeline.to_disk(tmp_path)
        file = tmp_path / "span_segmenter" / "segmenter" / "dictionary.tsv.gz"
        file.write_bytes(file.read_bytes()[:50])
        with pytest.raises(SpanftError, match=r"dictionary.tsv.gz is .* damaged"):
            spacy.load(tmp_path)
        file.unlink()
        with pytest.raises(SpanftError, match="There is no file"):
            spacy.load(tmp_path)
        assert spacy.load(tmp_path, exclude=["span_segmenter"])


class TestCustomSegmenters:
    def make(self, segmenter):
        nlp = spacy.blank("en")
        component = SpanSegmenter(nlp, segmenter=segmenter)
        return lambda text: component(nlp.make_doc(text))

    def test_registered(self):
        @registry.segmenters("test.first_two.v1")
        def make():
            return lambda docs: [[(0, 2, "HEAD")] if len(d) > 1 else [] for d in docs]

        nlp = spacy.blank("en")
        config = {"segmenter": {"@segmenters": "test.first_two.v1"}}
        nlp.add_pipe("span_segmenter", config=config)
        assert places_of([nlp("a b c")]) == [[(0, 2, 0, 3, "HEAD")]]

    @pytest.mark.parametrize(
        "spans",
        [
            *([(0, 3), (2, 4)], [(2, 3), (0, 1)], [(0, 5)], [(-1, 2)], [(1, 1)]),
            *([(2, 1)], [(0,)], [0, 2], [(0, 2, "A", "B")], [(0, 2, None)]),
            *([(0.0, 2.7)], [None], ["ab"]),
        ],
    )
    def test_wrong_spans(self, spans):
        with pytest.raises(SpanftError, match=r"gave the span .* a Doc of 4 tokens"):
            self.make(lambda docs: [spans])("a b c d")

    def test_spans_of_spacy_and_numbers_of_numpy(self):
        cut = self.make(lambda docs: [[doc[0:2], [2, 3]] for doc in docs])
        assert texts_of([cut("a b c d")]) == [["a b", "c"]]
        cut = self.make(lambda docs: [[tuple(np.array([1, 3]))] for _ in docs])
        assert texts_of([cut("a b c d")]) == [["b c"]]

    @pytest.mark.parametrize("result", [None, (x for x in ())])
    def test_no_list(self, result):
        with pytest.raises(SpanftError, match="It must return a list"):
            self.make(lambda docs: result)("a b")
        with pytest.raises(SpanftError, match="It must give a list"):
            self.make(lambda docs: [result])("a b")

    def test_data_is_saved(self, tmp_path):
        class Remembering:
            def __init__(self):
                self.data = b"none"

            def __call__(self, docs):
                return [[] for _ in docs]

            def to_bytes(self):
                return self.data

            def from_bytes(self, data):
                self.data = data

        registry.segmenters("test.remembering.v1", func=Remembering)
        nlp = spacy.blank("en")
        config = {"segmenter": {"@segmenters": "test.remembering.v1"}}
        nlp.add_pipe("span_segmenter", config=config).segmenter.data = b"DATA"
        nlp.to_disk(tmp_path)
        for other in (spacy.load(tmp_path), spacy.blank("en")):
            if not other.pipe_names:
                other.add_pipe("span_segmenter", config=config)
                other.from_bytes(nlp.to_bytes())
            assert other.get_pipe("span_segmenter").segmenter.data == b"DATA"
        (tmp_path / "span_segmenter" / "segmenter").unlink()
        with pytest.raises(FileNotFoundError, match="span_segmenter"):
            spacy.load(tmp_path)

    def test_error_handler(self, pipeline):
        pipeline.set_error_handler(spacy.util.ignore_error)
        bad, good = pipeline.make_doc("new york"), pipeline.make_doc("new york")
        bad.spans["ngrams"] = [bad[0:1]]
        assert texts_of(pipeline.pipe([bad, good], batch_size=1)) == [["new york"]]


def test_a_dictionary_is_no_dict():
    component = spacy.blank("en").add_pipe("span_segmenter")
    with pytest.raises(SpanftError, match="is a dict, but it must be an NgramDict"):
        component.initialize(dictionary={"new york": 3})


def test_registered_names_stay():
    """Configs and saved pipelines refer to them."""
    names = {
        "factories": "bilou_ner span_segmenter spanft_encoder text_regressor",
        "segmenters": "NgramSegmenter NltkChunkSegmenter RandomSegmenter",
        "architectures": "AttentionPooling BilouTagger ClsTextCat CnnPooling "
        "EncoderListener FirstPooling HuggingFaceEncoder MaxPooling SpanTextCat "
        "SpanTok2Vec Tok2VecEncoder",
        "callbacks": "freeze_transformer group_parameters prepare_training",
        "layers": "BoundaryAttentionReducer LinearCrossEntropy",
        "misc": "segment_suggester",
        "optimizers": "GroupedAdam",
        "readers": "ConllCorpus DatasetCorpus HeldOutCorpus NerDataset NgramDictionary "
        "TableCorpus",
        "scorers": "classification_scorer regression_scorer",
        "tokenizers": "PairTokenizer",
    }
    for group, listed in names.items():
        known = getattr(spacy_registry, group).get_all()
        for name in listed.split():
            assert (
                name if group == "factories" else f"spacy-spanft.{name}.v1"
            ) in known
