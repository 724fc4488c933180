"""The component spanft_encoder: shared, sorted, kept as long as needed, and trained."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.training import Example
from thinc.api import Adam

from spacy_spanft.errors import SpanftError
from spacy_spanft.experiments.measuring import n_parameters
from spacy_spanft.ml.encoder import sharing
from spacy_spanft.ml.encoder.hf_encoder import EncoderShim
from spacy_spanft.ml.encoder.sharing import EncoderListener
from spacy_spanft.ml.layers.sequences import TorchOps
from spacy_spanft.training.regimes import freeze_transformer

from ..ml.test_textcat import CNN, span_model
from ..tiny import (
    LISTENER,
    OWN_LISTENER,
    encoder_config,
    make_pipeline,
    transformer_config,
    weights_of,
)

torch = pytest.importorskip("torch")

MODELS = {
    "textcat": span_model(CNN, CNN, dropout=0.0),
    "tagger": {"@architectures": "spacy.Tagger.v2"},
    "bilou_ner": {"@architectures": "spacy-spanft.BilouTagger.v1"},
}
HEADS = "textcat", "tagger"
TEXTS = ["New York is not a very good city.", "", "the film"]
TEXTS += ["the  united states of america is not very  good " * 4]
TEXTS += ["un\u00fcbelievable \U0001f600", "a"]
FROZEN = {"annotates": ["span_segmenter"], "exclude": ["transformer"]}


def make(folder, *heads, listener=OWN_LISTENER, encoder=None, **settings):
    """Make a pipeline of an encoder and heads, all with the same weights."""
    encoder = encoder or encoder_config(folder)
    models = {name: {**MODELS[name], "tok2vec": listener} for name in heads or HEADS}
    components = {"transformer": {**encoder, **settings}, "span_segmenter": {}}
    components |= {name: {"model": model} for name, model in models.items()}
    nlp = make_pipeline(components, ["new york", "united states", "the film"])
    nlp.initialize(lambda: examples_of(nlp))
    return nlp


@pytest.fixture(scope="module")
def pipeline(bert):
    """A pipeline of an encoder and two heads that no test changes."""
    return make(bert)


def examples_of(nlp):
    actual = []
    for i, text in enumerate(TEXTS):
        doc = nlp.make_doc(text)
        doc.cats = {"A": float(i % 2), "B": float(1 - i % 2)}
        doc.ents = [Span(doc, 0, 1, label="X")] if text else []
        for token in doc:
            token.tag_ = "XY"[token.i % 2]
        actual.append(Example(nlp.make_doc(text), doc))
    return actual


def module_of(nlp):
    model = nlp.get_pipe("transformer").model
    shim = next(shim for node in model.walk() for shim in node.shims)
    return shim._model


def gradients(nlp, exclude=(), annotates=("span_segmenter",)):
    actual, settings = {}, {"annotates": annotates, "exclude": exclude}

    def note(key, weight, gradient):
        actual[key[1]] = gradient.copy()
        return weight, gradient

    nlp.update(examples_of(nlp), sgd=False, **settings)
    nlp.get_pipe("transformer").finish_update(note)
    return actual


def answers(docs):
    return [(doc.cats.get("A"), [token.tag_ for token in doc]) for doc in docs]


def assert_close(actual, expected):
    assert actual == [(pytest.approx(a, abs=1e-5), tags) for a, tags in expected]


@pytest.fixture
def encoded(monkeypatch):
    seen = []
    encode = EncoderShim.encode

    def noted(self, windows, *args):
        seen.extend(windows)
        return encode(self, windows, *args)

    monkeypatch.setattr(EncoderShim, "encode", noted)
    return seen


def test_as_over_spacy_transformers(bert):
    pytest.importorskip("spacy_transformers")
    # Each word is one wordpiece, so that windows of tokens are those of wordpieces.
    text = "the film is good in new york city a " * 4
    actual = []
    for encoder, listener in (
        (encoder_config(bert, window=12, stride=7), OWN_LISTENER),
        (transformer_config(bert, window=10, stride=7), LISTENER),
    ):
        nlp = make(bert, encoder=encoder, listener=listener)
        docs = list(nlp.pipe([text.strip(), "", "the film is bad"]))
        vectors = nlp.get_pipe("tagger").model.get_ref("tok2vec").predict(docs)
        actual.append((docs, vectors))
    (ours, vectors), (others, expected) = actual
    assert answers(ours) == [(pytest.approx(a), tags) for a, tags in answers(others)]
    for one, other in zip(vectors, expected, strict=True):
        np.testing.assert_allclose(one, other.reshape(one.shape), atol=1e-5)


def test_heads_multiply_as_the_encoder_does(bert):
    nlp = make(bert)
    nlp.add_pipe("tok2vec", first=True).initialize(lambda: examples_of(nlp))
    nlp.from_bytes(nlp.to_bytes())
    for name in ("tok2vec", *HEADS):
        for node in nlp.get_pipe(name).model.walk():
            assert isinstance(node.ops, TorchOps) == (name in HEADS)


def test_gradients_as_over_spacy_transformers(bert):
    pytest.importorskip("spacy_transformers")
    wide = {"model_max_length": 64}  # one window, as both cut what is longer
    theirs = transformer_config(bert)
    theirs["model"]["tokenizer_config"] |= wide
    ours = encoder_config(bert, tokenizer_config=wide)
    mine = gradients(make(bert, encoder=ours))
    wanted = gradients(make(bert, encoder=theirs, listener=LISTENER))
    assert mine.keys() == wanted.keys()
    for name, gradient in wanted.items():
        np.testing.assert_allclose(mine[name], gradient, atol=1e-5)


def test_gradients_of_heads_add_up(bert):
    both = gradients(make(bert))
    alone = [gradients(make(bert), exclude=[name]) for name in HEADS]
    for name, gradient in both.items():
        expected = sum(one.get(name, 0) for one in alone)
        np.testing.assert_allclose(gradient, expected, atol=1e-6)


def test_a_stream_is_in_order(pipeline, monkeypatch):
    monkeypatch.setattr(pipeline.get_pipe("transformer"), "n_sorted", 8)
    texts = [text[:n] for text in TEXTS for n in (3, 40, 200)]
    expected = answers(map(pipeline, texts))
    for batch_size in (1, 5, 64):
        docs = list(pipeline.pipe(texts, batch_size=batch_size))
        assert [doc.text for doc in docs] == texts
        assert_close(answers(docs), expected)
    docs = pipeline.pipe(texts, n_process=2, batch_size=9)
    assert_close(answers(docs), expected)


def test_each_text_is_encoded_once_and_its_vectors_are_not_kept(pipeline, encoded):
    docs = list(pipeline.pipe([f"the film {n}" for n in range(99)], batch_size=7))
    assert len(encoded) == 99
    unread = pipeline.get_pipe("transformer").shared._unread
    assert not unread
    with pipeline.select_pipes(disable=["tagger"]):  # which never reads its part
        docs = list(pipeline.pipe(["the film", "a"]))
    assert len(unread) == 2
    pipeline.get_pipe("transformer").rows_of(docs)  # which is not what they wait for
    assert len(unread) == 2
    del docs
    assert not unread


def test_an_error_costs_a_batch(pipeline, monkeypatch):
    """Of those that are sorted together."""
    transformer = pipeline.get_pipe("transformer")
    encode, failed = transformer.shared.encode, []

    def broken(docs):
        assert docs[0].text != "bad"
        return encode(docs)

    monkeypatch.setattr(transformer.shared, "encode", broken)
    monkeypatch.setattr(transformer, "n_sorted", 1)
    note = lambda name, pipe, docs, error: failed.append([doc.text for doc in docs])  # noqa: E731
    monkeypatch.setattr(transformer, "error_handler", note, raising=False)
    docs = pipeline.pipe(["good", "a", "bad", "film", "the"], batch_size=2)
    assert [doc.text for doc in docs] == ["good", "a", "the"]
    assert failed == [["bad", "film"]]


def test_heads_may_learn_in_turns(bert):
    """What a head left out of one update was to get is not used in the next."""
    nlp = make(bert)
    optimizer = Adam(0.001)
    (tagger,) = (x for x in nlp.get_pipe("transformer").listener_map["tagger"])
    for excluded in ("tagger", "textcat"):
        settings = {"annotates": ["span_segmenter"], "exclude": [excluded]}
        nlp.update(examples_of(nlp), sgd=False, **settings)
        nlp.get_pipe("transformer").finish_update(optimizer)
        assert tagger.received is None
    nlp.update(examples_of(nlp), sgd=optimizer, **FROZEN)


@pytest.mark.parametrize("is_loaded", [True, False])
def test_what_spacy_did_not_link_learns_too(bert, tmp_path, is_loaded):
    """It links what is enabled when a pipeline is loaded or changed."""
    nlp = make(bert)
    if is_loaded:
        nlp.to_disk(tmp_path)
        nlp = spacy.load(tmp_path, disable=HEADS)
        for name in HEADS:
            nlp.enable_pipe(name)
    else:
        with nlp.select_pipes(disable=HEADS):
            nlp.add_pipe("sentencizer")
    assert not nlp.get_pipe("transformer").listener_map
    expected, actual = gradients(make(bert)), gradients(nlp)
    for name, gradient in expected.items():
        np.testing.assert_allclose(actual[name], gradient, atol=1e-6)


def test_a_head_is_copied_without_its_encoder(bert):
    nlp = make(bert)
    nlp.resume_training()  # which copies the model of each component
    encoder, tagger = map(nlp.get_pipe, ("transformer", "tagger"))
    copied = deepcopy(nlp)
    for model, shared in (
        (tagger._rehearsal_model, encoder.shared),
        (copied.get_pipe("tagger").model, copied.get_pipe("transformer").shared),
    ):
        (listener,) = (x for x in model.walk() if isinstance(x, EncoderListener))
        assert listener.encoder is shared
    other = copied.get_pipe("transformer")
    assert other.shared.model is other.model is not encoder.model
    assert_close(answers(copied.pipe(TEXTS)), answers(nlp.pipe(TEXTS)))
    assert len(encoder.listeners) == 2


def test_a_step_that_waits_for_a_head_is_taken_before_a_prediction(bert):
    nlp = make(bert)
    settings = {"annotates": ["span_segmenter"], "exclude": ["tagger"]}
    nlp.update(examples_of(nlp), sgd=Adam(0.01), **settings)
    assert_close(answers([nlp(TEXTS[0])]), answers(nlp.pipe(TEXTS[:1])))
    nlp.update(examples_of(nlp), sgd=Adam(0.01), **settings)
    with pytest.raises(SpanftError, match=r"call finish_batch\(\)"):
        nlp.update(examples_of(nlp), **FROZEN)
    nlp.update(examples_of(nlp), sgd=Adam(0.01), **settings)
    nlp.get_pipe("transformer").finish_batch()
    nlp.update(examples_of(nlp), **FROZEN)


def test_each_weight_counts_once(bert):
    nlp = make(bert)
    sizes = [parameter.numel() for parameter in module_of(nlp).parameters()]
    for head in HEADS:
        nodes = nlp.get_pipe(head).model.walk()
        pairs = ((n, x) for n in nodes for x in n.param_names if n.has_param(x))
        sizes += [node.get_param(name).size for node, name in pairs]
    assert n_parameters(nlp) == sum(sizes)


def test_vectors_for_others(pipeline, tmp_path):
    pipeline.to_disk(tmp_path)
    setting = {"components.transformer.set_tensor": True}
    pipeline = spacy.load(tmp_path, config=setting)
    doc = pipeline("the film is good")
    assert doc.tensor.shape == (4, 16)
    listened = pipeline.get_pipe("tagger").model.get_ref("tok2vec").predict([doc])
    np.testing.assert_array_equal(doc.tensor, listened[0])


def test_the_same_doc_twice(pipeline):
    encoder = pipeline.get_pipe("transformer")
    doc = pipeline.make_doc("the film is good")
    others = [pipeline.make_doc(f"a film {i}") for i in range(5)]
    docs = [doc, doc] * 3 + others + [doc]
    assert list(pipeline.pipe(docs, batch_size=64)) == docs
    assert doc.cats == pytest.approx(pipeline("the film is good").cats, abs=1e-6)
    assert not encoder.shared._unread
    rows = encoder.rows_of([doc, others[0], doc])
    expected = encoder.predict([doc, others[0], doc])
    np.testing.assert_allclose(rows.vectors, expected.vectors, atol=1e-6)


def test_wrong_pipelines(bert):
    nlp = make(bert)
    assert nlp.get_pipe("transformer").listening_components == ["textcat", "tagger"]
    with pytest.raises(SpanftError, match="none of that name is before"):
        EncoderListener("trf").predict([nlp("the film")])
    nlp.get_pipe("transformer").update(examples_of(nlp))
    other = examples_of(nlp)
    for example in other:
        example.predicted.spans["ngrams"] = []
    with pytest.raises(SpanftError, match="other Docs than the encoder"):
        nlp.get_pipe("textcat").update(other)
    with pytest.raises(SpanftError, match="n_sorted is 0"):
        make(bert, n_sorted=0)


@pytest.mark.parametrize("how", ["annotating", "frozen for a while"])
def test_a_frozen_encoder_encodes_each_text_once(bert, encoded, monkeypatch, how):
    """And the head learns the same, also where there is room for few of its vectors."""
    settings = dict(FROZEN)
    if how == "annotating":
        settings["annotates"] = ["transformer", "span_segmenter"]
    else:
        del settings["exclude"]
    trained = set()
    for max_bytes in (2**30, 700):
        monkeypatch.setattr(sharing, "MAX_FROZEN_BYTES", max_bytes)
        nlp = make(bert, "textcat")
        freeze = freeze_transformer(until_step=100)
        encoded.clear()
        for _ in range(2):
            examples = examples_of(nlp)
            for batch in (examples[:3], examples[3:]):
                if how == "frozen for a while":
                    freeze(nlp, {"step": 0, "epoch": 0})
                nlp.update(batch, **settings)
            nlp.evaluate(examples_of(nlp))
        n_windows = 8  # of all texts
        assert (len(encoded) == n_windows) == (max_bytes == 2**30)
        trained.add(nlp.get_pipe("textcat").model.to_bytes())
    assert len(trained) == 1


def test_frozen_rows_are_forgotten_in_time(bert, encoded):
    nlp = make(bert, "textcat")
    frozen_rows = nlp.get_pipe("transformer").shared.frozen_rows
    texts = [text for text in TEXTS if text]
    nlp.update(examples_of(nlp), **FROZEN)
    assert len(frozen_rows) == len(TEXTS)
    encoded.clear()
    for _ in range(3):  # a text that was not learned from is remembered the second time
        list(nlp.pipe([*texts, "it is new"]))
    assert len(encoded) == 2
    list(nlp.pipe([f"it is {n}" for n in range(100)]))
    assert len(frozen_rows) == len(TEXTS) + 1
    nlp.update(examples_of(nlp), annotates=["span_segmenter"])
    assert not len(frozen_rows)
    before = nlp(texts[0]).cats
    nlp.update(examples_of(nlp), annotates=["span_segmenter"])
    assert nlp(texts[0]).cats != before
    nlp.update(examples_of(nlp), **FROZEN)
    nlp.from_bytes(nlp.to_bytes())
    assert not len(frozen_rows)


def test_a_pipeline_that_was_used_is_pickled(bert):
    """What it keeps of Docs is of no use to a copy, whose Docs are others."""
    nlp = make(bert)
    module_of(nlp).requires_grad_(False)
    nlp.get_pipe("transformer").update(examples_of(nlp))  # which remembers its texts
    expected = answers(nlp.pipe(TEXTS))
    assert_close(answers(pickle.loads(pickle.dumps(nlp)).pipe(TEXTS)), expected)


def test_a_doc_that_is_retokenized(pipeline):
    """Its rows are computed again, also where it has as many tokens as before."""
    encoder = pipeline.get_pipe("transformer")
    (doc,) = encoder.pipe([pipeline.make_doc("New York City today")])
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
        retokenizer.split(doc[3], ["to", "day"], [doc[2], doc[2]])
    words, spaces = zip(*((t.text, bool(t.whitespace_)) for t in doc), strict=True)
    fresh = Doc(pipeline.vocab, words, spaces)
    (actual,), (expected,) = (encoder.rows_of([one]).encodings for one in (doc, fresh))
    assert actual.n_rows.tolist() == expected.n_rows.tolist()


def test_an_update_with_an_optimizer(bert):
    """nlp.update steps before listeners have learned; the encoder's step waits."""
    moved = []
    for sgd in (Adam(0.01), False):
        nlp, losses = make(bert), []
        by_the_loop = Adam(0.01)
        for _ in range(3):
            settings = {"sgd": sgd, "annotates": ["span_segmenter"]}
            losses.append(nlp.update(examples_of(nlp), **settings)["textcat"])
            if not sgd:
                for name in ("transformer", *HEADS):
                    nlp.get_pipe(name).finish_update(by_the_loop)
        moved.append((losses, dict(module_of(nlp).named_parameters())))
    (losses, weights), (expected, others) = moved
    assert losses == pytest.approx(expected, rel=1e-4)
    assert len(set(losses)) == 3
    for name, weight in weights.items():
        if not name.endswith("key.bias"):  # which has no gradient but rounding
            torch.testing.assert_close(weight, others[name], atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("name", ["AttentionPooling", "CnnPooling"])
def test_a_pooling_of_wordpieces_may_learn(bert, name):
    pooling = {"@architectures": f"spacy-spanft.{name}.v1"}
    model = {"@architectures": "spacy.Tagger.v2"}
    model["tok2vec"] = {**OWN_LISTENER, "pooling": pooling}
    components = {"transformer": encoder_config(bert), "tagger": {"model": model}}
    nlp = make_pipeline(components)
    nlp.initialize(lambda: examples_of(nlp))
    before = weights_of(nlp)
    for _ in range(2):  # the tagger begins with zeros
        nlp.update(examples_of(nlp), sgd=Adam(0.01))
    pooled = [x for x in before if x.startswith("tagger")]
    changed = [x for x in pooled if (before[x] != weights_of(nlp)[x]).any()]
    assert len(changed) > 2


def test_the_last_part_of_a_batch_may_teach_nothing(bert):
    weights = []
    for order in (1, -1):
        nlp, sgd = make(bert, "textcat"), Adam(0.01)
        empty = Example.from_dict(nlp.make_doc(""), {"cats": {"A": 1.0, "B": 0.0}})
        for part in (examples_of(nlp), [empty])[::order]:
            nlp.update(part, sgd=False, annotates=["span_segmenter"])
        for name in ("transformer", "textcat"):
            nlp.get_pipe(name).finish_update(sgd)
        nlp.to_bytes()
        weights.append(weights_of(nlp))
    for name, array in weights[0].items():
        np.testing.assert_allclose(array, weights[1][name], atol=1e-6)
    before = weights_of(make(bert, "textcat"))
    assert any((weights[0][x] != before[x]).any() for x in before if "transf" in x)


def test_tokens_that_are_merged_after_the_encoder(bert):
    nlp = make(bert, "tagger")
    nlp.add_pipe("merge_entities", before="tagger")
    examples = examples_of(nlp)
    examples[0].predicted.ents = [Span(examples[0].predicted, 0, 2, "X")]
    with pytest.raises(SpanftError, match="other tokens"):
        nlp.update(examples, annotates=["merge_entities"])


def test_frozen_from_the_beginning(bert):
    """spaCy initializes nothing that is frozen; the encoder is loaded all the same."""
    model = {**MODELS["tagger"], "tok2vec": OWN_LISTENER}
    encoder = encoder_config(bert)
    nlp = make_pipeline({"transformer": encoder, "tagger": {"model": model}})
    examples = examples_of(nlp)
    with nlp.select_pipes(disable=["transformer"]):
        sgd = nlp.initialize(lambda: examples)
    before = [weight.detach().clone() for weight in module_of(nlp).parameters()]
    frozen = {"sgd": sgd, "exclude": ["transformer"]}
    losses = [nlp.update(examples_of(nlp), **frozen)["tagger"] for _ in range(5)]
    assert losses[-1] < losses[0]
    assert all(map(torch.equal, before, module_of(nlp).parameters()))


@pytest.mark.filterwarnings("ignore:A text has no separator")
def test_threads_share_a_pipeline(bert):
    """Each gets the scores of one thread: of single texts, pairs, and a stream."""
    encoder = encoder_config(bert, separator="[SEP]")
    nlp = make(bert, "textcat", "bilou_ner", encoder=encoder)
    nlp.tokenizer.add_special_case("[SEP]", [{"ORTH": "[SEP]"}])
    nlp.get_pipe("bilou_ner").scores_key = "ents"

    def scores_of(doc):
        spans = doc.spans["ents"]
        entities = [(span.start, span.end, span.label_) for span in spans]
        return doc.cats["A"], entities, list(spans.attrs["scores"])

    def stream(_=None):
        return [scores_of(doc) for doc in nlp.pipe(texts, batch_size=4)]

    words = ["the", "film", "is", "not", "very", "good", "in", "new", "york", "city"]
    texts = [" ".join([*words[i % 10 :][: i % 9], f"new{i}"]) for i in range(20)]
    texts[1::2] = ["the film is good [SEP] a film is very good"] * 10
    expected, streamed = [scores_of(nlp(text)) for text in texts], stream()
    calls = [i * 7 % len(texts) for i in range(60)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)  # so that they take turns as often as they can
    try:
        with ThreadPoolExecutor(6) as pool:
            scores = list(pool.map(lambda i: scores_of(nlp(texts[i])), calls))
            assert scores == [expected[i] for i in calls]
            assert all(scores == streamed for scores in pool.map(stream, range(6)))
    finally:
        sys.setswitchinterval(interval)
    assert not nlp.get_pipe("transformer").shared._unread


def test_a_component_of_another_pipeline_keeps_its_own_copy_or_warns(bert):
    old, new = make(bert), make(bert, "tagger")
    text = TEXTS[0]
    expected = old(text).cats
    with pytest.warns(UserWarning, match="'textcat' read the vectors of another enc"):
        new.add_pipe("textcat", source=old)
    old = make(bert)
    old.replace_listeners("transformer", "textcat", ["model.tok2vec"])
    new = make(bert, "tagger")
    new.add_pipe("textcat", source=old)
    assert new(text).cats == pytest.approx(expected)
    assert old(text).cats == pytest.approx(expected)
