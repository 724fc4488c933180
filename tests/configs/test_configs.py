"""The configs: each one is whole, trains, and differs from its peer in one thing."""

import pytest
import spacy
from spacy.training.initialize import init_nlp
from spacy.util import load_config

from spacy_spanft import join_pair
from spacy_spanft.errors import SpanftError

from ..commands import run
from ..made_configs import CONFIGS
from .conftest import changed, flat

pytest.importorskip("spacy_transformers")  # of whose configs most are here

RATE = "--training.optimizer.learn_rate"
HEAD_RATE = "--training.optimizer.head_rate"


def train(config, data, bert, folder, *more, n_steps=20):
    own_rate = f"{HEAD_RATE}.max_steps", n_steps, f"{HEAD_RATE}.initial_rate", 0.01
    has_own_rate = "head_rate" in load_config(config)["training"]["optimizer"]
    run(
        *("train", config, "--output", folder / "out", "--gpu-id", -1),
        *("--paths.train", data, "--paths.dev", data, "--paths.transformer", bert),
        *("--training.max_epochs", 0, "--training.max_steps", n_steps),
        *(f"{RATE}.max_steps", n_steps),
        *(own_rate if has_own_rate else ()),
        *(f"{RATE}.initial_rate", 0.01, "--training.eval_frequency", n_steps // 2),
        *more,
        cwd=folder,
    )
    return spacy.load(folder / "out" / "model-best")


@pytest.mark.parametrize(
    ("name", "head"),
    [
        *(("textcat", "textcat"), ("pair", "textcat"), ("score", "text_regressor")),
        *(("ner", "ner"), ("bilou_ner", "bilou_ner"), ("spancat", "spancat")),
    ],
)
def test_span_and_baseline_differ_in_model_and_segmenter_only(name, head):
    files = (CONFIGS / f"{name}_{arm}.cfg" for arm in ("spanft", "baseline"))
    keys = changed(*map(load_config, files))
    allowed = (
        *("components.span_segmenter.", "initialize.components.span_segmenter."),
        f"components.{head}.model.",
        *("nlp.pipeline", "paths.dictionary", "training.annotating_components"),
    )
    assert keys
    assert all(key.startswith(allowed) for key in keys), keys
    model = {key.split(".")[3] for key in keys if key.startswith(allowed[2])}
    assert not model & {"dropout", "exclusive_classes", "state_type", "hidden_width"}


def test_two_phases_differ_in_the_regime_only():
    one, two = (load_config(CONFIGS / f"ner_{n}_phase.cfg") for n in ("one", "two"))
    keys = changed(one, two)
    allowed = ("training.before_update.", "training.optimizer.")
    assert all(key.startswith(allowed) for key in keys), keys
    # What both optimizers know is the same.
    assert keys & {*flat(one)} == {"training.optimizer.@optimizers"}
    assert flat(two)["training.optimizer.learn_rate.start_share"] == 0.1
    assert flat(two)["training.optimizer.head_rate.initial_rate"] == 1e-3


def test_single_texts_train(single, bert, tmp_path):
    nlp = train(CONFIGS / "textcat_spanft.cfg", single, bert, tmp_path)
    assert nlp.resume_training().learn_rate == 0.0  # at the first step of the warm-up
    assert nlp("a very good film").cats["A"] > 0.5
    assert nlp("new york was bad").cats["B"] > 0.5


def test_scores_of_pairs_train(paired, bert, tmp_path):
    low = ("--components.text_regressor.low", -1)
    nlp = train(CONFIGS / "score_spanft.cfg", paired, bert, tmp_path, *low, n_steps=40)
    assert nlp.meta["performance"]["cats_pearson"] > 0.9
    score = nlp(join_pair("good film", "very good film")).cats["score"]
    assert score > 0.5 > nlp("new york [SEP] it is a city").cats["score"]


@pytest.mark.parametrize(("head", "arm"), [("ner", "windows"), ("spancat", "spanft")])
def test_entities_and_spans_train(head, arm, entities, bert, tmp_path):
    config = CONFIGS / f"{head}_{arm}.cfg"
    nlp = train(config, entities, bert, tmp_path, n_steps=40)
    is_spancat = head == "spancat"
    score = "spans_sc_f" if is_spancat else "ents_f"
    assert nlp.meta["performance"][score] == 1.0
    doc = nlp("it is new york city")
    spans = doc.spans["sc"] if is_spancat else doc.ents
    expected = {"new york city", "city"} if is_spancat else {"new york city"}
    assert {span.text for span in spans} == expected


def test_spans_that_no_example_has(bert, entities):
    paths = {"train": entities, "dev": entities, "transformer": bert}
    overrides = {f"paths.{key}": str(value) for key, value in paths.items()}
    config = load_config(CONFIGS / "spancat_baseline.cfg", overrides)
    config["components"]["spancat"]["spans_key"] = "other"
    expected = r"in doc\.spans\['other'\] .* has spans in: 'sc'"
    with pytest.raises(SpanftError, match=expected):
        init_nlp(config)
