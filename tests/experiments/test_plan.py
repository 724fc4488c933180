"""The plan of an experiment: arms, data, and mistakes that are found before it."""

import shutil
from pathlib import Path

import pytest
import spacy
from confection import Config
from spacy.tokens import DocBin
from spacy.util import load_config

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import SpanftError
from spacy_spanft.experiments import ArmConfig, plan, read_arms
from spacy_spanft.experiments.arms import config_of
from spacy_spanft.experiments.plan import NLTK_SEGMENTER, RANDOM_SEGMENTER
from spacy_spanft.experiments.run_folder import fingerprint_of
from spacy_spanft.segmenters.random import piece_lengths

from ..commands import run as spacy_command
from ..made_configs import CONFIGS
from .matrix_place import plan as plan_place
from .matrix_place import save_docs


def test_arms_change_only_their_settings(place):
    arms = {arm.name: arm for arm in read_arms("arms.yml")}
    assert list(arms) == ["baseline", "random", "ngrams"]
    configs = {name: config_of(arm, Path("configs/tiny")) for name, arm in arms.items()}
    original = load_config("configs/tiny_spanft.cfg")
    assert configs["baseline"] == load_config("configs/tiny_baseline.cfg")
    segmenter = configs["random"]["components"]["span_segmenter"].pop("segmenter")
    assert segmenter == {"@segmenters": RANDOM_SEGMENTER, "seed": 3}
    del original["components"]["span_segmenter"]["segmenter"]
    original["initialize"]["components"] = {}  # only n-grams take a dictionary
    assert configs["random"] == original
    ngrams = configs["ngrams"]
    assert ngrams["components"]["textcat"]["model"]["use_cls"] is False
    assert ngrams["training"]["dropout"] == 0.25
    assert "span_segmenter" in ngrams["initialize"]["components"]


@pytest.mark.parametrize("name", ["textcat", "ner"])
def test_an_arm_without_spans_has_no_segmenter(name):
    without = {"segmentation": "none"}
    config = config_of(ArmConfig("a", block=without), name)
    assert config["nlp"]["pipeline"] == ["transformer", name]
    model = config["components"][name]["model"]
    assert (model if name == "textcat" else model["tok2vec"])["segmentation"] == "none"
    with_spans = config_of(ArmConfig("b"), name)
    assert "span_segmenter" in with_spans["nlp"]["pipeline"]
    with pytest.raises(SpanftError, match="sets `dictionary`, but its config has no"):
        config_of(ArmConfig("a", block=without, dictionary="x"), name)


def test_all_arms_of_a_seed_come_before_the_next_seed(place):
    runs = plan_place("data/one", "data/two", seeds=(3, 4), epochs=2)
    assert len(runs) == len({run.fingerprint for run in runs}) == 2 * 2 * 3
    assert [(run.task, run.arm, run.seed) for run in runs[:4]] == [
        *(("one", arm, 3) for arm in ("baseline", "random", "ngrams")),
        ("one", "baseline", 4),
    ]
    config = runs[0].config
    assert config["training"]["max_steps"] == 6  # 10 texts in batches of 4, twice
    assert config["training"]["optimizer"]["learn_rate"]["total_steps"] == 6
    assert config["system"]["seed"] == 3
    assert runs[-1].config["training"]["max_steps"] == 4
    assert runs[-1].folder.parts == ("out", "two", "ngrams", "4")


@pytest.mark.parametrize("ending", ["spacy", "tsv"])
def test_random_spans_have_the_lengths_of_ngrams(place, ending):
    texts = [f"A {'Good' if i % 2 else 'bad'} film {i}" for i in range(9)]
    docs = [spacy.blank("en")(text) for text in texts]
    Path("task").mkdir()
    for split in ("train", "dev"):
        if ending == "spacy":
            DocBin(docs=docs).to_disk(f"task/{split}.spacy")
        else:
            rows = "".join(f"{text}\tAB\n" for text in texts)
            Path(f"task/{split}.tsv").write_text(f"text\tlabel\n{rows}")
    Path("arms.yml").write_text(with_segmenter(RANDOM_SEGMENTER))
    config = Path("configs/tiny_spanft.cfg")
    config.write_text(config.read_text().replace("[paths]", "[paths]\ndictionary=null"))
    overrides = {"paths.dictionary": "tiny.tsv.gz"}
    (run,) = plan_place("task", seeds=[0], overrides=overrides)
    ngrams = NgramDictionary.from_disk("tiny.tsv.gz")
    expected = [round(share, 4) for share in piece_lengths(docs, ngrams)]
    segmenter = run.config["components"]["span_segmenter"]["segmenter"]
    assert segmenter["lengths"] == expected == [0.6667, 0.3333]


def with_segmenter(name):
    return f"arms: {{a: {{segmenter: {{'@segmenters': {name}}}}}}}"


def test_nltk_gets_data_and_their_note(place, monkeypatch):
    monkeypatch.setattr(plan, "has_phrase_data", lambda: False)
    Path("nltk_data").mkdir()
    Path("nltk_data/note.txt").write_text("made up\n")
    Path("arms.yml").write_text(with_segmenter(NLTK_SEGMENTER))
    (run,) = plan_place("data/one", seeds=[0], nltk_data=Path("nltk_data"))
    segmenter = run.config["components"]["span_segmenter"]["segmenter"]
    assert segmenter["data_dir"] == (place / "nltk_data").as_posix()
    assert run.note == "made up"


def test_task_json_names_the_configs(place):
    task = place / "data" / "one" / "task.json"
    for text, expected in (
        ("", r"no task\.json in 'data/one'"),
        ('{"confg": "x"}', "unknown key 'confg'. Is 'config' meant?"),
        ("[]", "not an object"),
        ("{", "is not JSON"),
    ):
        if text:
            task.write_text(text)
        with pytest.raises(SpanftError, match=expected):
            plan_place("data/one", configs="configs")
    task.write_text('{"config": "tiny"}')
    assert len(plan_place("data/one", configs="configs", seeds=[0])) == 3


def test_given_settings_are_kept(place):
    given = {"training.max_steps": 7, "training.eval_frequency": 2}
    (run, *_) = plan_place("data/one", seeds=[0], overrides=given)
    training = run.config["training"]
    assert (training["max_steps"], training["eval_frequency"]) == (7, 2)
    assert training["optimizer"]["learn_rate"]["total_steps"] == 7
    # Gradients are accumulated over parts of a batch: as many steps.
    parts = {"training.batcher.size": 2, "training.accumulate_gradient": 2}
    (run, *_) = plan_place("data/one", seeds=[0], overrides=parts)
    assert run.config["training"]["max_steps"] == 3 * 5
    Path("arms.yml").write_text("arms: {a: {set: {training.max_steps: 9}}}")
    (run,) = plan_place("data/one", seeds=[0])
    assert run.config["training"]["max_steps"] == 9


@pytest.mark.parametrize("n_texts", [7, 50, 333])
def test_each_epoch_and_the_last_step_are_evaluated(place, n_texts):
    shutil.rmtree("data/one")
    save_docs(Path("data/one"), n_texts)
    Path("arms.yml").write_text("arms: {a: {config: baseline}}")
    n_batches = -(-n_texts // 4)
    for epochs in (1, 20):
        (run,) = plan_place("data/one", seeds=[0], epochs=epochs)
        training = run.config["training"]
        steps, often = training["max_steps"], training["eval_frequency"]
        assert steps % often == 0
        assert often <= n_batches
        assert epochs * n_batches <= steps < epochs * n_batches + often + 11


def test_the_fingerprint_has_the_contents_of_files(place):
    config = Config({"a": {"words": "list.txt", "lang": "data"}})
    digests = set()
    for text in ("one", "two", "two"):
        Path("list.txt").write_text(text)
        Path("data", text).mkdir(exist_ok=True)  # "data" is not a path here
        digests.add(fingerprint_of(config))
    assert len(digests) == 2


@pytest.mark.parametrize(
    ("arms", "expected"),
    [
        ("[]", "no arms under `arms:`"),
        ("arms: {", "arms.yml is not an arms file"),
        ("arms: {a: 3}", "the arm 'a' has no settings"),
        ("arms: {a: {configs: x}}", "unknown setting 'configs'. Is 'config' meant?"),
        ("arms: {a: {block: x}}", "'block' of the arm 'a' is 'x'"),
        ("arms: {../a: {}}", "The name of an arm of arms.yml is '../a', but must be"),
        ('arms: {Été: {}, "été": {}}', "Two have the same name: an arm of arms.yml"),
        ("arms: {a: {set: {training.max_steps: x}}}", "max_steps' is 'x', not a whole"),
        ("arms: {a: {set: {training.dropout: '${x.y}'}}}", "variable"),
        ("arms: {a: {segmenter: {'@segmenters': x}}}", "arm 'a' is invalid.*'x'"),
        ("arms: {a: {set: {paths.transfomer: x}}}", "known setting. Known: dev, train"),
        ("arms: {a: {config: none}}", "There is no file 'configs/tiny_none.cfg'"),
        ("arms: {a: {set: {system.seed: 1}}}", "'system.seed' cannot be set"),
        ("arms: {a: {config: baseline, block: {x: 1}}}", "has none of these"),
        ("arms: {a: {block: {use_clss: true}}}", "use_clss.*unexpected"),
        ("arms: {a: {set: {training.droput: 0}}}", "Is 'dropout' meant"),
        ("arms: {a: {dictionary: none.gz}}", "There is no file 'none.gz'"),
    ],
)
def test_mistakes_in_arms_are_found_before_the_training(place, arms, expected):
    Path("arms.yml").write_text(arms)
    with pytest.raises(SpanftError, match=expected):
        plan_place("data/one")


def test_a_missing_encoder_and_arms_with_the_same_config(place):
    Path("arms.yml").write_text("arms: {a: {}}")
    settings = {"configs": None, "pipeline": "textcat", "seeds": [0]}
    settings["overrides"] = {"paths.transformer": "hub/none"}  # which is not looked for
    assert plan_place("data/one", **settings)
    settings["overrides"] = {"paths.transformer": "./none"}
    with pytest.raises(SpanftError, match=r"The encoder '\./none' cannot be load"):
        plan_place("data/one", **settings)
    Path("arms.yml").write_text("arms: {a: {}, b: {block: {use_cls: true}}, c: {}}")
    with pytest.warns(UserWarning, match="'a' and 'c' have the same config"):
        plan_place("data/one", seeds=[0])


@pytest.mark.parametrize(
    ("folders", "expected"),
    [
        (["nowhere"], "There is no folder 'nowhere'"),
        (["data"], r"no train\.spacy, .* in the folder 'data'"),
        (["data/one", "data/../data/one"], "Two have the same name.*'one'"),
        (["data/a:b"], "'a:b', but must be"),
        (["data/broken"], r"train\.spacy. cannot be read"),
        (["data/empty"], r"no rows in '.*dev\.spacy"),
        (["data/untrained"], r"no rows in '.*train\.spacy"),
    ],
)
def test_mistakes_in_data_are_found_before_the_training(place, folders, expected):
    for name in ("a:b", "broken", "empty", "untrained"):
        save_docs(place / "data" / name)
    (place / "data" / "broken" / "train.spacy").write_bytes(b"nothing")
    DocBin().to_disk(place / "data" / "empty" / "dev.spacy")
    DocBin().to_disk(place / "data" / "untrained" / "train.spacy")
    with pytest.raises(SpanftError, match=expected):
        plan_place(*folders)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--arm", "x"], "no arm 'x'. Known: 'baseline', 'random', 'ngrams'"),
        (["--gpu-id", "0,x"], "--gpu-id is '0,x', but must be a number"),
        (["--paths.transfomer", "x"], "'paths.transfomer', which is not a known"),
        (["--metrics", "metrics"], "with --metrics, or pass --train-only"),
    ],
)
def test_mistakes_in_options_are_one_line(place, args, expected):
    command = ["spanft", "experiment", "arms.yml", "-c", "configs/tiny"]
    command += ["-d", "data/one", "-o", "out", "--train-only", *args]
    assert expected in spacy_command(*command, ok=False).stderr


def test_head_first_configs_keep_their_schedules(place):
    shutil.copy(CONFIGS / "textcat_two_phase.cfg", place / "configs")
    rate = "training.optimizer.learn_rate.start_share"
    arms = f"a: {{config: two_phase}}, b: {{config: two_phase, set: {{{rate}: 0.4}}}}"
    Path("arms.yml").write_text(f"arms: {{{arms}}}")
    runs = plan_place("data/one", configs="configs/textcat", seeds=[0], epochs=60)
    for run, share in zip(runs, (0.1, 0.4), strict=True):
        training = run.config.interpolate()["training"]
        assert (training["max_steps"], training["max_epochs"]) == (60, 0)
        assert training["before_update"]["until_share"] == share
        assert training["optimizer"]["learn_rate"]["start_share"] == share


def test_settings_of_the_task_its_overlay_and_the_command_line(place):
    shutil.copy("tiny.tsv.gz", "data/one")
    Path("mine.cfg").write_text("[training]\ndropout = 0.7\n")
    Path("arms.yml").write_text("""arms:
  a: {dictionary: '{data}/tiny.tsv.gz'}
  b:
    dictionary:
      "@readers": spacy-spanft.NgramDictionary.v1
      path: "{data}/tiny.tsv.gz"
  c: {overlay: mine.cfg}
  d: {config: baseline}
""")
    # A path that a baseline does not have, such as --paths.dictionary.
    config = Path("configs/tiny_spanft.cfg")
    config.write_text(config.read_text().replace("train = null", "x = 1\ntrain = null"))
    runs = plan_place("data/one", seeds=[0], overrides={"paths.x": 2})
    for run in runs[:2]:
        settings = run.config["initialize"]["components"]["span_segmenter"]
        assert "data/one/tiny.tsv.gz" in str(settings["dictionary"])
    assert runs[2].config["training"]["dropout"] == 0.7
    assert [run.config["paths"]["x"] for run in runs] == [2] * 4
