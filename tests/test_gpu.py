"""The same on a GPU as on the CPU. Run with --gpu where there is one."""

import sys

import numpy as np
import pytest
import spacy
from spacy.training import Example
from thinc.api import (
    Model,
    NumpyOps,
    chain,
    get_ops,
    reduce_mean,
    set_current_ops,
    use_ops,
)
from thinc.types import Ragged

from spacy_spanft import join_pair
from spacy_spanft.ml.grouped_adam import GroupedAdam
from spacy_spanft.ml.layers.encoder_rows import encoder_rows
from spacy_spanft.ml.layers.pooling import attention_pooling, cnn_pooling, max_pooling
from spacy_spanft.ml.layers.sequences import with_nonempty
from spacy_spanft.ml.layers.span_pool import doc_summary
from spacy_spanft.ml.layers.span_window import span_window
from spacy_spanft.ml.parameter_groups import shim_of, transformers
from spacy_spanft.training.regimes import freeze_transformer

from .ml.test_textcat import CNN, examples_for, span_model
from .tiny import OWN_LISTENER, encoder_config, make_pipeline, save_bert
from .training import regimes

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore:A text has no separator"),  # single texts
]

LAYERS = {"cnn": cnn_pooling, "attention": attention_pooling, "max": max_pooling}
LAYERS |= {"window": span_window, "nonempty": lambda: with_nonempty(reduce_mean())}
TRAIN = [("very good film", "A"), ("new york was bad", "B"), ("", "B"), ("good", "A")]


@pytest.fixture
def gpu():
    pytest.importorskip("cupy")
    before = get_ops("numpy")
    assert spacy.prefer_gpu(), "no GPU, though --gpu asks for one"
    yield get_ops("cupy")
    set_current_ops(before)


@pytest.fixture(params=[False, True])
def mixed_precision(request):
    """Whether to compute in half precision, which the fake device does not."""
    if request.param and "tests.fake_device.plugin" in sys.modules:
        pytest.skip("a real GPU is needed")
    return request.param


def numbers(array):
    return array.get() if hasattr(array, "get") else np.asarray(array)


def step(build, ops, rows, lengths, dY=None):
    """Go forward and back on one device, with weights that are the same on all."""
    with use_ops(ops.name):
        layer = build()
        X = Ragged(ops.asarray2f(rows), ops.asarray1i(lengths))
        # Of an empty batch thinc's Ragged does not tell how wide it is.
        layer.initialize(X=Ragged(ops.alloc2f(1, rows.shape[1]), ops.asarray1i([1])))
        random = np.random.default_rng(0)
        for node in layer.walk():
            for name in node.param_names:
                shape = node.get_param(name).shape
                node.set_param(name, ops.asarray(random.normal(size=shape), dtype="f"))
        Y, backprop = layer(X, is_train=True)
        flat = Y.dataXd if isinstance(Y, Ragged) else Y
        d = ops.asarray2f(np.random.default_rng(1).normal(size=flat.shape).astype("f"))
        dX = backprop(Ragged(d, X.lengths) if isinstance(Y, Ragged) else d)
        params = [(node, name) for node in layer.walk() for name in node.param_names]
        gradients = [node.get_grad(x) for node, x in params if node.has_grad(x)]
        return [*map(numbers, (flat, dX.dataXd, *gradients))]


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("lengths", [[0, 2, 0, 5], [0, 0], [40] * 32])
def test_layers(gpu, name, lengths):
    build = LAYERS[name]
    rows = np.random.default_rng(2).normal(size=(sum(lengths), 48)).astype("f")
    if not sum(lengths) and name == "window":
        pytest.skip("with_nonempty keeps empty batches away from it")
    ours, theirs = (step(build, ops, rows, lengths) for ops in (gpu, NumpyOps()))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, atol=2e-3, rtol=2e-3)


def test_rows_of_half_precision(gpu):
    """They become single where they come in, and their gradient is half again."""
    half, taken = gpu.asarray(np.ones((3, 8)), dtype="float16"), []

    def forward(model, docs, is_train):
        return [half, half[:1]], lambda d_rows: taken.extend(d_rows) or docs

    nlp = spacy.blank("en")
    source = Model("half", forward, dims={"nO": 8})
    layer = chain(encoder_rows(source), doc_summary("mean"))
    Y, backprop = layer([nlp.make_doc("a b c"), nlp.make_doc("a")], is_train=True)
    backprop(Y)
    np.testing.assert_allclose(numbers(Y), 1.0, rtol=1e-6)
    assert [str(rows.dtype) for rows in (Y, *taken)] == ["float32", *["float16"] * 2]


TOKENS = {
    "@architectures": "spacy-spanft.SpanTok2Vec.v1",
    "tok2vec": OWN_LISTENER,
    "token_pooling": {"@layers": "reduce_first.v1"},
}
BESIDE = {**TOKENS, "@architectures": "spacy-spanft.SpanTok2Vec.v2"}
MEAN_MAX = {"@layers": "spacy.mean_max_reducer.v1", "hidden_size": 16}
BOUNDARY = {"@layers": "spacy-spanft.BoundaryAttentionReducer.v1", "hidden_size": 16}
SPANCAT = {"@architectures": "spacy-spanft.SpanCategorizer.v1", "tok2vec": TOKENS}
LOGISTIC = {"@layers": "spacy.LinearLogistic.v1"}
HEADS = {
    "textcat": span_model(CNN, CNN, tok2vec=OWN_LISTENER, dropout=0.0),
    "ner": {**regimes.PARSER, "hidden_width": 16, "tok2vec": TOKENS},
    "bilou_ner": {"@architectures": "spacy-spanft.BilouTagger.v1", "tok2vec": BESIDE},
    "spancat": {**SPANCAT, "reducer": MEAN_MAX, "scorer": LOGISTIC},
    "spancat_singlelabel": {
        **SPANCAT,
        "reducer": BOUNDARY,
        "scorer": {"@layers": "Softmax.v2"},
    },
}


def make(folder, mixed_precision=False, head="textcat"):
    precision = "fp16" if mixed_precision else "single"
    encoder = encoder_config(folder, separator="[SEP]", precision=precision)
    component = {"model": HEADS[head]}
    if head in ("spancat", "spancat_singlelabel"):
        component["suggester"] = {"@misc": "spacy-spanft.segment_suggester.v1"}
    components = {
        "transformer": encoder,
        "span_segmenter": {"separator": "[SEP]"},
        head: component,
    }
    return make_pipeline(components, ["new york", "very good"], "[SEP]")


def test_a_pipeline_learns_and_loads_on_the_cpu(gpu, tmp_path, mixed_precision):
    nlp = make(save_bert(tmp_path / "bert"), mixed_precision)
    examples = examples_for(nlp, TRAIN)
    optimizer = nlp.initialize(lambda: examples)
    # Half precision begins with steps that overflow, and are skipped.
    rate, n_steps = (0.003, 80) if mixed_precision else (0.01, 30)
    optimizer.learn_rate = rate
    for _ in range(n_steps):
        nlp.update(examples, sgd=optimizer, annotates=["span_segmenter"])
    texts = [text for text, _ in TRAIN if text]
    pairs = [join_pair("new york", "very good film"), "", "a single text"]
    assert all(np.isfinite(doc.cats["A"]) for doc in nlp.pipe(pairs))
    scores = [doc.cats["A"] for doc in nlp.pipe(texts)]
    assert [score > 0.5 for score in scores] == [True, False, True]
    nlp.to_disk(tmp_path / "pipeline")
    spacy.require_cpu()
    alone = [doc.cats["A"] for doc in spacy.load(tmp_path / "pipeline").pipe(texts)]
    np.testing.assert_allclose(alone, scores, atol=0.05 if mixed_precision else 1e-3)


@pytest.mark.parametrize("head", [*HEADS][1:])
def test_entities_and_spans(gpu, tmp_path, head):
    nlp = make(save_bert(tmp_path / "bert"), head=head)
    examples = []
    for text, gold in [("new york was bad", [(0, 8, "X")]), ("", []), ("it is", [])]:
        golds = {"entities": gold, "spans": {"sc": gold}}
        examples.append(Example.from_dict(nlp.make_doc(text), golds))
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(40):
        nlp.update(examples, sgd=optimizer, annotates=["span_segmenter"])

    def predicted(nlp):
        docs = list(nlp.pipe(["new york was bad", "", "it is"]))
        groups = [d.ents if head.endswith("ner") else d.spans["sc"] for d in docs]
        return [[(span.text, span.label_) for span in group] for group in groups]

    assert predicted(nlp) == [[("new york", "X")], [], []]
    nlp.to_disk(tmp_path / "pipeline")
    spacy.require_cpu()
    assert predicted(spacy.load(tmp_path / "pipeline")) == [[("new york", "X")], [], []]


def test_head_first(gpu, tmp_path, mixed_precision):
    """Frozen, thawed, and learning at two rates; the scaler waits."""
    bert = save_bert(tmp_path / "bert")
    scaling = {"growth_interval": 1} if mixed_precision else {}
    settings = {"mixed_precision": mixed_precision, "grad_scaler_config": scaling}
    nlp, examples = regimes.initialized(regimes.make(bert, "textcat", **settings))
    freeze = freeze_transformer(until_step=5)
    adam = GroupedAdam(0.01, transformer_rate=0.003, layer_decay=0.9, L2=0.1)
    (transformer,) = transformers(nlp.get_pipe("transformer").model)
    scaler = shim_of(transformer)._grad_scaler
    scale = float(scaler._scale)
    before = regimes.hash_of(nlp)
    for n in range(60):
        if n == 5:
            assert float(scaler._scale) == scale
        if n == 6:  # doubled, or halved by an overflow
            assert (float(scaler._scale) == scale) == (not mixed_precision)
        freeze(nlp, {"step": n, "epoch": 0})
        regimes.step(nlp, examples, adam)
        assert (regimes.hash_of(nlp) == before) == (n < 5)
    assert regimes.learns(nlp)
