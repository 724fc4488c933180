"""Greedy longest matches, against ten plain lines."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_spanft import NgramDictionary
from spacy_spanft.segmenters.matcher import HashTable
from spacy_spanft.segmenters.ngram import NgramSegmenter

from ..ml.reference import greedy_longest

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
