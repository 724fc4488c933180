"""What happens before the first step: evaluation that fits, and checks of a config."""

import json
from copy import deepcopy

import pytest
import spacy
from spacy.tokens import Span
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config, load_model_from_config

from spacy_spanft.errors import SpanftError
from spacy_spanft.training.checks import warn_labels
from spacy_spanft.training.schedules import evaluation_steps

from ..commands import run
from ..made_configs import CONFIGS

RATE = "training.optimizer.learn_rate"
GOOD, BAD = "a very good film", "it was not bad"
TOKENS = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    **{"width": 8, "depth": 1, "embed_size": 50, "window_size": 1},
    **{"maxout_pieces": 1, "subword_features": True},
    "pretrained_vectors": None,
}
BOW = {
    "@architectures": "spacy.TextCatBOW.v3",
    **{"exclusive_classes": True, "length": 1024, "ngram_size": 1},
    "no_output_layer": False,
}


def table(file, n_rows):
    rows = [f"{GOOD},good" if i % 3 else f"{BAD},bad" for i in range(n_rows)]
    file.write_text("\n".join(["text,label", *rows]) + "\n")
    return file


@pytest.fixture
def data(tmp_path):
    return table(tmp_path / "data.csv", 40)


def quick(data, **changes):
    """Make a config of the shipped one that initializes in no time."""
    settings = {"paths.train": str(data), "paths.dev": str(data)}
    config = load_config(CONFIGS / "textcat_baseline.cfg", settings)
    config["nlp"]["pipeline"] = ["textcat"]
    config["components"] = {"textcat": {"factory": "textcat", "model": deepcopy(BOW)}}
    for path, value in changes.items():
        *sections, key = path.split(".")
        block = config
        for section in sections:
            block = block[section]
        block[key] = value
    config["paths"].pop("transformer")
    return config


def test_model_best_is_that_of_the_best_evaluation(bert, tmp_path):
    """The recipe of the documentation, with a size that it does not name."""
    pytest.importorskip("spacy_transformers")
    data = table(tmp_path / "data.csv", 100)
    done = run(
        *("train", CONFIGS / "textcat_baseline.cfg", "--output", tmp_path / "out"),
        *("--paths.train", data, "--paths.dev", data, "--paths.transformer", bert),
        *(f"--{RATE}.initial_rate", 0.04, "--gpu-id", -1),
    )
    per_epoch, n_steps = 4, 12
    fitted = evaluation_steps(n_steps - 1, per_epoch)
    rows = [line.split() for line in done.stdout.splitlines()]
    # spaCy's table: epoch, step, losses, scores
    logged = [row for row in rows if len(row) > 4 and "".join(row[:2]).isdigit()]
    scores = {int(row[1]): float(row[-1]) for row in logged}
    assert list(scores) == [*range(0, n_steps, fitted.eval_frequency)]
    assert max(scores.values()) > scores[0]
    nlp = spacy.load(tmp_path / "out" / "model-best")
    best = max(scores.values())
    assert round(nlp.meta["performance"]["cats_score"], 2) == best > 0
    assert nlp(GOOD).cats["good"] > 0.5 > nlp(BAD).cats["good"]


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
        ({"max_steps": 7, "max_epochs": 0}, (1, 7)),
        ({"max_steps": 4, "max_epochs": 3}, (2, 4)),
        ({"max_steps": 99, "max_epochs": 3}, (1, 5)),
        # Five batches an epoch, so step 14; and a single step.
        ({"max_steps": 0, "max_epochs": 3, "batcher.size": 8}, (4, 12)),
        ({"max_steps": 0, "max_epochs": 1, "batcher.size": 99}, (1, 1)),
        # Without an end.
        ({"max_steps": 0, "max_epochs": 0, "optimizer.learn_rate": 0.1}, (2, 0)),
        # A stream.
        ({"max_steps": 1000, "max_epochs": -1}, (100, 1000)),
        # What is typed stays.
        ({"max_steps": 9, "max_epochs": 0, "eval_frequency": 3}, (3, 9)),
        ({"max_steps": 9, "max_epochs": 0, "eval_frequency": 4}, (4, 9)),
    ],
)
def test_eval_frequency_and_max_steps(data, limits, expected):
    nlp = init_nlp(quick(data, **{f"training.{k}": v for k, v in limits.items()}))
    training = nlp.config.interpolate()["training"]
    assert (training["eval_frequency"], training["max_steps"]) == expected


def test_a_training_that_is_hardly_evaluated(data):
    limits = {"max_steps": 9, "max_epochs": 0, "eval_frequency": 10}
    with pytest.warns(
        UserWarning, match="eval_frequency is 10, but the last step is 9"
    ):
        init_nlp(quick(data, **{f"training.{k}": v for k, v in limits.items()}))


def test_numbers_are_drawn_as_without_it(data):
    """It shuffles with numbers of its own: nothing else comes out of training."""
    left = set()
    for name in ("prepare_training", "warn_unseen_labels"):
        callback = {"@callbacks": f"spacy-spanft.{name}.v1"}
        steps = {"training.max_steps": 4, "training.eval_frequency": 2}
        changes = {**steps, RATE: 0.01, "initialize.after_init": callback}
        nlp, _ = train(init_nlp(quick(data, **changes)))
        left.add(json.dumps(nlp(GOOD).cats))
    assert len(left) == 1


def test_without_batches(data):
    batcher = {
        **{"@batchers": "spacy.batch_by_words.v1", "size": 1},
        **{"tolerance": 0.2, "discard_oversize": True},
    }
    with pytest.raises(SpanftError, match=r"\[training\.batcher\] makes no batch"):
        init_nlp(quick(data, **{"training.batcher": batcher}))


def test_metrics_that_choose_the_model_are_computed_by_something(data):
    weights = {"cats_matthews": 1.0, "cats_score": None, "cats_fscore": 0.0}
    config = quick(data, **{"training.score_weights": weights})
    expected = r"'cats_matthews', which no comp.*macro_f"
    with pytest.raises(SpanftError, match=expected):
        init_nlp(config)
    scorer = {"@scorers": "spacy-spanft.classification_scorer.v1"}
    config["components"]["textcat"]["scorer"] = scorer
    init_nlp(config)
    # What a component without labels computes.
    config["training"]["score_weights"] = {"ents_f": 1.0, "speed": 0.1}
    config["nlp"]["pipeline"] = ["textcat", "ner"]
    config["components"]["ner"] = {"factory": "ner"}
    with pytest.warns(UserWarning, match="'ner' learns nothing: no example"):
        init_nlp(config)


def test_a_model_that_reads_spans_has_them_in_training(data):
    pooling = {"@architectures": "spacy-spanft.CnnPooling.v1"}
    model = {
        "@architectures": "spacy-spanft.SpanTextCat.v1",
        **{"exclusive_classes": True, "spans_key": "mine"},
        **{"span_pooling": pooling, "doc_pooling": pooling, "tok2vec": TOKENS},
    }

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
    init(["cut", "other", "textcat"], ["cut"])
    init(["cut", "other", "textcat"], [], ["textcat"])
    with pytest.raises(SpanftError, match=r"'cut' must stand before it"):
        init(["other", "textcat", "cut"], ["cut"])
    init(["other", "textcat", "cut"], ["cut"], segmentation="none")
    init(["other", "textcat"], [])  # what else may write them is not known


@pytest.mark.parametrize(
    ("factory", "exclusive"), [("textcat", False), ("textcat_multilabel", True)]
)
def test_exclusive_classes_of_the_wrong_factory(factory, exclusive, data):
    model = {"@architectures": "spacy-spanft.ClsTextCat.v1", "tok2vec": TOKENS}
    model["exclusive_classes"] = exclusive
    config = quick(data)
    config["components"]["textcat"] = {"factory": factory, "model": model}
    expected = f"exclusive_classes = {str(not exclusive).lower()}"
    with pytest.raises(SpanftError, match=expected):
        init_nlp(config)
    model["exclusive_classes"] = not exclusive
    init_nlp(config)


def test_an_error_or_a_new_label_in_dev_comes_before_training(data, tmp_path):
    config = quick(data)
    config["paths"]["dev"] = str(tmp_path / "dev.csv")
    (tmp_path / "dev.csv").write_text("text,label\na film,\n")
    with pytest.raises(SpanftError, match=r"Line 2 of .*dev\.csv"):
        init_nlp(config)
    (tmp_path / "dev.csv").write_text("text,label\na film,good\nbad,ugly\n")
    with pytest.warns(UserWarning, match="'textcat' has not seen .*: 'ugly'"):
        init_nlp(config)


def test_without_corpora_labels_are_initialized(data):
    config = quick(data, **{"paths.train": None, "paths.dev": None})
    nlp = load_model_from_config(config, auto_fill=True)
    cats = {"cats": {"a": 1.0, "b": 0.0}}
    nlp.initialize(lambda: [Example.from_dict(nlp.make_doc(GOOD), cats)])
    assert nlp.config["training"]["eval_frequency"] == 0
