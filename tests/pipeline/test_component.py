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
    assert places_of(pipeline.pipe(TEXTS, batch_size=2)) == places_of(docs)
    component = pickle.loads(pickle.dumps(pipeline.get_pipe("span_segmenter")))
    assert texts_of(component.pipe(map(pipeline.make_doc, TEXTS))) == SPANS
    assert texts_of(pipeline.pipe(TEXTS, n_process=2, batch_size=4)) == SPANS


def test_a_dictionary_that_is_missing_is_not_replaced():
    nlp = make(dictionary="none")
    for _ in range(2):
        with pytest.raises(SpanftError, match="There is no file 'none'"):
            nlp("new york")


def test_spans_of_others_are_kept(pipeline):
    doc = pipeline.make_doc("new york")
    doc.spans["ngrams"] = [doc[0:1]]
    with pytest.raises(SpanftError, match=r"doc.spans\['ngrams'\] already exists"):
        pipeline(doc)
    pipeline.get_pipe("span_segmenter").overwrite = True
    assert texts_of([pipeline(doc)]) == [["new york"]]


def test_own_spans_are_written_again(pipeline):
    doc = pipeline("new york")
    again = [
        doc,
        Doc(pipeline.vocab).from_json(doc.to_json()),
        next(DocBin(docs=[doc]).get_docs(pipeline.vocab)),
    ]
    assert texts_of(map(pipeline, again)) == [["new york"]] * 3


def test_singletons(dictionary):
    nlp = make(dictionary, singletons=True, spans_key="all")
    docs = nlp.pipe(["in New York .", ""])
    assert texts_of(docs, "all") == [["in", "New York", "."], []]


def test_reads_the_dictionary_once_and_keeps_it(dictionary, tmp_path):
    path = tmp_path / "build" / "a.tsv.gz"
    dictionary.to_disk(path)
    reader = {"@readers": "spacy-spanft.NgramDictionary.v1", "path": str(path)}
    nlp = make()
    blocks = {"span_segmenter": {"dictionary": {**reader, "min_count": 6}}}
    nlp.config["initialize"]["components"] = blocks
    nlp.initialize()
    assert texts_of(nlp.pipe(["united airlines in new york"])) == [["new york"]]
    nlp.to_disk(tmp_path / "a")
    path.unlink()  # what it was made of need not be there later, nor elsewhere
    other = spacy.load(tmp_path / "a")
    assert texts_of(other.pipe(["united airlines in new york"])) == [["new york"]]
    other.to_disk(tmp_path / "b")
    name = "span_segmenter/segmenter/dictionary.tsv.gz"
    one, two = ((tmp_path / x / name) for x in "ab")
    assert one.read_bytes() == two.read_bytes()
    one.write_bytes(one.read_bytes()[:50])
    with pytest.raises(SpanftError, match=r"dictionary.tsv.gz is .* damaged"):
        spacy.load(tmp_path / "a")
    with pytest.raises(SpanftError, match=r"There is no file .*a\.tsv\.gz"):
        nlp.initialize()


def test_a_dictionary_of_the_settings_is_used_and_saved(dictionary, tmp_path):
    path = tmp_path / "mine.tsv.gz"
    dictionary.to_disk(path)
    settings, text = {"dictionary": str(path)}, "the united states of america"
    unused = make(**settings)
    unused.to_disk(tmp_path / "saved")
    used = make(**settings)
    assert texts_of([used(text)]) == [[text]]
    component = make(**settings).get_pipe("span_segmenter")
    component.from_bytes(component.to_bytes(exclude=["segmenter"]))
    assert texts_of([component(used.make_doc(text))]) == [[text]]
    path.unlink()
    assert texts_of([spacy.load(tmp_path / "saved")(text)]) == [[text]]


def test_dictionary_for_another_language(dictionary):
    nlp = make(lang="de")
    with pytest.warns(UserWarning, match="language 'de' with the default"):
        nlp("in der Stadt")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp("once is enough")
        make(dictionary, "de")("in der Stadt")


def segmenting(segmenter):
    component = SpanSegmenter(NLP, segmenter=segmenter)
    return lambda text: component(NLP.make_doc(text))


def test_wrong_spans_of_a_segmenter():
    for spans in (
        *([(0, 3), (2, 4)], [(2, 3), (0, 1)], [(0, 5)], [(-1, 2)], [(1, 1)]),
        *([0, 2], [(0, 2, None)], [(0.0, 2.7)]),
    ):
        cut = segmenting(lambda docs, spans=spans: [spans])
        with pytest.raises(SpanftError, match=r"gave the span .* Doc of 4 tokens"):
            cut("a b c d")
    with pytest.raises(ValueError, match="shorter than argument 1"):
        segmenting(lambda docs: [])("a b")


def test_spans_of_spacy_and_numbers_of_numpy():
    cut = segmenting(lambda docs: [[doc[0:1], tuple(np.array([1, 3]))] for doc in docs])
    assert texts_of([cut("a b c d")]) == [["a", "b c"]]


def test_data_of_a_registered_segmenter_is_saved(tmp_path):
    @registry.segmenters("test.remembering.v1")
    class Remembering:
        data = b"none"

        def __call__(self, docs):
            return [[(0, 2, "HEAD")] for _ in docs]

        def to_bytes(self):
            return self.data

        def from_bytes(self, data):
            self.data = data

    settings = {"segmenter": {"@segmenters": "test.remembering.v1"}}
    nlp = make(**settings)
    assert places_of([nlp("a b c")]) == [[(0, 2, 0, 3, "HEAD")]]
    nlp.get_pipe("span_segmenter").segmenter.data = b"DATA"
    nlp.to_disk(tmp_path)
    again = make(**settings).from_bytes(nlp.to_bytes())
    for other in (spacy.load(tmp_path), again):
        assert other.get_pipe("span_segmenter").segmenter.data == b"DATA"


def test_registered_names_stay():
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
