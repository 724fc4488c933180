"""The contract of every head and component: learn, save, load, and change nothing.

Each learns four texts by heart; one of them is empty, in the middle.
"""

import copy
from typing import Any, NamedTuple

import numpy as np
import pytest
import spacy
from spacy.tokens import Span
from spacy.training import Example

from ..tiny import LISTENER, OWN_LISTENER, encoder_config, make_pipeline
from ..training.regimes import PARSER
from .test_textcat import MODELS, TOKENS

TEXTS = ["United Airlines Holding flew to New York .", "She met Bob  in Paris !"]
TEXTS += ["", "nothing is here"]
ENTITIES = [[(0, 3, "ORG"), (5, 7, "LOC")], [(2, 3, "PER"), (5, 6, "LOC")], [], []]


class Head(NamedTuple):
    """A component; it may take labels later, and be tried without the encoder's."""

    factory: str
    model: dict[str, Any]
    settings: dict[str, Any] = {}  # noqa: RUF012
    grows: bool = False
    is_replaced: bool = False


def over(tok2vec, **model):
    return {**model, "tok2vec": tok2vec}


def tokens(version=2, **settings):
    name = f"spacy-spanft.SpanTok2Vec.v{version}"
    pooling = {"@layers": "reduce_first.v1"}
    vectors = {"@architectures": name, "token_pooling": pooling, **settings}
    return over(OWN_LISTENER, **vectors)


BOUNDARY = {"@layers": "spacy-spanft.BoundaryAttentionReducer.v1", "hidden_size": 16}
SPANCAT = {
    "@architectures": "spacy.SpanCategorizer.v1",
    "scorer": {"@layers": "spacy-spanft.LinearCrossEntropy.v1"},
    "reducer": BOUNDARY,
}
SUGGESTER = {"@misc": "spacy-spanft.segment_suggester.v1", "max_size": 2}
TOK2VEC = {"@architectures": "spacy.Tok2VecListener.v1", "width": 16}
BILOU = {"@architectures": "spacy-spanft.BilouTagger.v1"}
TAGGER = {"@architectures": "spacy.Tagger.v2"}
# One of each kind: what else their layers may be is tried in test_layers.py.
HEADS = {
    "textcat-cls": Head("textcat", {**MODELS["cls"], "pooler": True}, grows=True),
    "textcat-cnn": Head("textcat", MODELS["capped"], grows=True, is_replaced=True),
    "textcat-listener": Head("textcat", MODELS["cnn-cnn"] | {"tok2vec": TOK2VEC}),
    "regressor": Head(
        "text_regressor", {**MODELS["tokens"], "exclusive_classes": False}
    ),
    "tagger": Head("tagger", over(tokens(keep_tokens=False), **TAGGER)),
    "ner": Head(
        "ner", over(tokens(1, segmentation="none"), **PARSER | {"hidden_width": 16})
    ),
    "bilou": Head("bilou_ner", over(tokens(), **BILOU), grows=True, is_replaced=True),
    "spancat": Head("spancat", over(tokens(1), **SPANCAT), {"suggester": SUGGESTER}),
}


def make(bert, head):
    """Make a pipeline whose windows are small, so that they overlap."""
    model = head.model
    if model["tok2vec"] == LISTENER:
        model = {**model, "tok2vec": OWN_LISTENER}
    components = {
        "transformer": encoder_config(bert, window=8, stride=4),
        "span_segmenter": {},
        **({"tok2vec": {"model": TOKENS}} if model["tok2vec"] == TOK2VEC else {}),
        "head": {"factory": head.factory, "model": model, **head.settings},
    }
    nlp = make_pipeline(components, ["united airlines holding", "new york"])
    nlp.initialize(lambda: examples_of(nlp, head))
    return nlp


def examples_of(nlp, head):
    examples = []
    for i, (text, entities) in enumerate(zip(TEXTS, ENTITIES, strict=True)):
        doc = nlp.make_doc(text)
        if head.factory == "text_regressor" and text:
            doc.cats = {"score": i / 3}
        elif text:
            doc.cats = {"A": float(i % 2), "B": float(1 - i % 2)}
        doc.ents = [Span(doc, *entity) for entity in entities]
        doc.spans["sc"] = list(doc.ents)
        for token in doc:
            token.tag_ = f"T{len(token)}"
        examples.append(Example(nlp.make_doc(text), doc))
    return examples


def answers(doc):
    """Return what any head may have said of a Doc, rounded to what must be equal."""
    spans = [(s.start, s.end, s.label_) for s in doc.spans.get("sc", ())]
    cats = {label: round(score, 4) for label, score in doc.cats.items()}
    entities = [(ent.start, ent.end, ent.label_) for ent in doc.ents]
    return cats, entities, sorted(spans), [token.tag_ for token in doc]


def learn(nlp, head, n_steps):
    optimizer = nlp.create_optimizer()
    optimizer.learn_rate = 0.03
    for _ in range(n_steps):
        nlp.update(examples_of(nlp, head), sgd=optimizer, annotates=["span_segmenter"])
    return nlp


@pytest.fixture(scope="module", params=HEADS)
def head(request):
    return HEADS[request.param]


@pytest.fixture(scope="module")
def begun(bert, head):
    """A pipeline, and what its vectors were in the beginning."""
    nlp = make(bert, head)
    return nlp, vectors_of(nlp).to_bytes()


@pytest.fixture(scope="module")
def trained(begun, head):
    return learn(begun[0], head, 16)


def vectors_of(nlp):
    name = "head" if "HashEmbed" in str(nlp.get_pipe("head").model) else "transformer"
    return nlp.get_pipe("tok2vec" if "tok2vec" in nlp.pipe_names else name).model


def test_learns_its_texts_by_heart(begun, trained, head):
    assert vectors_of(trained).to_bytes() != begun[1]
    # A wrong label of an empty text counts as one in spaCy's scorer.
    examples = [eg for eg in examples_of(trained, head) if len(eg.reference)]
    scores = trained.evaluate(examples)
    names = {
        **dict.fromkeys(["ner", "bilou_ner"], "ents_f"),
        **{"spancat": "spans_sc_f", "tagger": "tag_acc"},
        "text_regressor": "cats_pearson",
    }
    assert scores[names.get(head.factory, "cats_micro_f")] > 0.9


def test_saves_loads_and_answers_the_same(trained, tmp_path):
    expected = [answers(doc) for doc in trained.pipe(TEXTS)]
    trained.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert [answers(doc) for doc in loaded.pipe(TEXTS)] == expected
    loaded.from_bytes(trained.to_bytes())
    assert [answers(loaded(text)) for text in TEXTS] == expected


def test_an_empty_doc_changes_no_other(trained):
    alone = [answers(doc) for doc in trained.pipe(TEXTS[:2])]
    among = [answers(doc) for doc in trained.pipe(["", TEXTS[0], "", TEXTS[1], ""])]
    assert [among[1], among[3]] == alone
    assert [answers(doc) for doc in trained.pipe(["", ""])] == [among[0]] * 2
    assert not any(among[0][0].get(label) for label in "AB")


def test_a_new_label_changes_no_answer(trained, head):
    if not head.grows:
        pytest.skip("its labels are fixed")
    before = [answers(doc) for doc in trained.pipe(TEXTS)]
    assert trained.get_pipe("head").add_label("NEW") == 1
    for doc, (cats, *rest) in zip(trained.pipe(TEXTS), before, strict=True):
        new, *others = answers(doc)
        assert new.pop("NEW", 0.0) < 1e-3
        assert new == pytest.approx(cats, abs=1e-3)
        assert others == rest
    examples = examples_of(trained, head)
    losses = trained.update(examples, annotates=["span_segmenter"])
    assert np.isfinite(losses["head"])


def test_replaced_listeners_answer_the_same(trained, head, tmp_path):
    if not head.is_replaced:
        pytest.skip("others have the same listener at the same place")
    expected = [answers(doc) for doc in trained.pipe(TEXTS)]
    nlp = copy.deepcopy(trained)
    is_inside = "tok2vec" in head.model["tok2vec"]
    path = "model.tok2vec.tok2vec" if is_inside else "model.tok2vec"
    nlp.replace_listeners("transformer", "head", [path])
    nlp.remove_pipe("transformer")
    assert [answers(doc) for doc in nlp.pipe(TEXTS)] == expected
    nlp.to_disk(tmp_path / "after")
    loaded = spacy.load(tmp_path / "after")
    assert [answers(doc) for doc in loaded.pipe(TEXTS)] == expected


def test_initializes_with_few_examples(bert, head):
    if not head.grows:
        pytest.skip("it takes its labels from the examples")
    nlp = make(bert, head)
    for examples in (None, lambda: examples_of(nlp, head)[:1]):
        nlp.initialize(examples)
        for doc in nlp.pipe(TEXTS):
            assert np.isfinite(list(doc.cats.values())).all()
