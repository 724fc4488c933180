"""The contract of every head and component: learn, save, load, and change nothing.

Each learns four texts by heart; one of them is empty, in the middle.
"""

import copy
import re
from typing import Any, NamedTuple

import numpy as np
import pytest
import spacy
from spacy.tokens import Span
from spacy.training import Example

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import SpanftError

from ..tiny import OWN_LISTENER, encoder_config, make_pipeline
from .test_textcat import MODELS, TOKENS

TEXTS = [
    "United Airlines Holding flew to New York .",
    "She met Bob  in Paris !",
    "",
    "nothing is here",
]
ENTITIES = [[(0, 3, "ORG"), (5, 7, "LOC")], [(2, 3, "PER"), (5, 6, "LOC")], [], []]
NGRAMS = {"united airlines holding": 3, "new york": 3}


class Head(NamedTuple):
    """A component to test.

    It may take labels after the training, and be tried without the encoder's component:
    both depend on the component, not on the layers of its head.
    """

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


def ner(tok2vec):
    parser = {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "ner",
        **{"extra_state_tokens": False, "use_upper": False},
        **{"hidden_width": 16, "maxout_pieces": 2},
    }
    return Head("ner", over(tok2vec, **parser))


def spancat(suggester, factory="spancat", **settings):
    exclusive = factory == "spancat_singlelabel"
    scorer = "Softmax.v2" if exclusive else "spacy-spanft.LinearCrossEntropy.v1"
    reducer = "spacy-spanft.BoundaryAttentionReducer.v1"
    model = {
        "@architectures": "spacy.SpanCategorizer.v1",
        "scorer": {"@layers": scorer},
        "reducer": {"@layers": reducer, "hidden_size": 16},
        "tok2vec": tokens(1),
    }
    return Head(factory, model, {"suggester": {"@misc": suggester, **settings}})


TOK2VEC = {"@architectures": "spacy.Tok2VecListener.v1", "width": 16}
BILOU = {"@architectures": "spacy-spanft.BilouTagger.v1"}
MULTILABEL = {"exclusive_classes": False}
NGRAM_SPANS = "spacy-spanft.segment_suggester.v1"
# One of each kind: what else their layers may be is tried in test_layers.py.
HEADS = {
    "textcat-cls": Head("textcat", MODELS["cls"], grows=True, is_replaced=True),
    "textcat-cnn": Head("textcat", MODELS["cnn-cnn"], grows=True, is_replaced=True),
    "textcat-attention": Head("textcat", MODELS["attention-max"]),
    "textcat-capped": Head("textcat", MODELS["capped"]),
    "textcat-tokens": Head("textcat", MODELS["tokens"]),
    "textcat-listener": Head("textcat", MODELS["cnn-cnn"] | {"tok2vec": TOK2VEC}),
    "multilabel": Head("textcat_multilabel", MODELS["cnn-cnn"] | MULTILABEL),
    "pooler": Head("textcat", {**MODELS["cls"], "pooler": True}),
    "regressor": Head("text_regressor", MODELS["cnn-cnn"] | MULTILABEL),
    "tagger": Head("tagger", over(tokens(), **{"@architectures": "spacy.Tagger.v2"})),
    "ner-1": ner(tokens(1, segmentation="none")),
    "ner-2": ner(tokens(keep_tokens=False)),
    "bilou": Head("bilou_ner", over(tokens(), **BILOU), grows=True, is_replaced=True),
    "bilou-tokens": Head("bilou_ner", over(TOKENS, **BILOU)),
    "spancat": spancat(NGRAM_SPANS, max_size=2),
    "spancat-single": spancat(NGRAM_SPANS, "spancat_singlelabel", max_size=2),
}


def make(bert, head):
    """Make a pipeline whose windows are small, so that they overlap."""
    model = head.model
    if "TransformerListener" in str(model["tok2vec"]["@architectures"]):
        model = {**model, "tok2vec": OWN_LISTENER}
    components = {
        "transformer": encoder_config(bert, window=8, stride=4),
        "span_segmenter": {},
        **({"tok2vec": {"model": TOKENS}} if model["tok2vec"] == TOK2VEC else {}),
        "head": {"factory": head.factory, "model": model, **head.settings},
    }
    nlp = make_pipeline(components)
    nlp.initialize(lambda: examples_of(nlp, head))
    dictionary = NgramDictionary(NGRAMS)
    nlp.get_pipe("span_segmenter").initialize(dictionary=dictionary)
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
    optimizer.learn_rate = 0.01
    for _ in range(n_steps):
        nlp.update(examples_of(nlp, head), sgd=optimizer, annotates=["span_segmenter"])
    return nlp


@pytest.fixture(scope="module", params=HEADS)
def head(request):
    return HEADS[request.param]


@pytest.fixture(scope="module")
def fresh(bert, head):
    """A pipeline that has not learned anything yet."""
    return make(bert, head)


@pytest.fixture(scope="module")
def trained(bert, head):
    """A pipeline that knows its four texts by heart."""
    return learn(make(bert, head), head, 40)


def test_learns_its_texts_by_heart(trained, head):
    # A wrong label of an empty text counts as one in spaCy's scorer.
    examples = [eg for eg in examples_of(trained, head) if len(eg.reference)]
    scores = trained.evaluate(examples)
    names = {
        **dict.fromkeys(["ner", "bilou_ner"], "ents_f"),
        **dict.fromkeys(["spancat", "spancat_singlelabel"], "spans_sc_f"),
        **{"tagger": "tag_acc", "text_regressor": "cats_pearson"},
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


def load(pipe, data, encoder):
    """Load a component, and link it as spaCy does in the end."""
    pipe.from_bytes(data)
    encoder.find_listeners(pipe)


def test_a_saved_weight_that_is_nan_is_named(fresh, head):
    """Our layers look at what they load; the encoder at what follows it."""
    pipe = fresh.get_pipe("head")
    encoder = dict(fresh.pipeline).get("transformer")
    for node in pipe.model.walk():
        is_ours = "spacy_spanft" in node._func.__module__
        for name in node.param_names if is_ours or encoder else ():
            weight = node.get_param(name)
            kept = weight.copy()
            weight[..., 0] = np.nan
            damaged = pipe.to_bytes()
            weight[...] = kept
            message = f"weights {name} of the layer '{node.name}'"
            with pytest.raises(SpanftError, match=re.escape(message)):
                load(pipe, damaged, encoder)
            node.set_param(name, kept)


def test_loading_into_a_trained_pipeline_names_weights_that_are_nan(trained, tmp_path):
    nlp, head = trained, trained.get_pipe("head")
    if "transformer" not in nlp.pipe_names:
        pytest.skip("nothing but an encoder looks at weights that have gradients")
    node = next(node for node in head.model.walk() if node.param_names)
    assert node.has_grad(node.param_names[0])
    kept = node.get_param(node.param_names[0])
    intact = head.to_bytes()
    kept[..., 0] = np.nan
    nlp.to_disk(tmp_path, exclude=["transformer", "tokenizer"])
    head.from_bytes(intact)
    with pytest.raises(SpanftError, match="are NaN or infinite"):
        nlp.from_disk(tmp_path, exclude=["transformer", "tokenizer"])
    head.from_bytes(intact)


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


@pytest.mark.parametrize("n", [0, 1])
def test_initializes_with_few_examples(fresh, head, n):
    if not head.grows:
        pytest.skip("it takes its labels from the examples")
    fresh.initialize(lambda: examples_of(fresh, head)[:n]) if n else fresh.initialize()
    for doc in fresh.pipe(TEXTS):
        assert np.isfinite(list(doc.cats.values())).all()


def test_the_gradient_reaches_the_vectors(fresh, head):
    nlp = fresh
    name = "head" if "HashEmbed" in str(head.model) else "transformer"
    model = nlp.get_pipe("tok2vec" if "tok2vec" in nlp.pipe_names else name).model
    before = model.to_bytes()
    learn(nlp, head, 2)
    assert model.to_bytes() != before
