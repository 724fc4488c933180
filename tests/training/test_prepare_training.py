"""What happens before the first step: evaluation that fits, and checks of a config."""

import csv
import json
from copy import deepcopy

import pytest
import spacy
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config, load_model_from_config

from spacy_spanft.errors import SpanftError
from spacy_spanft.training.evaluation import count_batches, evaluation_steps

from ..commands import run
from ..made_configs import CONFIGS
from ..tiny import save_bert

RATE = "training.optimizer.learn_rate"
GOOD, BAD = "a very good film", "it was not bad"
TOKENS = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    **{"width": 8, "depth": 1, "embed_size": 50, "window_size": 1},
    **{"maxout_pieces": 1, "subword_features": True},
    "pretrained_vectors": None,
}
# A pipeline that initializes in no time.
QUICK = {
    "nlp.pipeline": ["textcat"],
    "components": {
        "textcat": {
            "factory": "textcat",
            "model": {
                "@architectures": "spacy.TextCatBOW.v3",
                "exclusive_classes": True,
                "length": 1024,
                "ngram_size": 1,
                "no_output_layer": False,
            },
        }
    },
}


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    pytest.importorskip("spacy_transformers")
    return save_bert(tmp_path_factory.mktemp("bert") / "bert")


def table(file, n_rows):
    """Write a CSV file with texts of two labels."""
    rows = [(GOOD, "good") if i % 3 else (BAD, "bad") for i in range(n_rows)]
    with file.open("w", newline="") as stream:
        csv.writer(stream).writerows([("text", "label"), *rows])
    return file


@pytest.fixture
def data(tmp_path):
    return table(tmp_path / "data.csv", 40)


def quick(data, **changes):
    """Make a config of the shipped one that needs no transformer."""
    settings = {"paths.train": str(data), "paths.dev": str(data)}
    config = load_config(CONFIGS / "textcat_baseline.cfg", settings)
    for place, value in {**deepcopy(QUICK), **changes}.items():
        *sections, key = place.split(".")
        block = config
        for section in sections:
            block = block[section]
        block[key] = value
    config["paths"].pop("transformer")
    return config


def fitted(config):
    """Initialize, and read how often it will be evaluated, and up to which step."""
    training = init_nlp(config).config.interpolate()["training"]
    return training["eval_frequency"], training["max_steps"]


def is_log(row):
    """Tell the rows of spaCy's table of scores: epoch, step, losses, scores."""
    return len(row) > 4 and row[0].isdigit() and row[1].isdigit()


class TestTraining:
    """The recipe of the documentation, with sizes that it does not name."""

    @pytest.mark.parametrize("n_rows", [40, 300])
    def test_model_best_is_that_of_the_best_evaluation(self, n_rows, bert, tmp_path):
        data = table(tmp_path / "data.csv", n_rows)
        per_epoch = -(-n_rows // 32)
        n_steps = 3 * per_epoch
        done = run(
            *("train", CONFIGS / "textcat_baseline.cfg", "--output", tmp_path / "out"),
            *("--paths.train", data, "--paths.dev", data, "--paths.transformer", bert),
            *(f"--{RATE}.initial_rate", 0.04, "--gpu-id", -1),
        )
        fitted = evaluation_steps(n_steps - 1, per_epoch, 100, can_grow=False)
        said = f"eval_frequency = {fitted.eval_frequency} (it was 100), max_steps = "
        assert (
            f"{said}{fitted.n_steps} (it was 0), so that there is an evaluation"
            in done.stderr
        )
        rows = [line.split() for line in done.stdout.splitlines()]
        scores = {int(row[1]): float(row[-1]) for row in rows if is_log(row)}
        assert list(scores) == [*range(0, n_steps, fitted.eval_frequency)]
        assert fitted.n_steps >= n_steps - 3  # the rate of the last steps is next to 0
        best = max(scores, key=lambda step: scores[step])
        assert best > 0
        assert scores[best] > scores[0]
        nlp = spacy.load(tmp_path / "out" / "model-best")
        assert round(nlp.meta["performance"]["cats_score"], 2) == scores[best]
        assert nlp(GOOD).cats["good"] > 0.5 > nlp(BAD).cats["good"]


class TestFit:
    """eval_frequency and max_steps, as they are when the loop begins."""

    @pytest.mark.parametrize(
        ("limits", "expected"),
        [
            # Two batches an epoch; the last of three epochs is step 5.
            ({"max_steps": 1000, "max_epochs": 0}, (2, 1000)),
            ({"max_steps": 7, "max_epochs": 0}, (1, 7)),
            ({"max_steps": 1000, "max_epochs": 0, "eval_frequency": 1}, (1, 1000)),
            ({"max_steps": 0, "max_epochs": 3}, (1, 5)),
            ({"max_steps": 4, "max_epochs": 3}, (2, 4)),
            ({"max_steps": 99, "max_epochs": 3}, (1, 5)),
            # Five batches an epoch, so step 14; and a single step.
            ({"max_steps": 0, "max_epochs": 3, "batcher.size": 8}, (4, 12)),
            ({"max_steps": 0, "max_epochs": 1, "batcher.size": 99}, (1, 1)),
            # Without an end.
            ({"max_steps": 0, "max_epochs": 0, "optimizer.learn_rate": 0.1}, (2, 0)),
            # A stream.
            ({"max_steps": 1000, "max_epochs": -1}, (100, 1000)),
        ],
    )
    def test_sizes(self, data, limits, expected):
        changes = {f"training.{name}": value for name, value in limits.items()}
        assert fitted(quick(data, **changes)) == expected

    def test_what_fits_stays_and_nothing_is_printed(self, data, capsys):
        changes = {"training.max_steps": 9, "training.eval_frequency": 1}
        changes["training.max_epochs"] = 0
        assert fitted(quick(data, **changes)) == (1, 9)
        assert "eval_frequency" not in capsys.readouterr().err

    def test_without_batches(self, data):
        batcher = {
            **{"@batchers": "spacy.batch_by_words.v1", "size": 1},
            **{"tolerance": 0.2, "discard_oversize": True},
        }
        with pytest.raises(SpanftError, match=r"\[training\.batcher\] makes no batch"):
            init_nlp(quick(data, **{"training.batcher": batcher}))

    def test_numbers_are_drawn_as_without_it(self, data):
        """It shuffles with numbers of its own: nothing else comes out of training."""
        left = {}
        for name in ("prepare_training", "warn_unseen_labels"):
            callback = {"@callbacks": f"spacy-spanft.{name}.v1"}
            steps = {"training.max_steps": 4, "training.eval_frequency": 2}
            steps[RATE] = 0.01
            config = quick(data, **steps, **{"initialize.after_init": callback})
            nlp, _ = train(init_nlp(config))
            left[name] = nlp(GOOD).cats
        assert len({json.dumps(cats) for cats in left.values()}) == 1


class TestCountBatches:
    """As many as spaCy's loop makes."""

    def test_of_a_size_that_grows_from_epoch_to_epoch(self):
        def make():
            sizes = iter([1, 1, 2, *[4] * 99])

            def batcher(examples):
                examples = list(examples)
                while examples:
                    size = next(sizes)
                    yield examples[:size]
                    del examples[:size]

            return batcher

        # 1, 1, 2, then 4, 4, then 4, 4
        assert count_batches(range(8), make, 0, 3) == (2, 4 + 2 + 2)
        assert count_batches(range(8), make, 3, 0) == (4, None)

    def test_of_an_uncertain_number_gives_a_low_one(self):
        def batcher(examples):
            """Make as many batches as the first example says."""
            examples = list(examples)
            yield from [[one] for one in examples[: examples[0]]]

        found = count_batches(range(3, 9), lambda: batcher, 0, 9)
        assert 3 <= found.per_epoch < 9
        assert found.total < 9 * 6

    def test_of_none(self):
        """They are not waited for."""
        epochs = []

        def batcher(examples):
            epochs.append(examples)
            return iter(())

        assert count_batches(range(8), lambda: batcher, 0, 0) == (0, None)
        assert len(epochs) <= 3

    def test_more_epochs_than_are_looked_at(self):
        found = count_batches(range(8), lambda: lambda egs: ([e] for e in egs), 0, 5000)
        assert found == (8, 40000)


class TestScores:
    """Metrics that choose the model must be computed by something."""

    def weights(self, data, **weights):
        return quick(data, **{"training.score_weights": weights})

    def test_that_nothing_computes(self, data):
        config = self.weights(data, cats_matthews=1.0, cats_score=None)
        with pytest.raises(
            SpanftError, match=r"'cats_matthews', which no comp.*macro_f"
        ):
            init_nlp(config)
        scorer = {"@scorers": "spacy-spanft.classification_scorer.v1"}
        config["components"]["textcat"]["scorer"] = scorer
        init_nlp(config)

    @pytest.mark.parametrize("weight", [0.0, None])
    def test_without_weight(self, weight, data):
        init_nlp(self.weights(data, cats_fscore=weight, cats_score=1.0, speed=0.1))

    def test_of_a_component_without_labels(self, data):
        config = quick(data, **{"training.score_weights": {"ents_f": 1.0}})
        config["nlp"]["pipeline"] = ["textcat", "ner"]
        config["components"]["ner"] = {"factory": "ner"}
        with pytest.warns(UserWarning, match="'ner' learns nothing: no example"):
            init_nlp(config)

    def test_of_a_scorer_that_fails_on_gold_data(self, data):
        @spacy.registry.scorers("test_needs_predictions.v1")
        def make():
            def score(examples, **settings):
                raise KeyError("no prediction")

            return score

        config = self.weights(data, cats_fscore=1.0)
        scorer = {"@scorers": "test_needs_predictions.v1"}
        config["components"]["textcat"]["scorer"] = scorer
        init_nlp(config)


class TestConfig:
    """Settings that spaCy accepts in silence."""

    @pytest.mark.parametrize(
        ("factory", "exclusive"), [("textcat", False), ("textcat_multilabel", True)]
    )
    def test_exclusive_classes_of_the_wrong_factory(self, factory, exclusive, data):
        model = {
            "@architectures": "spacy-spanft.ClsTextCat.v1",
            "exclusive_classes": exclusive,
            "tok2vec": TOKENS,
        }
        config = quick(data)
        config["components"]["textcat"] = {"factory": factory, "model": model}
        expected = str(not exclusive).lower()
        with pytest.raises(SpanftError, match=f"exclusive_classes = {expected}"):
            init_nlp(config)
        model["exclusive_classes"] = not exclusive
        init_nlp(config)

    def spans(self, data, pipeline, annotating):
        config = quick(data)
        pooling = {"@architectures": "spacy-spanft.CnnPooling.v1"}
        model = {
            "@architectures": "spacy-spanft.SpanTextCat.v1",
            "exclusive_classes": True,
            "spans_key": "mine",
            "span_pooling": pooling,
            "doc_pooling": pooling,
            "tok2vec": TOKENS,
        }
        config["components"] = {
            "textcat": {"factory": "textcat", "model": model},
            "cut": {"factory": "span_segmenter", "spans_key": "mine"},
            "other": {"factory": "span_segmenter"},
        }
        config["nlp"]["pipeline"] = pipeline
        config["training"]["annotating_components"] = annotating
        return config

    def test_spans_that_are_not_there_in_training(self, data):
        config = self.spans(data, ["cut", "other", "textcat"], ["other"])
        expected = r'from doc.spans\[.mine.\].* = \["other", "cut"\]\.$'
        with pytest.raises(SpanftError, match=expected):
            init_nlp(config)
        config["training"]["annotating_components"] = ["cut"]
        init_nlp(config)
        config["training"].update(
            annotating_components=[], frozen_components=["textcat"]
        )
        init_nlp(config)

    def test_spans_that_are_written_too_late(self, data):
        config = self.spans(data, ["other", "textcat", "cut"], ["cut"])
        expected = r"'cut', which writes them, stands after it"
        with pytest.raises(SpanftError, match=expected):
            init_nlp(config)
        config["components"]["textcat"]["model"]["segmentation"] = "none"
        init_nlp(config)

    def test_spans_of_others(self, data):
        """Whatever else may write them is not known from the config."""
        config = self.spans(data, ["other", "textcat"], [])
        init_nlp(config)

    def test_an_error_in_dev_comes_before_training(self, data, tmp_path):
        (tmp_path / "dev.csv").write_text("text,label\na film,\n")
        config = quick(data)
        config["paths"]["dev"] = str(tmp_path / "dev.csv")
        with pytest.raises(SpanftError, match=r"Line 2 of .*dev\.csv"):
            init_nlp(config)

    def test_a_label_of_dev_alone(self, data, tmp_path):
        (tmp_path / "dev.csv").write_text("text,label\na film,good\nbad,ugly\n")
        config = quick(data)
        config["paths"]["dev"] = str(tmp_path / "dev.csv")
        with pytest.warns(UserWarning, match="has not seen .*: 'ugly'"):
            init_nlp(config)

    def test_labels_that_are_nearly_the_same(self, data, tmp_path):
        rows = "text,label\na,pos\nb,pos \nc,NEG\nd,neg\ne,other\n"
        (tmp_path / "train.csv").write_text(rows)
        config = quick(data)
        config["paths"].update(
            dict.fromkeys(("train", "dev"), str(tmp_path / "train.csv"))
        )
        expected = r"'textcat' .* letters: 'NEG' and 'neg'; 'pos' and 'pos '"
        with pytest.warns(UserWarning, match=expected):
            init_nlp(config)

    def test_without_corpora_labels_are_initialized(self, data):
        """As `nlp.initialize` does it, with examples of one's own."""
        config = quick(data)
        config["paths"].update(train=None, dev=None)
        nlp = load_model_from_config(config, auto_fill=True)
        examples = [
            spacy.training.Example.from_dict(nlp.make_doc(text), {"cats": cats})
            for text, cats in [(GOOD, {"a": 1.0, "b": 0.0}), (BAD, {"a": 0, "b": 1})]
        ]
        nlp.initialize(lambda: examples)
        assert nlp.config["training"]["eval_frequency"] == 100
