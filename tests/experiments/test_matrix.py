"""The plan of a matrix: its arms, its data, and what is refused before it begins."""

import shutil
from pathlib import Path

import pytest
import spacy
from confection import Config
from spacy.tokens import DocBin
from spacy.util import load_config

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import SpanftError
from spacy_spanft.experiments.hook import RANDOM_SEGMENTER
from spacy_spanft.experiments.matrix import ArmConfig, read_arms
from spacy_spanft.experiments.matrix.arms import Pipeline, config_of
from spacy_spanft.experiments.matrix.data import find_data
from spacy_spanft.experiments.matrix.fingerprint import fingerprint
from spacy_spanft.experiments.matrix.resolving import Resolver
from spacy_spanft.segmenters.coverage import piece_lengths

from ..commands import run as spacy_command
from ..made_configs import CONFIGS
from .matrix_place import plan, save_docs

ROOT = Path(__file__).parents[2]


def test_arms_change_what_they_say(place):
    arms = {arm.name: arm for arm in read_arms("arms.yml")}
    assert list(arms) == ["baseline", "random", "ngrams"]
    made = {name: config_of(arm, Path("configs/tiny")) for name, arm in arms.items()}
    original = load_config("configs/tiny_spanft.cfg")
    assert made["baseline"] == load_config("configs/tiny_baseline.cfg")
    random = made["random"]
    expected = {"@segmenters": "spacy-spanft.RandomSegmenter.v1", "seed": 3}
    assert random["components"]["span_segmenter"].pop("segmenter") == expected
    original["components"]["span_segmenter"].pop("segmenter")
    # Only the n-grams take a dictionary.
    original["initialize"]["components"] = {}
    assert random == original
    ngrams = made["ngrams"]
    assert ngrams["components"]["textcat"]["model"]["use_cls"] is False
    assert ngrams["training"]["dropout"] == 0.25
    assert "span_segmenter" in ngrams["initialize"]["components"]


@pytest.mark.parametrize("name", ["textcat", "ner"])
def test_an_arm_without_spans_has_no_segmenter(name):
    """It would take time and memory for nothing."""
    without = {"segmentation": "none"}
    config = config_of(ArmConfig("a", block=without), Pipeline(name))
    assert config["nlp"]["pipeline"] == ["transformer", name]
    model = config["components"][name]["model"]
    block = model if name == "textcat" else model["tok2vec"]
    assert block["segmentation"] == "none"
    with_spans = config_of(ArmConfig("b"), Pipeline(name))
    assert "span_segmenter" in with_spans["nlp"]["pipeline"]
    random = {"@segmenters": RANDOM_SEGMENTER}
    for key, value in {"dictionary": "x.tsv.gz", "segmenter": random}.items():
        arm = ArmConfig("a", block=without, **{key: value})
        with pytest.raises(SpanftError, match=f"sets `{key}`, but looks at no spans"):
            config_of(arm, Pipeline(name))


def test_plan(place):
    runs = plan("data/one", "data/two", seeds=(3, 4), epochs=2)
    assert len(runs) == 2 * 2 * 3
    first = [(run.task, run.arm, run.seed) for run in runs[:4]]
    assert first == [
        *(("one", arm, 3) for arm in ("baseline", "random", "ngrams")),
        ("one", "baseline", 4),
    ]
    config = runs[0].config
    # 10 texts in batches of 4, twice.
    assert config["training"]["max_steps"] == 6
    assert config["training"]["optimizer"]["learn_rate"]["total_steps"] == 6
    assert config["system"]["seed"] == 3
    assert runs[0].n_words == 2 * 10 * 3
    assert runs[-1].config["training"]["max_steps"] == 4
    assert runs[-1].folder.parts == ("out", "two", "ngrams", "4")
    assert len({run.fingerprint for run in runs}) == len(runs)


def test_random_spans_are_as_long_as_the_n_grams(place):
    """Of data in either form; lengths that are given stay."""
    texts = [f"A {'Good' if i % 2 else 'bad'} film {i}" for i in range(9)]
    docs = [spacy.blank("en")(text) for text in texts]
    ngrams = NgramDictionary.from_disk("tiny.tsv.gz")
    expected = [round(share, 4) for share in piece_lengths(docs, ngrams)]
    assert expected == [0.6667, 0.3333]
    rows = "".join(f"{text}\tx\n" for text in texts)
    Path("binary").mkdir()
    Path("table").mkdir()
    for part in ("train", "dev"):
        DocBin(docs=docs).to_disk(f"binary/{part}.spacy")
        Path(f"table/{part}.tsv").write_text(f"words\tkind\n{rows}")
    for name in ("binary", "table"):
        arm = ArmConfig("a", segmenter={"@segmenters": RANDOM_SEGMENTER})
        resolve = Resolver("tiny.tsv.gz", None)
        found = resolve(arm, find_data(name), {"text": "words", "text_pair": None})
        assert found.segmenter["lengths"] == expected
        given = {"@segmenters": RANDOM_SEGMENTER, "lengths": [0, 1]}
        arm = ArmConfig("a", segmenter=given)
        assert resolve(arm, find_data(name), {}).segmenter == given


def test_a_config_may_be_merged_into_that_of_an_arm(place):
    Path("mine.cfg").write_text("[training]\ndropout = 0.7\n\n[nlp]\nbatch_size = 3\n")
    Path("arms.yml").write_text("arms: {a: {}, b: {overlay: mine.cfg}}")
    a, b = plan("data/one", seeds=[0])
    assert b.config["nlp"].pop("batch_size") == 3
    assert b.config["training"].pop("dropout") == 0.7
    a.config["nlp"].pop("batch_size", None)
    a.config["training"].pop("dropout", None)
    for one in (a, b):
        one.config["training"].pop("logger")
    assert a.config == b.config
    Path("arms.yml").write_text("arms: {b: {overlay: none.cfg}}")
    with pytest.raises(SpanftError, match=r"There is no file 'none\.cfg'"):
        plan("data/one", seeds=[0])


def test_the_data_may_name_its_configs(place):
    with pytest.raises(SpanftError, match=r"no task\.json in 'data/one'"):
        plan("data/one", configs="configs")
    task = place / "data" / "one" / "task.json"
    task.write_text('{"config": "tiny"}')
    assert len(plan("data/one", configs="configs", seeds=[0])) == 3
    for bad in ('{"config": "../tiny"}', '{"config": 3}', '{"confg": "x"}', "[]", "{"):
        task.write_text(bad)
        with pytest.raises(SpanftError, match=r"task\.json cannot be used") as found:
            plan("data/one", configs="configs")
        assert ("'confg'. Is 'config' meant?" in str(found.value)) == ("confg" in bad)


def test_what_was_given_stays(place):
    given = {"training.max_steps": 7, "training.eval_frequency": 2}
    (run, *_) = plan("data/one", seeds=[0], overrides=given)
    training = run.config["training"]
    assert (training["max_steps"], training["eval_frequency"]) == (7, 2)
    assert training["optimizer"]["learn_rate"]["total_steps"] == 7
    # 10 texts make 3 batches in an epoch.
    assert run.n_words == round(30 * 7 / 3)
    (run, *_) = plan("data/one", seeds=[0], overrides={"training.batcher.size": 2})
    assert run.config["training"]["max_steps"] == 3 * 5
    # Gradients are accumulated over parts of a batch: the steps are as many.
    parts = {"training.batcher.size": 2, "training.accumulate_gradient": 2}
    (run, *_) = plan("data/one", seeds=[0], overrides=parts)
    assert run.config["training"]["max_steps"] == 3 * 5
    Path("arms.yml").write_text("arms: {a: {set: {training.max_steps: 9}}}")
    (run,) = plan("data/one", seeds=[0])
    assert run.config["training"]["max_steps"] == 9


def test_files_without_a_slash_are_looked_at(place):
    from spacy_spanft import NgramDictionary

    Path("arms.yml").write_text("arms: {a: {dictionary: ngrams.tsv.gz}}")
    found = set()
    for n in (1, 2, 2):
        NgramDictionary({"new york": n}).to_disk("ngrams.tsv.gz")
        found.add(plan("data/one", seeds=[0])[0].fingerprint)
    assert len(found) == 2


def test_any_file_that_a_config_names_is_looked_at(place):
    config = Config({"a": {"words": "list.txt", "lang": "data"}})
    found = set()
    for text in ("one", "two", "two"):
        Path("list.txt").write_text(text)
        # A folder that is called as a setting is none that the config means.
        Path("data", text).mkdir(exist_ok=True)
        found.add(fingerprint(config))
    assert len(found) == 2


@pytest.mark.parametrize(
    ("arms", "expected"),
    [
        ("[]", "no list of arms under"),
        ("arms: {", "is not an arms file"),
        ("arms: {a: 3}", "the arm 'a' is 3"),
        (
            "arms: {a: {configs: x}}",
            r"'configs'\. Is 'config' meant\? Known are: config, regime",
        ),
        ("arms: {a: {block: x}}", "'block' of the arm 'a' is 'x'"),
        ("arms: {../a: {}}", "'../a' cannot be the name of a folder: it begins or"),
        ('arms: {"a\\0b": {}}', r"it has the control character '\\x00'"),
        ("arms: {arms.json: {}}", "it is that of a file beside the arms"),
        ("arms: {Arms.JSON: {}}", "it is that of a file beside the arms"),
        ('arms: {1: {}, "1": {}}', "'1' and '1' would have the same folder"),
        ("arms: {Été: {}, e\u0301té: {}}", "would have the same folder"),
        ("arms: {'${paths.train}': {}}", r"it has '\$\{', which is a variable"),
        (f"arms: {{{'a' * 300}: {{}}}}", "it is longer than 100 bytes"),
        ("arms: {a?: {}}", r"it has the character '\?'"),
        ("arms: {' a': {}}", "begins or ends with a space"),
        ("arms: {'': {}}", "it is empty"),
        ("arms: {true: {}}", "the arm True is named by no text"),
        (f"arms: {{a: {{{'x' * 999}: 1}}}}", "the arm 'a' has 'xxx.*xxx'. Known are"),
        (f"arms: {'[' * 500}", "nested too deeply"),
        ("arms: {a: {set: {x.y: 2001-01-01}}}", "has values that no config can have"),
        ("arms: &a {b: *a}", "it has more than 10,000 values"),
        ("arms: {a: {set: {training.max_steps: x}}}", "max_steps' is 'x', but must be"),
        ("arms: {a: {set: {training.dropout: '${x.y}'}}}", "variable that nothing is"),
        ("arms: {a: {segmenter: {'@segmenters': x}}}", "'x', which is not registered."),
        ("arms: {a: {set: {components.textcat.factory: x}}}", "bilou_ner, span_segm"),
        ("arms: {a: {set: {paths.transfomer: x}}}", "Known are: dev, train"),
        ("arms: {a: {config: none}}", "There is no file 'configs/tiny_none.cfg'"),
        ("arms: {a: {set: {train.x: 1}}}", "the arm 'a' sets 'train.x'"),
        (
            "arms: {a: {set: {training.x: 1}}}",
            "'training.x', which is not a known setting",
        ),
        ("arms: {a: {set: {system.seed: 1}}}", "'system.seed' cannot be set"),
        ("arms: {a: {set: {paths.dev: x}}}", "'paths.dev' cannot be set"),
        ("arms: {a: {config: baseline, block: {x: 1}}}", "has none of these"),
        (
            "arms: {a: {block: {use_clss: true}}}",
            r"textcat.model.use_clss: unexpected.*'use_clss'\. Is 'use_cls' meant\?$",
        ),
        (
            "arms: {a: {set: {components.textcat.treshold: 1}}}",
            r"components.textcat.treshold: unexpected .*\. Is 'threshold' meant\?$",
        ),
        (
            "arms: {a: {set: {training.optimizer.learn_rate.initial_rate: fast}}}",
            "training.optimizer.learn_rate.initial_rate: 'fast' is not",
        ),
        (
            "arms: {a: {set: {training.dropout: high}}}",
            r"^\[SF229\] .*: training.dropout: 'high' should be a valid number.$",
        ),
        ("arms: {a: {set: {nlp.batch_size: x}}}", "nlp.batch_size: 'x' should be a va"),
        ("arms: {a: {set: {training.optimizer: x}}}", "training.optimizer: 'x' should"),
        ("arms: {a: {block: {use_cls: 3}}}", "use_cls: 3 is not true or false.$"),
        ("arms: {a: {set: {training.droput: 0}}}", r"setting\. Is 'dropout' meant\? K"),
        ("arms: {a: {set: {trainin.dropout: 0}}}", r"section\. Is 'training' meant\?$"),
        ("arms: {a: {set: {training: 0}}}", "no such section.$"),
        (
            "arms: {a: {config: baseline, dictionary: tiny.tsv.gz}}",
            "The arm 'a' sets `dictionary`, but looks at no spans: .* leave out `dict",
        ),
        ("arms: {a: {set: {nlp.lang: german}}}", "'german' is not the code of a lang"),
        ("arms: {a: {dictionary: none.gz}}", "the dictionary 'none.gz', but there is"),
        (
            "arms: {a: {dictionary: {'@readers': spacy-spanft.NgramDictionary.v1, "
            "path: none.gz}}}",
            "the dictionary 'none.gz', but there is",
        ),
    ],
)
def test_bad_arms(place, arms, expected):
    (place / "arms.yml").write_text(arms)
    with pytest.raises(ValueError, match=expected):
        plan("data/one")


def test_an_encoder_that_is_not_there(place):
    Path("arms.yml").write_text("arms: {a: {}}")
    how = {"configs": None, "pipeline": "textcat"}
    for name in ("./none", "data"):
        with pytest.raises(SpanftError, match=rf"The encoder '{name}' cannot be load"):
            plan("data/one", overrides={"paths.transformer": name}, **how)
    assert plan("data/one", overrides={"paths.transformer": "some/none"}, **how)


def test_arms_that_do_the_same(place):
    Path("arms.yml").write_text("arms: {a: {}, b: {block: {use_cls: true}}, c: {}}")
    with pytest.warns(UserWarning, match="'a' and 'c' have the same config") as told:
        plan("data/one", "data/two", seeds=[0, 1])
    assert len(told) == 1


def test_no_file_of_arms(place):
    with pytest.raises(
        SpanftError, match=r"^\[SF001\] There is no file 'none.yml'.*[^.]\.$"
    ):
        read_arms("none.yml")


def test_arms_of_one_name(place):
    (place / "arms.yml").write_text("arms:\n  a: {}\n  a: {}\n")
    with pytest.raises(SpanftError, match=r'line 3, column 3: .*"a"') as found:
        read_arms("arms.yml")
    assert "suppress" not in str(found.value)
    assert len(str(found.value)) < 200


def test_bad_data(place):
    with pytest.raises(SpanftError, match=r"no folder 'nowhere' \(seen from"):
        plan("nowhere")
    with pytest.raises(SpanftError, match=r"no train\.spacy, .* in the folder 'data'"):
        plan("data")
    with pytest.raises(SpanftError, match="are called 'one'"):
        plan("data/one", "data/../data/one")
    (place / "data" / "one" / "train.spacy").write_bytes(b"nothing")
    with pytest.raises(SpanftError, match="cannot be read as spaCy's binary data"):
        plan("data/one")
    for part in ("train", "dev"):
        shutil.rmtree(place / "data" / "one")
        save_docs(place / "data" / "one")
        DocBin().to_disk(place / "data" / "one" / f"{part}.spacy")
        with pytest.raises(SpanftError, match=rf"no rows in '.*{part}\.spacy"):
            plan("data/one")


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--arm", "x"], "no arm 'x'. There are: baseline, random, ngrams"),
        (["--seeds", "0"], "--seeds is 0"),
        (["--seeds", "-2"], "--seeds is -2"),
        (["--seed", "-1"], "A seed is -1, but must be from 0 to 4294967295"),
        (["--seed", "4294967294"], "A seed is 4294967296"),
        (["--epochs", "-1"], "--epochs is -1"),
        (["--jobs", "-1", "--dry-run"], "--jobs is -1"),
        (["--jobs", "0", "--dry-run"], "--jobs is 0"),
        (
            ["--paths.transfomer", "x"],
            "'paths.transfomer', which is not a known setting. Known ",
        ),
        (["--output", "${paths.train}"], "has '${', which is a variable in a config"),
        (["--epochs", "0"], "--epochs is 0"),
        (["--jobs", "0"], "--jobs is 0"),
        (["--gpu-id", "99"], "GPU 99 was asked for"),
        (["--gpu-id", "0,x"], "--gpu-id is '0,x', but must be the number of a GPU"),
        (["--gpu-id", "0,-1"], "--gpu-id is '0,-1'"),
        (["--gpu-id", "-2"], "--gpu-id is '-2'"),
        (["--gpu-id", "3", "--jobs", "2"], "let trainings share: --gpu-id 3,3"),
        (["--gpu-id", "-1", "--epochs", "0"], "--epochs is 0"),
        (["--nowhere.x", "1"], "the command line sets 'nowhere.x'"),
        (
            ["--training.x", "1"],
            "'training.x', which is not a known setting. Known are: ",
        ),
        (["--nothing", "1"], "is not a setting"),
        (["--output", "arms.yml"], "'arms.yml' is a file. Name a folder"),
    ],
)
def test_bad_options(place, args, expected):
    command = ["spanft", "matrix", "arms.yml", "-c", "configs/tiny", "-d", "data/one"]
    done = spacy_command(*command, "-o", "out", *args, ok=False)
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_the_head_first(place):
    """A config that trains it first gets both of its schedules."""
    shutil.copy(CONFIGS / "textcat_two_phase.cfg", place / "configs")
    arms = """
arms:
  two: {config: two_phase}
  longer:
    config: two_phase
    set: {training.optimizer.learn_rate.start_share: 0.4}
"""
    Path("arms.yml").write_text(arms)
    two, longer = plan("data/one", configs="configs/textcat", seeds=[0], epochs=60)
    for run, until in ((two, 0.1), (longer, 0.4)):
        training = run.config.interpolate()["training"]
        assert (training["max_steps"], training["max_epochs"]) == (60, 0)
        assert training["before_update"]["until_share"] == until
        assert training["optimizer"]["learn_rate"]["start_share"] == until


def test_an_alias_bomb_is_refused(place):
    """A few lines of YAML that would be a billion values, wherever they are."""
    lines = ["b0: &b0 {k0: x}"]
    for i in range(1, 10):
        lines.append(f"b{i}: &b{i} {{k{i}: [{', '.join([f'*b{i - 1}'] * 10)}]}}")
    merged = ", ".join(["*b8"] * 10)
    for arm in ("*b9", "{config: *b9}", "{*b9 : x}", f"{{<<: [{merged}]}}"):
        Path("arms.yml").write_text("\n".join([*lines, f"arms: {{a: {arm}}}"]))
        with pytest.raises(SpanftError, match=r"more than 10,000 values\.$"):
            read_arms("arms.yml")


def test_values_in_messages_are_cut(place):
    words = ", ".join(["word"] * 500)
    Path("arms.yml").write_text(f"arms: {{a: [{words}]}}")
    with pytest.raises(SpanftError, match=r"the arm 'a' is .*, which is") as found:
        read_arms("arms.yml")
    assert len(str(found.value)) < 150


def test_a_path_that_some_configs_have_may_be_given(place):
    """As --paths.dictionary: a baseline has none."""
    config = Path("configs/tiny_spanft.cfg")
    config.write_text(config.read_text().replace("train = null", "x = 1\ntrain = null"))
    for run in plan("data/one", seeds=[0], overrides={"paths.x": 2}):
        assert run.config["paths"]["x"] == 2
    with pytest.raises(SpanftError, match=r"'paths\.y', which is not a known setting"):
        plan("data/one", overrides={"paths.y": 2})


def test_each_epoch_and_the_end_are_evaluated(place):
    for n in (7, 50, 333):
        shutil.rmtree("data/one")
        save_docs(Path("data/one"), n)
        for epochs in (1, 20):
            (run, *_) = plan("data/one", seeds=[0], epochs=epochs)
            training = run.config["training"]
            steps, often = training["max_steps"], training["eval_frequency"]
            n_batches = -(-n // 4)
            assert steps % often == 0
            assert often <= n_batches
            assert epochs * n_batches <= steps < epochs * n_batches + often + 11
            rate = training["optimizer"]["learn_rate"]
            assert rate["total_steps"] == steps
    # What was given stays, and the last evaluation is as near as it can be.
    (run, *_) = plan("data/one", seeds=[0], overrides={"training.max_steps": 1009})
    training = run.config["training"]
    assert training["max_steps"] == 1009
    assert 1009 % training["eval_frequency"] < 20


def test_seeds_and_tasks_have_folders_of_their_own(place):
    with pytest.raises(SpanftError, match=r"A seed is given twice: \[1, 2, 1\]"):
        plan("data/one", seeds=[1, 2, 1])
    save_docs(place / "data" / "${paths.dev}")
    save_docs(place / "data" / "a:b")
    for folder in ("data/${paths.dev}", "data/a:b"):
        with pytest.raises(SpanftError, match=r"has '\$\{'|has the character ':'"):
            plan(folder)
    save_docs(place / "other" / "ONE")
    with pytest.raises(SpanftError, match="are called 'ONE'"):
        plan("data/one", "other/ONE")
