"""The encoder without spacy-transformers: every family, against plain loops."""

from inspect import signature
from itertools import chain

import numpy as np
import pytest
import spacy
from thinc.api import Adam
from tokenizers.processors import TemplateProcessing
from transformers import AutoConfig

from spacy_spanft import join_pair
from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.encoder.hf_encoder import huggingface_encoder
from spacy_spanft.ml.encoder.wordpieces import cut_windows, micro_batches

from ..tiny import FAMILIES, MORE, OTHERS, save_encoder

torch = pytest.importorskip("torch")

# An empty Doc among others, space that is a token, unknown characters, capital letters.
DOCS = [
    "New York is not a very good city.",
    "the  film \n was unbelievable",
    "",
    "\u6771 \U0001f600 in the united states",
    "  un\u00fcbelievable, caf\u00e9! ",
]
PAIRS = [
    ("New York is a city.", "it is not  bad"),
    *(("", "good"), ("bad", ""), (" new york", "walking  ")),
    ("\u6771 film", " \U0001f600 "),
    ("very bad city " * 9, "very good film " * 8),
]
NLP, PAIR_NLP = spacy.blank("en"), spacy.blank("en")
PAIR_NLP.tokenizer.add_special_case("[SEP]", [{"ORTH": "[SEP]"}])
# Longer than any window below; each word is one wordpiece for BERT.
LONG = "the film is good in new york city and a " * 6


@pytest.fixture(scope="module", params={**FAMILIES, **OTHERS, **MORE})
def family(request):
    return request.param


@pytest.fixture(scope="module")
def folder(family, tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder") / family
    return save_encoder(folder, family, max_length=60)


def make(folder, **settings):
    config = AutoConfig.from_pretrained(folder).to_dict()
    still = {x: 0.0 for x in config if "drop" in x and isinstance(config[x], float)}
    settings = {"transformer_config": still, **settings}
    model = huggingface_encoder(str(folder), **settings)
    model.initialize()
    return model


def plain_rows(model, docs, size, overlap):
    """Encode window by window, without padding: what all else must be equal to."""
    shim = model.shims[0]
    known = signature(shim.encoder.module.forward).parameters
    cut = cut_windows(docs, shim.encoder.tokenizer, size, overlap)
    for window in chain.from_iterable(cut):
        inputs = {"input_ids": torch.tensor([window.ids])}
        if window.type_ids and "token_type_ids" in known:
            inputs["token_type_ids"] = torch.tensor([window.type_ids])
        yield shim.encoder.module(**inputs)[0][0]


def real_places(rows):
    for start, encoding in zip(rows.starts, rows.encodings, strict=False):
        for number, size in enumerate(encoding.windows):
            begin = start + number * encoding.width
            yield np.arange(begin, begin + size)


def expected_rows(text, offsets, token):
    """Return the wordpieces with characters of a token, or of only space behind it."""
    start, end = token.idx, token.idx + len(token)
    actual = []
    for i, (a, b) in enumerate(offsets):
        is_space = text[a:b].isspace()
        inside = text[max(a, start) : max(start, min(b, end + is_space))]
        if inside.strip() or (inside and is_space):
            actual.append(i)
    return actual


def assert_aligned(doc, text, offsets, encoding):
    assert len(encoding.n_rows) == len(doc)
    assert len(doc) or not len(encoding.rows)
    rows_of_tokens = np.split(encoding.rows, np.cumsum(encoding.n_rows)[:-1])
    for token, rows in zip(doc, rows_of_tokens, strict=False):
        expected = expected_rows(text, offsets, token)
        assert rows.tolist() == expected, token
        assert expected or token.is_space, token


def test_rows_and_gradients_are_those_of_a_plain_loop(folder):
    model = make(folder, window=40, stride=24, max_batch_rows=64)
    tokenizer, module = model.shims[0].encoder.tokenizer, model.shims[0].encoder.module
    docs = [NLP.make_doc(text) for text in [*DOCS, LONG, "a"]]
    rows, backprop = model(docs, is_train=True)
    overlap = 40 - tokenizer.num_special_tokens_to_add() - 24
    cut = cut_windows(docs, tokenizer, 40, overlap)
    for doc, encoding, windows in zip(docs, rows.encodings, cut, strict=True):
        if len(encoding.windows) < 2:
            encoded = tokenizer(doc.text, return_offsets_mapping=True)
            ids = [window.ids for window in windows]
            assert ids == [encoded.input_ids] * len(windows)
            assert_aligned(doc, doc.text, encoded.offset_mapping, encoding)
    places = list(real_places(rows))
    weights = np.random.RandomState(0).randn(*rows.vectors.shape).astype("f")
    backprop(weights)
    weighted = [(n, p) for n, p in module.named_parameters() if p.grad is not None]
    actual = {name: weight.grad.clone() for name, weight in weighted}
    # The plain loop has gradients as PyTorch makes them, dense and one after the other.
    assert not any(gradient.is_sparse for gradient in actual.values())
    module.apply(lambda part: setattr(part, "sparse", False))
    module.zero_grad()
    module.train()
    expected = plain_rows(model, docs, 40, overlap)
    for index, vectors in zip(places, expected, strict=True):
        own = rows.vectors[index]
        np.testing.assert_allclose(own, vectors.detach().numpy(), atol=1e-5)
        vectors.backward(torch.from_numpy(weights[index]))
    assert actual
    for name, weight in weighted:
        gradient = weight.grad.numpy()
        most = max(1.0, np.abs(gradient).max())
        np.testing.assert_allclose(actual[name], gradient, atol=2e-5 * most)


def test_pairs_are_those_of_hugging_face(folder, family):
    model = make(folder, separator="[SEP]")
    tokenizer = model.shims[0].encoder.tokenizer
    docs = [PAIR_NLP.make_doc(join_pair(*pair)) for pair in PAIRS]
    if tokenizer.sep_token is None:
        with pytest.raises(SpanftError, match="sep_token"):
            model.predict(docs)
        return
    cut = cut_windows(docs, tokenizer, 60, 0, "[SEP]")
    for (window,), (one, two) in zip(cut, PAIRS, strict=True):
        encoded = tokenizer([one], [two], truncation=True, max_length=60)
        assert window.ids == encoded["input_ids"][0]
        if "token_type_ids" in tokenizer.model_input_names:
            assert window.type_ids == encoded["token_type_ids"][0]
        place = [len(one) + 1, len(one) + 1 + len("[SEP]")]
        is_separator = (window.offsets == place).all(axis=1)
        assert {*np.array(window.ids)[is_separator]} == {tokenizer.sep_token_id}
    assert np.isfinite(model.predict(docs).vectors).all()


def test_a_text_without_wordpieces(bert):
    """Some tokenizers add none of their own, and drop white space."""
    model = make(bert)
    tokenizer = model.shims[0].encoder.tokenizer
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing("$A")
    docs = [NLP.make_doc(text) for text in ("film", "  ", "new york")]
    rows = model.predict(docs)
    assert [encoding.n_rows.sum() for encoding in rows.encodings] == [1, 0, 2]
    alone = model.predict(docs[::2])
    np.testing.assert_allclose(rows.vectors, alone.vectors, atol=1e-6)


def test_the_row_of_a_text(folder, family):
    model = make(folder)
    docs = [NLP.make_doc(text) for text in ("the film", "", LONG)]
    rows = model.predict(docs)
    lasts = [index[-1] for index in real_places(rows)]
    first, last = [0, -1, 0], [lasts[0], -1, lasts[-1] - rows.starts[2]]
    # <s> of Llama begins a text, and has seen nothing of it.
    at_end = family in ("xlnet", "gpt2", "llama")
    assert rows.cls == (None if family == "t5" else last if at_end else first)
    if family in ("bert", "xlnet"):
        for where, known in (("first", first), ("last", last), ("mean", None)):
            assert make(folder, text_row=where).predict(docs).cls == known


def test_saves_and_loads(folder):
    model = make(folder)
    docs = [NLP.make_doc(text) for text in [*DOCS, LONG]]
    copy = huggingface_encoder("nowhere").from_bytes(model.to_bytes())
    one, other = model.predict(docs), copy.predict(docs)
    np.testing.assert_array_equal(one.vectors, other.vectors)
    assert one.cls == other.cls
    assert copy.get_dim("nO") == 16


@pytest.mark.parametrize(
    ("overhead", "most", "expected"),
    [
        (0.0, 50, [[2], [1, 4], [3], [0]]),
        (1.0, 50, [[2, 1, 4], [3, 0]]),
        (100.0, 50, [[2, 1, 4, 3, 0]]),
        (100.0, 40, [[2, 1, 4], [3, 0]]),
        (100.0, 4, [[2], [1, 4], [3], [0]]),
    ],
)
def test_micro_batches_are_the_cheapest(overhead, most, expected):
    batches = micro_batches(np.array([9, 2, 1, 8, 2]), overhead, most)
    assert [batch.tolist() for batch in batches] == expected


def test_wrong_settings(bert):
    with pytest.raises(SpanftError, match=r"stride is 19.*1 to 18"):
        make(bert, window=20, stride=19)
    with pytest.raises(SpanftError, match="'atn', unknown to BertConfig"):
        make(bert, transformer_config={"atn": "sdpa"})


@pytest.mark.parametrize(
    ("precision", "has_bf16", "is_single"),
    [("fp16", True, True), ("bf16", False, True), ("bf16", True, False)],
)
def test_half_precision_on_a_cpu(bert, monkeypatch, precision, has_bf16, is_single):
    """It is single precision on a CPU that does not have it."""
    capabilities = {"avx512_bf16": has_bf16}
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities, False)
    docs = [NLP(LONG)]
    expected = make(bert).predict(docs).vectors
    rows, backprop = make(bert, precision=precision).begin_update(docs)
    assert rows.vectors.dtype == np.float32
    assert np.allclose(rows.vectors, expected, atol=1e-6) == is_single
    np.testing.assert_allclose(rows.vectors, expected, atol=0.1)
    backprop(rows.vectors)


class Scaler:
    """Scales gradients as PyTorchGradScaler does, which needs a GPU."""

    found_inf = False

    def scale(self, gradient):
        return 256 * gradient

    def unscale(self, gradients):
        for gradient in gradients:
            gradient /= 256
            self.found_inf |= not gradient.isfinite().all()

    def update(self):
        self.found_inf = False


def test_scaled_gradients_of_parts_add_up(bert):
    """In fp16 with accumulate_gradient = 2."""
    gradients = []
    for scaler in (None, Scaler()):
        model = make(bert)
        (shim,) = model.shims
        shim._grad_scaler = scaler or shim._grad_scaler
        for text in (LONG, "the film"):
            rows, backprop = model.begin_update([NLP(text)])
            backprop(rows.vectors)
        of_model = {}

        def keep(key, weight, gradient, of_model=of_model):
            of_model[key[1]] = gradient.copy()
            return weight, gradient

        model.finish_update(keep)
        gradients.append(of_model)
    plain, scaled = gradients
    for name, gradient in plain.items():
        np.testing.assert_allclose(scaled[name], gradient, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("averages", [False, True])
def test_a_gradient_that_overflows_is_not_learned_from(bert, averages):
    """Neither at once nor, with averages, weight by weight."""
    optimizer, model = Adam(0.1, use_averages=averages), make(bert)
    (shim,) = model.shims
    shim._grad_scaler = Scaler()
    weight = shim.encoder.module.get_input_embeddings().weight
    before = weight.detach().clone()
    for factor, is_learned in ((np.inf, False), (1.0, True)):
        rows, backprop = model.begin_update([NLP("the film")])
        backprop(factor * rows.vectors)
        model.finish_update(optimizer)
        assert bool((weight != before).any()) == is_learned
        assert not weight.grad.any()


def test_predictions_after_an_update_drop_nothing_out(bert):
    how = {"hidden_dropout_prob": 0.5, "attention_probs_dropout_prob": 0.5}
    model, docs = make(bert, transformer_config=how), [NLP(LONG)]
    expected = model.predict(docs).vectors
    rows, _ = model.begin_update(docs)
    assert not np.allclose(rows.vectors, expected, atol=1e-3)
    np.testing.assert_array_equal(model.predict(docs).vectors, expected)


def test_optimizers_tell_a_copy_from_its_original(bert):
    model = make(bert)
    assert model.copy().shims[0].id != model.shims[0].id


def test_windows_are_in_the_order_of_the_text(bert):
    for side in ("right", "left"):
        model = make(bert, window=8, tokenizer_config={"truncation_side": side})
        shim = model.shims[0]
        (windows,) = cut_windows([NLP(LONG)], shim.encoder.tokenizer, *shim.window)
        ends = [int(window.offsets.max()) for window in windows]
        assert len(ends) > 2
        assert ends == sorted(ends)


def test_a_folder_without_the_files_of_the_tokenizer(tmp_path):
    """transformers makes a tokenizer of five special words without a warning."""
    save_encoder(tmp_path)
    for path in tmp_path.iterdir():
        if path.name not in ("config.json", "model.safetensors"):
            path.unlink()
    # Older ones raise.
    with pytest.raises(SpanftError, match=r"has no words|weights and a tokenizer"):
        huggingface_encoder(str(tmp_path)).initialize()


def test_a_long_text_in_one_window(tmp_path):
    """As ModernBERT reads it, and what is longer in windows as long as it takes."""
    folder = save_encoder(tmp_path, "modernbert", max_length=1024, n_positions=1024)
    model = make(folder)
    one, two = model.predict([NLP(LONG * n) for n in (12, 20)]).encodings
    assert (len(one.windows), len(two.windows)) == (1, 2)
    assert 600 < one.windows[0] < two.windows[0] == 1024
