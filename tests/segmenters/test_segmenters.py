"""Greedy longest matches, against ten plain lines; chance and NLTK as segmenters."""

import nltk
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk import Tree
from spacy.tokens import Doc

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import SpanftError
from spacy_spanft.segmenters import nltk_chunk
from spacy_spanft.segmenters.matcher import HashTable
from spacy_spanft.segmenters.ngram import NgramSegmenter
from spacy_spanft.segmenters.nltk_chunk import NltkChunkSegmenter, PhraseChunker
from spacy_spanft.segmenters.random import RandomSegmenter

from ..ml.reference import greedy_longest

TEXT = "The United Kingdom is made of England, Scotland, Wales and Northern Ireland."

uint64 = st.integers(1, 2**64 - 1)
tokens = st.sampled_from(["a", "b", "c", "Root", "mark", "number", "é", ".", " "])
ngrams = st.lists(tokens.filter(str.strip), min_size=2, max_size=6).map(" ".join)
dictionaries = st.dictionaries(ngrams, st.integers(1, 9), max_size=15)
batches = st.lists(st.lists(tokens, max_size=14), max_size=6)


@given(
    entries=st.dictionaries(uint64, st.integers(1, 2**32 - 1), max_size=200),
    others=st.lists(uint64, max_size=50),
)
def test_hash_table_is_a_dict(entries, others):
    keys = np.array(list(entries), np.uint64)
    table = HashTable(keys, np.array(list(entries.values()), np.uint32))
    asked = [*entries, *others, 0]
    values = table.get(np.array(asked, np.uint64))
    assert values.tolist() == [entries.get(key, 0) for key in asked]


@given(dictionary=dictionaries, batch=batches, attr=st.sampled_from(["LOWER", "ORTH"]))
def test_equals_greedy_longest_match(nlp, dictionary, batch, attr):
    ngrams = NgramDictionary(dictionary, attr=attr)
    docs = [Doc(nlp.vocab, words=words) for words in batch]
    segmenter = NgramSegmenter(ngrams)
    segmentations = segmenter(docs)
    assert segmentations == [segmenter([doc])[0] for doc in docs]
    for words, spans in zip(batch, segmentations, strict=True):
        if attr == "LOWER":
            words = [word.lower() for word in words]
        assert spans == greedy_longest(words, set(ngrams), 6)


def test_symbols_are_words(nlp):
    """spaCy's symbols have small ids in the StringStore, not hashes."""
    for word in ("root", "number", "IS_ALPHA"):
        segmenter = NgramSegmenter(NgramDictionary({f"the {word} is": 1}, attr="ORTH"))
        assert segmenter([nlp(f"so the {word} is")]) == [[(1, 4)]]


def test_prefixes_need_not_be_ngrams_and_docs_may_end_in_one(nlp):
    segmenter = NgramSegmenter(NgramDictionary({"a b c d": 1, "b c": 1}))
    docs = [nlp("a b c e a b c d"), nlp("d b c"), nlp("a b c")]
    assert segmenter(docs) == [[(1, 3), (4, 8)], [(1, 3)], [(1, 3)]]
    assert segmenter([]) == []
    segmenter = NgramSegmenter(NgramDictionary({}))
    assert segmenter([nlp("a b"), nlp("")]) == [[], []]


class TestRandom:
    @given(words=st.lists(st.sampled_from("abc "), max_size=30), seed=st.integers())
    def test_spans_are_disjoint_in_order_and_in_bounds(self, nlp, words, seed):
        doc = Doc(nlp.vocab, words=words)
        after = 0
        for start, end in RandomSegmenter([1, 1, 1, 1], seed)([doc])[0]:
            assert after <= start < end - 1 < len(doc)
            after = end

    def test_the_same_doc_always_the_same_way(self, nlp):
        segmenter = RandomSegmenter(seed=3)
        alone = segmenter([nlp(TEXT)])[0]
        assert segmenter([nlp("x"), nlp(TEXT), nlp("")])[1] == alone
        # In every process, whatever its hash seed, and in every version.
        assert alone == [(1, 3), (4, 6), (10, 12)]
        cuts = {str(RandomSegmenter(seed=s)([nlp(TEXT)])) for s in range(-1, 5)}
        assert len(cuts) > 3

    def test_lengths_are_those_asked_for(self, nlp):
        lengths = (0.5, 0.3, 0.2)
        docs = [Doc(nlp.vocab, words=[str(i), *"abcdefghij" * 50]) for i in range(40)]
        spans = [s for spans in RandomSegmenter(lengths, 0)(docs) for s in spans]
        sizes = np.bincount([end - start for start, end in spans], minlength=4)[2:]
        n_tokens = sum(map(len, docs))
        singles = n_tokens - sizes @ [2, 3]
        shares = np.array([singles, *sizes]) / (singles + sizes.sum())
        assert shares == pytest.approx(lengths, abs=0.02)
        spans = RandomSegmenter([0, 0, 1], 0)([nlp("a b c d e f g")])[0]
        assert spans == [(0, 3), (3, 6)]

    def test_lengths_that_cannot_be(self):
        for lengths in ([], [0, 0], [-1, 2], [float("nan")]):
            with pytest.raises(SpanftError, match="one or more weights"):
                RandomSegmenter(lengths, 0)


TAGGED = [
    [("the", "DT"), ("old", "JJ"), ("man", "NN"), ("has", "VBZ"), ("seen", "VBN")],
    [("a", "DT"), ("dog", "NN"), ("has", "VBZ"), ("come", "VBN")],
]
TREES = [
    Tree("S", [Tree("NP", TAGGED[0][:3]), Tree("VP", TAGGED[0][3:])]),
    Tree("S", [Tree("NP", TAGGED[1][:2]), Tree("VP", TAGGED[1][2:])]),
]


@pytest.fixture
def segmenter_of(monkeypatch):
    def make(tagger, chunker):
        monkeypatch.setattr(nltk_chunk, "load_tools", lambda _: (tagger, chunker))
        return NltkChunkSegmenter()

    return make


class TestNltk:
    def test_chunks_with_labels(self, nlp, segmenter_of):
        tagger = nltk.UnigramTagger(TAGGED, backoff=nltk.DefaultTagger("NN"))
        segmenter = segmenter_of(tagger, PhraseChunker(TREES * 5))
        expected = [(0, 3, "NP"), (3, 5, "VP"), (5, 7, "NP")]
        docs = [nlp(""), nlp("the old dog has seen a man"), nlp("  ")]
        assert segmenter(docs) == [[], expected, []]
        doc = nlp("  the old \n dog")
        spans = [doc[start:end].text for start, end, _ in segmenter([doc])[0]]
        assert spans == ["the old \n dog"]

    def test_chunks_stay_inside_sentences(self, nlp, segmenter_of):
        words = ["the", "old", "man"]
        cut = Doc(nlp.vocab, words=words, sent_starts=[True, True, False])
        all_np = nltk.RegexpParser("NP: {<.*>+}")
        segmenter = segmenter_of(nltk.DefaultTagger("NN"), all_np)
        docs = [cut, Doc(nlp.vocab, words=words)]
        assert segmenter(docs) == [[(1, 3, "NP")], [(0, 3, "NP")]]

    def test_missing_data_says_what_to_download(self, nlp, monkeypatch, tmp_path):
        nltk_chunk.load_tools.cache_clear()
        monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
        for chunker, last in (("entities", "words"), ("phrases", "conll2000")):
            message = f"loader averaged_perceptron_tagger_eng .*{last}"
            with pytest.raises(SpanftError, match=message):
                NltkChunkSegmenter(chunker)([nlp("hello world")])
