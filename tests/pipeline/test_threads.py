"""One pipeline that several threads call gives each the scores of one thread."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from ..tiny import encoder_config
from .test_encoder import make

WORDS = ["the", "film", "is", "not", "very", "good", "in", "new", "york", "city"]
TEXTS = [" ".join([*WORDS[i % 10 :][: i % 9], f"new{i}"]) for i in range(20)]
PAIR = "the film is good [SEP] a film is very good"


def make_nlp(bert, **settings):
    encoder = encoder_config(bert, **settings)
    nlp = make(bert, "textcat", "bilou_ner", encoder=encoder)
    nlp.get_pipe("bilou_ner").scores_key = "ents"
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


@pytest.mark.filterwarnings("ignore:A text has no separator")
@pytest.mark.parametrize("separator", [None, "[SEP]"])
def test_threads_share_a_pipeline(bert, separator, switching):
    nlp, texts = make_nlp(bert, separator=separator), TEXTS
    if separator:
        nlp.tokenizer.add_special_case(separator, [{"ORTH": separator}])
        texts = [PAIR if i % 2 else text for i, text in enumerate(TEXTS)]
    expected = [scores_of(nlp(text)) for text in texts]
    calls = [i * 7 % len(texts) for i in range(80)]
    with ThreadPoolExecutor(10) as pool:
        scores = list(pool.map(lambda i: scores_of(nlp(texts[i])), calls))
    assert scores == [expected[i] for i in calls]
    assert not nlp.get_pipe("transformer").shared._unread


def test_threads_share_a_stream(bert, switching):
    nlp = make_nlp(bert)

    def run(_):
        return [scores_of(doc) for doc in nlp.pipe(TEXTS, batch_size=4)]

    expected = run(0)
    with ThreadPoolExecutor(10) as pool:
        assert all(scores == expected for scores in pool.map(run, range(10)))
