"""What happens before the first step: evaluation that fits, and checks of a config."""

import json
from copy import deepcopy

import pytest
import spacy
from spacy.tokens import Span
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config

from spacy_spanft.configs.templates import change
from spacy_spanft.errors import SpanftError
from spacy_spanft.training.checks import warn_labels

from ..experiments.measured import BOW
from ..made_configs import CONFIGS
from ..ml.test_textcat import CLS, CNN, TOKENS, span_model

RATE = "training.optimizer.learn_rate"
GOOD, BAD = "a very good film", "it was not bad"


def table(file, n_rows):
    rows = [f"{GOOD},good" if i % 3 else f"{BAD},bad" for i in range(n_rows)]
    file.write_text("\n".join(["text,label", *rows]) + "\n")
    return file


@pytest.fixture
def data(tmp_path):
    return table(tmp_path / "data.csv", 40)


def quick(data, **changes):
    settings = {"paths.train": str(data), "paths.dev": str(data)}
    config = load_config(CONFIGS / "textcat_baseline.cfg", settings)
    config["nlp"]["pipeline"] = ["textcat"]
    config["components"] = {"textcat": {"factory": "textcat", "model": deepcopy(BOW)}}
    for path, value in changes.items():
        change(config, path, value, "the test")
    config["paths"].pop("transformer")
    return config


@pytest.mark.parametrize("factory", ["ner", "bilou_ner", "spancat", "tagger"])
def test_unseen_labels_of_each_component(factory, nlp):
    model = spacy.blank("en")
    model.add_pipe(factory).add_label("LOC")
    doc = nlp.make_doc("Bonn Kohl")
    doc.ents = [Span(doc, 0, 1, "LOC"), Span(doc, 1, 2, "PER")]
    doc.spans["sc"] = list(doc.ents)
    doc[0].tag_, doc[1].tag_ = "LOC", "PER"
    expected = f"'{factory}' has not seen .* can never predict: 'PER'\\."
    with pytest.warns(UserWarning, match=expected):
        warn_labels(model, [Example(doc.copy(), doc)])
    warn_labels(model, [])


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        # Two batches an epoch; the last of three epochs is step 5.
        ({"max_steps": 4, "max_epochs": 3}, (2, 4)),
        ({"max_steps": 99, "max_epochs": 3}, (1, 5)),
        # Five batches an epoch, so step 14.
        ({"max_steps": 0, "max_epochs": 3, "batcher.size": 8}, (4, 12)),
        # Without an end.
        ({"max_steps": 0, "max_epochs": 0, "optimizer.learn_rate": 0.1}, (2, 0)),
        # A stream.
        ({"max_steps": 1000, "max_epochs": -1}, (100, 1000)),
        # What is typed stays.
        ({"max_steps": 9, "max_epochs": 0, "eval_frequency": 4}, (4, 9)),
    ],
)
def test_eval_frequency_and_max_steps(data, limits, expected):
    nlp = init_nlp(quick(data, **{f"training.{k}": v for k, v in limits.items()}))
    training = nlp.config.interpolate()["training"]
    assert (training["eval_frequency"], training["max_steps"]) == expected


def test_a_share_of_the_steps_is_one_of_those_that_there_are(data):
    freeze = {"@callbacks": "spacy-spanft.freeze_transformer.v1"}
    freeze["until_share"] = "${training.dropout}"  # a variable, as init writes it
    limits = {"max_steps": 20_000, "max_epochs": 3, "eval_frequency": 2}
    changes = {**limits, "before_update": freeze, "dropout": 0.5}
    nlp = init_nlp(quick(data, **{f"training.{k}": v for k, v in changes.items()}))
    block = nlp.config["training"]["before_update"]
    assert (block["until_step"], block["until_share"]) == (3, None)


@pytest.mark.parametrize(
    ("last", "frequency", "expected"),
    [(4, 2, 2), (4, 3, 4), (4, 9, 4), (4, 1, 4), (1, 1, 1)],
)
@pytest.mark.parametrize("max_epochs", [0, -1])  # -1 streams the data
def test_without_scores_the_last_state_is_kept(
    data, capsys, last, frequency, expected, max_epochs
):
    weights = {"cats_score": 0.0}
    changes = {"max_steps": last, "eval_frequency": frequency, "score_weights": weights}
    changes["max_epochs"] = max_epochs
    nlp = init_nlp(quick(data, **{f"training.{k}": v for k, v in changes.items()}))
    assert nlp.config["training"]["eval_frequency"] == expected
    printed = capsys.readouterr().err
    assert "model-best, which is the last state" in printed
    assert ("Only the last step, 4, is" in printed) == (frequency != expected)


def test_settings_that_would_do_nothing_are_refused(data):
    probe = {"@callbacks": "spacy-spanft.prepare_training.v1", "probe": True}
    config = quick(data, **{"initialize.after_init": {**probe, "contrast": 5}})
    with pytest.raises(SpanftError, match="contrast > 0, but no text classifier has"):
        init_nlp(config)
    corpora = config["corpora"]
    corpora["dev"]["path"] = corpora["train"]["path"] = "${paths.train}"
    with pytest.raises(SpanftError, match=r"dev is '.*data.csv', but \[corpora.dev\]"):
        init_nlp(config)


def test_numbers_are_drawn_as_without_it(data):
    """It shuffles with numbers of its own: nothing else comes out of training."""
    left = set()
    for callback in ({"@callbacks": "spacy-spanft.prepare_training.v1"}, None):
        steps = {"training.max_steps": 2, "training.eval_frequency": 2}
        changes = {**steps, RATE: 0.01, "initialize.after_init": callback}
        nlp, _ = train(init_nlp(quick(data, **changes)))
        left.add(json.dumps(nlp(GOOD).cats))
    assert len(left) == 1


def test_metrics_that_choose_the_model_are_computed_by_something(data):
    weights = {"cats_matthews": 1.0, "cats_score": None, "cats_fscore": 0.0}
    config = quick(data, **{"training.score_weights": weights})
    expected = r"'cats_matthews', which no comp.*macro_f"
    with pytest.raises(SpanftError, match=expected):
        init_nlp(config)
    scorer = {"@scorers": "spacy-spanft.classification_scorer.v1"}
    config["components"]["textcat"]["scorer"] = scorer
    config["nlp"]["pipeline"] = ["textcat", "ner"]
    config["components"]["ner"] = {"factory": "ner"}
    with pytest.warns(UserWarning, match="'ner' learns nothing: no example"):
        init_nlp(config)


def test_a_model_that_reads_spans_has_them_in_training(data):
    model = span_model(CNN, CNN, TOKENS, spans_key="mine")

    def init(pipeline, annotating, frozen=(), **settings):
        config = quick(data)
        config["components"] = {
            "textcat": {"factory": "textcat", "model": {**model, **settings}},
            "cut": {"factory": "span_segmenter", "spans_key": "mine"},
            "other": {"factory": "span_segmenter"},
        }
        config["nlp"]["pipeline"] = pipeline
        components = {"annotating": annotating, "frozen": list(frozen)}
        for kind, names in components.items():
            config["training"][f"{kind}_components"] = names
        init_nlp(config)

    expected = r'from doc.spans\[.mine.\].* = \["other", "cut"\]$'
    with pytest.raises(SpanftError, match=expected):
        init(["cut", "other", "textcat"], ["other"])
    init(["cut", "other", "textcat"], [], ["textcat"])
    with pytest.raises(SpanftError, match=r"'cut' must stand before it"):
        init(["other", "textcat", "cut"], ["cut"])
    init(["other", "textcat", "cut"], ["cut"], segmentation="none")
    init(["other", "textcat"], [])  # what else may write them is not known


def test_exclusive_classes_of_the_wrong_factory(data):
    model = {**CLS, "tok2vec": TOKENS}
    config = quick(data)
    for factory, exclusive in (("textcat", False), ("textcat_multilabel", True)):
        model["exclusive_classes"] = exclusive
        config["components"]["textcat"] = {"factory": factory, "model": model}
        expected = f"exclusive_classes = {str(not exclusive).lower()}"
        with pytest.raises(SpanftError, match=expected):
            init_nlp(config)


def test_an_error_in_dev_comes_before_training(data, tmp_path):
    config = quick(data)
    config["paths"]["dev"] = str(tmp_path / "dev.csv")
    (tmp_path / "dev.csv").write_text("text,label\na film,\n")
    with pytest.raises(SpanftError, match=r"Line 2 of .*dev\.csv"):
        init_nlp(config)
