"""The contract of the component span_segmenter."""

import pickle
import warnings

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.util import registry as spacy_registry

from spacy_spanft.errors import SpanftError
from spacy_spanft.pipeline.span_segmenter import SpanSegmenter
from spacy_spanft.segmenters import registry
from spacy_spanft.segmenters.writing import with_singletons

EXPECTED = {
    "New York City is in the United States.": ["New York City", "United States"],
    "": [],
    "   ": [],
    "🙂 new\u00a0york 🙂 United Airlines": ["United Airlines"],
    "שלום עולם new york": ["new york"],
    "the United States of America": ["the United States of America"],
    "nothing here": [],
}
TEXTS, SPANS = [*EXPECTED], [*EXPECTED.values()]
NLP = spacy.blank("en")
RANDOM = {"@segmenters": "spacy-spanft.RandomSegmenter.v1", "seed": 7}


def make(ngrams=None, lang="en", name="span_segmenter", **settings):
    nlp = spacy.blank(lang)
    component = nlp.add_pipe("span_segmenter", name=name, config=settings)
    if ngrams:
        component.initialize(nlp=nlp, dictionary=ngrams)
    return nlp


@pytest.fixture
def pipeline(dictionary):
    return make(dictionary)


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
        assert places_of(pipeline.pipe(TEXTS, batch_size=batch_size)) == places_of(docs)
    component = pickle.loads(pickle.dumps(pipeline.get_pipe("span_segmenter")))
    assert texts_of(component.pipe(map(pipeline.make_doc, TEXTS))) == SPANS
    assert texts_of(pipeline.pipe(TEXTS, n_process=2, batch_size=4)) == SPANS


def test_with_singletons(dictionary):
    expected = [(0, 1), (1, 3), (3, 5, "x"), (5, 6), (6, 7)]
    assert with_singletons([(1, 3), (3, 5, "x")], 7) == expected
    assert with_singletons([], 0) == []
    nlp = make(dictionary, singletons=True, spans_key="all")
    docs = nlp.pipe(["in New York .", ""])
    assert texts_of(docs, "all") == [["in", "New York", "."], []]


def test_spans_of_others_are_kept(pipeline):
    doc = pipeline.make_doc("new york")
    doc.spans["ngrams"] = [doc[0:1]]
    with pytest.raises(SpanftError, match=r"doc.spans\['ngrams'\] already exists"):
        pipeline(doc)
    pipeline.set_error_handler(spacy.util.ignore_error)
    docs = [doc, pipeline.make_doc("new york")]
    assert texts_of(pipeline.pipe(docs, batch_size=1)) == [["new york"]]
    pipeline.get_pipe("span_segmenter").overwrite = True
    assert texts_of([pipeline(doc)]) == [["new york"]]


def test_own_spans_are_written_again(pipeline):
    doc = pipeline("new york")
    again = [
        doc,
        Doc(pipeline.vocab).from_json(doc.to_json()),
        Doc(pipeline.vocab).from_bytes(doc.to_bytes()),
        next(DocBin(docs=[doc]).get_docs(pipeline.vocab)),
        Doc.from_docs([doc, pipeline("united states")]),
    ]
    expected = [*[["new york"]] * 4, ["new york", "united states"]]
    assert texts_of(map(pipeline, again)) == expected


def initialized(dictionary):
    nlp = make()
    blocks = {"span_segmenter": {"dictionary": dictionary}}
    nlp.config["initialize"]["components"] = blocks
    nlp.initialize()
    return nlp


def test_reads_the_dictionary_once_and_keeps_it(dictionary, tmp_path):
    path = tmp_path / "build" / "a.tsv.gz"
    dictionary.to_disk(path)
    nlp = initialized(str(path))
    assert texts_of(nlp.pipe(TEXTS)) == SPANS
    nlp.to_disk(tmp_path / "a")
    path.unlink()  # what it was made of need not be there later, nor elsewhere
    other = spacy.load(tmp_path / "a")
    assert texts_of(other.pipe(TEXTS)) == SPANS
    other.to_disk(tmp_path / "b")
    name = "span_segmenter/segmenter/dictionary.tsv.gz"
    one, two = ((tmp_path / x / name).read_bytes() for x in "ab")
    assert one == two


def test_dictionaries_of_a_config(dictionary, tmp_path):
    path = str(tmp_path / "a.tsv.gz")
    dictionary.to_disk(path)
    reader = {"@readers": "spacy-spanft.NgramDictionary.v1", "path": path}
    nlp = initialized({**reader, "top_k": 1, "min_count": 2})
    assert texts_of([nlp("new york in the united states")]) == [["new york"]]
    with pytest.raises(SpanftError, match=r"no file .*missing"):
        initialized(str(tmp_path / "missing.tsv.gz"))
    component = nlp.get_pipe("span_segmenter")
    with pytest.raises(SpanftError, match=r"\(dict\), but must be an NgramDict"):
        component.initialize(dictionary={"new york": 3})
    with pytest.raises(SpanftError, match=r"Remove \[initialize.components"):
        make(dictionary, segmenter=RANDOM)


def test_a_dictionary_of_the_settings_is_used_and_saved(dictionary, tmp_path):
    path = tmp_path / "mine.tsv.gz"
    dictionary.to_disk(path)
    settings, text = {"dictionary": str(path)}, "the united states of america"
    nlp, unused = make(**settings), make(**settings)
    assert texts_of([nlp(text)]) == [[text]]
    unused.to_disk(tmp_path / "saved")
    data = unused.to_bytes()
    path.unlink()
    for loaded in (spacy.load(tmp_path / "saved"), make(**settings).from_bytes(data)):
        assert texts_of([loaded(text)]) == [[text]]
    with pytest.raises(SpanftError, match=r"There is no file '.*mine\.tsv\.gz'"):
        make(**settings)("a text")


def test_dictionary_for_another_language(dictionary):
    nlp = make(lang="de")
    with pytest.warns(UserWarning, match="language 'de' with the default"):
        nlp("in der Stadt")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp("once is enough")
        make(dictionary, "de")("in der Stadt")


def test_data_that_is_missing_or_damaged(pipeline, tmp_path):
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
        component = SpanSegmenter(NLP, segmenter=segmenter)
        return lambda text: component(NLP.make_doc(text))

    def test_registered(self):
        @registry.segmenters("test.first_two.v1")
        def first_two():
            return lambda docs: [[(0, 2, "HEAD")] if len(d) > 1 else [] for d in docs]

        nlp = make(segmenter={"@segmenters": "test.first_two.v1"})
        assert places_of([nlp("a b c")]) == [[(0, 2, 0, 3, "HEAD")]]

    def test_wrong_spans(self):
        for spans in (
            *([(0, 3), (2, 4)], [(2, 3), (0, 1)], [(0, 5)], [(-1, 2)], [(1, 1)]),
            *([0, 2], [(0, 2, "A", "B")], [(0, 2, None)], [(0.0, 2.7)], ["ab"]),
        ):
            cut = self.make(lambda docs, spans=spans: [spans])
            with pytest.raises(SpanftError, match=r"gave the span .* Doc of 4 tokens"):
                cut("a b c d")

    def test_spans_of_spacy_and_numbers_of_numpy(self):
        cut = self.make(lambda docs: [[doc[0:2], [2, 3]] for doc in docs])
        assert texts_of([cut("a b c d")]) == [["a b", "c"]]
        cut = self.make(lambda docs: [[tuple(np.array([1, 3]))] for _ in docs])
        assert texts_of([cut("a b c d")]) == [["b c"]]

    def test_no_list(self):
        with pytest.raises(SpanftError, match="It must return a list"):
            self.make(lambda docs: None)("a b")
        with pytest.raises(SpanftError, match="It must give a list"):
            self.make(lambda docs: [None])("a b")

    def test_data_is_saved(self, tmp_path):
        class Remembering:
            data = b"none"

            def __call__(self, docs):
                return [[] for _ in docs]

            def to_bytes(self):
                return self.data

            def from_bytes(self, data):
                self.data = data

        registry.segmenters("test.remembering.v1", func=Remembering)
        settings = {"segmenter": {"@segmenters": "test.remembering.v1"}}
        nlp = make(**settings)
        nlp.get_pipe("span_segmenter").segmenter.data = b"DATA"
        nlp.to_disk(tmp_path)
        again = make(**settings).from_bytes(nlp.to_bytes())
        for other in (spacy.load(tmp_path), again):
            assert other.get_pipe("span_segmenter").segmenter.data == b"DATA"


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
        form = "{}" if group == "factories" else "spacy-spanft.{}.v1"
        assert {form.format(name) for name in listed.split()} <= {*known}
