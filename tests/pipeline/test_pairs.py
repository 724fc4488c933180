"""Two texts in one Doc: joining, splitting, and what the encoder gets."""

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from spacy_spanft import join_pair, join_pairs
from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.encoder.wordpieces import cut_windows, encoding_of
from spacy_spanft.ml.pairs import split_pair
from spacy_spanft.training.readers.classification import table_corpus

from ..tiny import OWN_LISTENER, encoder_config, make_pipeline, save_encoder
from .test_encoder import MODELS

pytest.importorskip("torch")
AutoTokenizer = pytest.importorskip("transformers").AutoTokenizer
texts = st.text(alphabet="ab .,\u00a0\t\n'é😀[]SEP", max_size=30)
PAIRS = [
    ("unbelievable", "a  film in new york , the city  that is new"),
    ("", "good"),
    ("bad", ""),
    (" new york", "walking  "),
    ("new york city is in the united states " * 3, "the film was good"),
    ("very bad city " * 9, "very good film " * 8),
]


@pytest.fixture(scope="module")
def blank():
    return make_pipeline({}, separator="[SEP]")


@given(first=texts, second=texts)
def test_a_pair_splits_into_what_was_joined(blank, first, second):
    if "[SEP]" in first:
        with pytest.raises(SpanftError, match="contains the separator"):
            join_pair(first, second)
        return
    pair = split_pair(blank.make_doc(join_pair(first, second)))
    assert (pair.first, pair.second) == (first, second)


def test_only_the_first_separator_counts(nlp, blank):
    assert split_pair(blank.make_doc("one text")) == ("one text", None, -1)
    pair = split_pair(blank.make_doc("a [SEP] b [SEP] c"))
    assert pair == ("a", "b [SEP] c", 1)
    other = make_pipeline({}, separator="|||")
    assert split_pair(other("a||| ||| b"), "|||")[:2] == ("a|||", "b")
    with pytest.raises(SpanftError, match=r"PairTokenizer\.v1"):
        split_pair(nlp("a [SEP] b"))
    with pytest.raises(SpanftError, match="white space on both sides"):
        split_pair(blank("one[SEP]two"))


def test_what_is_no_separator_or_no_pair():
    with pytest.raises(SpanftError, match="must be one word"):
        make_pipeline({}, separator="a b")
    with pytest.raises(TypeError, match="expected str instance, float found"):
        list(join_pairs([("a", float("nan"))]))


@pytest.fixture(scope="module", params=["bert", "roberta"])
def encoder(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder") / request.param
    return save_encoder(folder, request.param)


def make(encoder, separator="[SEP]"):
    components = {
        "transformer": encoder_config(encoder, separator=separator),
        "span_segmenter": {"separator": "[SEP]"},
        "textcat": {"model": {**MODELS["textcat"], "tok2vec": OWN_LISTENER}},
    }
    nlp = make_pipeline(components, ["new york"], "[SEP]")
    for label in "AB":
        nlp.get_pipe("textcat").add_label(label)
    nlp.initialize()
    return nlp


@pytest.fixture(scope="module")
def pipeline(encoder):
    return make(encoder)


def test_each_token_has_its_wordpieces(pipeline):
    tokenizer = pipeline.get_pipe("transformer").model.shims[0].encoder.tokenizer
    doc = pipeline.make_doc(join_pair("the good film", "is not in new york"))
    (windows,) = cut_windows([doc], tokenizer, 24, 0, "[SEP]")
    encoding = encoding_of(doc, windows)
    ids = np.array(windows[0].ids)
    rows = np.split(encoding.rows, np.cumsum(encoding.n_rows)[:-1])
    for token, mine in zip(doc, rows, strict=True):
        if token.text == "[SEP]":
            assert set(ids[mine]) == {tokenizer.sep_token_id}
        else:
            assert tokenizer.decode(ids[mine]).strip() == token.text
    # [CLS] and the last [SEP] belong to no token.
    assert {*range(len(ids))} - {*encoding.rows.tolist()} == {0, len(ids) - 1}


@pytest.mark.filterwarnings("ignore:A text has no separator")
def test_pipes_save_load_and_predict_the_same(pipeline, tmp_path):
    texts = [*join_pairs(PAIRS), "", "a single text"]
    actual = [doc.cats["A"] for doc in pipeline.pipe(texts)]
    alone = [pipeline(text).cats["A"] for text in texts]
    np.testing.assert_allclose(actual, alone, atol=1e-5)
    pipeline.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert [t.text for t in again("a [SEP] b")] == ["a", "[SEP]", "b"]
    message = r"no separator '\[SEP\]'.*: 'a single text'"
    with pytest.warns(UserWarning, match=message) as once:
        cats = [doc.cats["A"] for doc in again.pipe([*texts, "another one"])]
    assert len(once) == 1
    np.testing.assert_allclose(cats[:-1], actual, atol=1e-6)


def test_no_ngram_crosses_the_separator():
    ngrams = ["new york", "york [sep] city", "[sep] city", "city hall"]
    nlp = make_pipeline({"span_segmenter": {"separator": "[SEP]"}}, ngrams, "[SEP]")
    docs = nlp.pipe(["in New York", "New York [SEP] city hall", "[SEP]", ""])
    actual = [[span.text for span in doc.spans["ngrams"]] for doc in docs]
    assert actual == [["New York"], ["New York", "city hall"], [], []]


def test_a_transformer_with_another_separator(bert, tmp_path):
    nlp = make(bert, separator="</s>")
    (tmp_path / "x.tsv").write_text("text\tother\tlabel\na\tb\t1\n")
    corpus = table_corpus(tmp_path / "x.tsv", text_pair="other")
    with pytest.raises(SpanftError, match="'transformer' has separator = '</s>'"):
        list(corpus(nlp))
