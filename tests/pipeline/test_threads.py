"""One pipeline that several threads call gives each the scores of one thread."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import spacy
from spacy.tokens import Span
from spacy.training import Example

from ..tiny import OWN_LISTENER, encoder_config

POOLING = {"@architectures": "spacy-spanft.CnnPooling.v1", "kernel_size": 3}
TEXTCAT = {
    "@architectures": "spacy-spanft.SpanTextCat.v1",
    "tok2vec": OWN_LISTENER,
    "exclusive_classes": True,
    "span_pooling": POOLING,
    "doc_pooling": POOLING,
}
NER = {"@architectures": "spacy-spanft.BilouTagger.v1", "tok2vec": OWN_LISTENER}
WORDS = ["the", "film", "is", "not", "very", "good", "in", "new", "york", "city"]
TEXTS = [" ".join([*WORDS[i % 10 :][: i % 9], f"new{i}"]) for i in range(200)]
PAIR = "the film is good [SEP] a film is very good"


def make_nlp(bert, **settings):
    nlp = spacy.blank("en")
    config = encoder_config(bert, **settings)
    nlp.add_pipe(config.pop("factory"), "transformer", config=config)
    nlp.add_pipe("span_segmenter")
    nlp.add_pipe("textcat", config={"model": TEXTCAT})
    nlp.add_pipe("bilou_ner", config={"model": NER, "scores_key": "ents"})
    examples = []
    for i, text in enumerate(TEXTS[:20]):
        doc = nlp.make_doc(text)
        doc.cats = {"A": float(i % 2), "B": float(1 - i % 2)}
        doc.ents = [Span(doc, 0, 1 + (len(doc) > 1), label="X")]
        examples.append(Example(nlp.make_doc(text), doc))
    nlp.initialize(lambda: examples)
    return nlp


def scores_of(doc):
    spans = doc.spans["ents"]
    entities = [(span.start, span.end, span.label_) for span in spans]
    return doc.cats["A"], entities, list(spans.attrs["scores"])


@pytest.fixture
def switching():
    """Let threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("how", ["single texts", "pairs among them"])
def test_threads_share_a_pipeline(bert, how, switching):
    separator = "[SEP]" if how == "pairs among them" else None
    if separator is None:
        nlp, texts = make_nlp(bert), TEXTS
    else:
        with pytest.warns(UserWarning, match="no separator"):
            nlp = make_nlp(bert, separator=separator)
        nlp.tokenizer.add_special_case(separator, [{"ORTH": separator}])
        texts = [PAIR if i % 2 else text for i, text in enumerate(TEXTS)]
    expected = [scores_of(nlp(text)) for text in texts]
    calls = [i * 7 % len(texts) for i in range(600)]
    with ThreadPoolExecutor(10) as pool:
        scores = list(pool.map(lambda i: scores_of(nlp(texts[i])), calls))
    assert scores == [expected[i] for i in calls]
    assert not nlp.get_pipe("transformer").shared._unread


def test_threads_share_a_stream(bert, switching):
    nlp = make_nlp(bert)
    expected = [scores_of(doc) for doc in nlp.pipe(TEXTS, batch_size=4)]
    with ThreadPoolExecutor(10) as pool:
        runs = pool.map(
            lambda _: [scores_of(doc) for doc in nlp.pipe(TEXTS, batch_size=4)],
            range(10),
        )
    assert all(scores == expected for scores in runs)
