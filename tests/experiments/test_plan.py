"""The plan of an experiment: arms, data, and mistakes that are found before it."""

import json
import re
import shutil
from pathlib import Path

import pytest
from confection import Config
from spacy.tokens import DocBin
from spacy.util import load_config

from spacy_spanft import NgramDictionary
from spacy_spanft.configs.making import config_for_data
from spacy_spanft.errors import SpanftError
from spacy_spanft.experiments import ArmConfig, read_arms
from spacy_spanft.experiments.arms import config_of
from spacy_spanft.experiments.experiment import checked_data
from spacy_spanft.experiments.plan import RANDOM_SEGMENTER, fingerprint_of
from spacy_spanft.experiments.task_data import find_data, readers_of
from spacy_spanft.segmenters.random import piece_lengths

from ..commands import run as spacy_command
from ..tiny import save_encoder
from .matrix_place import BASE, NLP, SPANS, plan, save_docs

ONE_ARM = f"{{a: {{{BASE}}}}}"
TEST = {"test.csv": "text,label\nsome text,A\n"}


def test_arms_change_only_their_settings(place):
    arms = {arm.name: arm for arm in read_arms("arms.yml")}
    assert list(arms) == ["baseline", "random", "ngrams"]
    configs = {name: config_of(arm, "") for name, arm in arms.items()}
    original = load_config("tiny_spanft.cfg")
    assert configs["baseline"] == load_config("tiny_baseline.cfg")
    segmenter = configs["random"]["components"]["span_segmenter"].pop("segmenter")
    assert segmenter == {"@segmenters": RANDOM_SEGMENTER, "seed": 3}
    del original["components"]["span_segmenter"]["segmenter"]
    original["initialize"]["components"] = {}  # only n-grams take a dictionary
    assert configs["random"] == original
    ngrams = configs["ngrams"]
    assert ngrams["components"]["textcat"]["model"]["use_cls"] is False
    assert ngrams["training"]["dropout"] == 0.25


def test_an_arm_without_spans_has_no_segmenter():
    without = {"segmentation": "none"}
    config = config_of(ArmConfig("a", block=without), "ner")
    assert config["nlp"]["pipeline"] == ["transformer", "ner"]
    model = config["components"]["ner"]["model"]
    assert model["tok2vec"]["segmentation"] == "none"
    with pytest.raises(SpanftError, match="sets `dictionary`, but its config has no"):
        config_of(ArmConfig("a", block=without, dictionary="x"), "ner")


def test_all_arms_of_a_seed_come_before_the_next_seed(place):
    runs = plan("data/one", "data/two", seeds=(3, 4), epochs=2)
    assert len(runs) == len({run.fingerprint for run in runs}) == 2 * 2 * 3
    assert [(run.task, run.arm, run.seed) for run in runs[:4]] == [
        *(("one", arm, 3) for arm in ("baseline", "random", "ngrams")),
        ("one", "baseline", 4),
    ]
    assert runs[0].config["system"]["seed"] == 3
    steps = [run.config["training"]["max_steps"] for run in (runs[0], runs[-1])]
    assert steps == [6, 4]
    assert runs[-1].folder.parts == ("out", "two", "ngrams", "4")
    with pytest.raises(SpanftError, match=r"Two have the same name.*'one'"):
        plan("data/one", "data/../data/one")
    with pytest.raises(SpanftError, match="There is no folder 'nowhere'"):
        plan("nowhere")


def test_random_spans_have_the_lengths_of_ngrams(place):
    texts = [f"A {'Good' if i % 2 else 'bad'} film {i}" for i in range(9)]
    docs = [NLP(text) for text in texts]
    Path("task").mkdir()
    for split in ("train", "dev"):
        DocBin(docs=docs).to_disk(f"task/{split}.spacy")
    config = Path("tiny_spanft.cfg")
    config.write_text(config.read_text().replace("[paths]", "[paths]\ndictionary=null"))
    overrides = {"paths.dictionary": "tiny.tsv.gz"}
    arms = f"{{a: {{{SPANS}, segmenter: {{'@segmenters': {RANDOM_SEGMENTER}}}}}}}"
    (run,) = plan("task", arms=arms, seeds=[0], overrides=overrides)
    ngrams = NgramDictionary.from_disk("tiny.tsv.gz")
    expected = [round(share, 4) for share in piece_lengths(docs, ngrams)]
    segmenter = run.config["components"]["span_segmenter"]["segmenter"]
    assert segmenter["lengths"] == expected == [0.6667, 0.3333]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, (3 * 3, 1)),
        ({"training.max_steps": 70}, (70, 7)),
        ({"training.max_steps": 7, "training.eval_frequency": 2}, (7, 2)),
        # Gradients are accumulated over parts of a batch: as many steps.
        ({"training.batcher.size": 2, "training.accumulate_gradient": 2}, (3 * 5, 1)),
    ],
)
def test_given_settings_are_kept(place, given, expected):
    settings = "".join(f"{name}: {value}, " for name, value in given.items())
    arms = f"{{a: {{{BASE}, set: {{{settings}}}}}}}"
    for how in ({"arms": arms}, {"arms": ONE_ARM, "overrides": given}):
        (run,) = plan("data/one", seeds=[0], **how)
        training = run.config["training"]
        assert (training["max_steps"], training["eval_frequency"]) == expected


def test_a_file_keeps_its_steps_and_nothing_that_differs_by_run(place):
    config = load_config("tiny_baseline.cfg")
    batcher = {"@batchers": "spacy.batch_by_padded.v1", "size": 9, "buffer": 9}
    batcher["discard_oversize"] = False
    config["training"] |= {"max_steps": 40, "seed": 7, "batcher": batcher}
    config["training"]["train_corpus"] = "corpora.mine"
    mine = {"@readers": "spacy.Corpus.v1", "path": "mine.spacy", "gold_preproc": False}
    config["corpora"] = {"mine": mine}
    config.to_disk("own.cfg")
    arms = "{a: {config: own.cfg}}"
    runs = plan("data/one", arms=arms, seeds=[0, 1], epochs=None)
    assert [run.config["training"]["seed"] for run in runs] == [0, 1]
    assert runs[0].config["training"]["max_steps"] == 40
    assert runs[0].config["training"]["train_corpus"] == "corpora.train"
    with pytest.raises(SpanftError, match="number of texts: use spacy"):
        plan("data/one", arms=arms, epochs=2)


def test_without_epochs_it_trains_as_init_says(place):
    encoder = save_encoder(Path("encoder"))
    given = {"paths.transformer": str(encoder), "training.optimizer.L2": 0.5}
    arms = "{a: {}, b: {set: {training.max_steps: 20}, block: {summary: mean}}}"
    how = {"arms": arms, "overrides": given, "pipeline": "textcat", "epochs": None}
    runs = plan("data/one", seeds=[0], **how)
    files = ("data/one/train.spacy", "data/one/dev.spacy")
    how = {"transformer": str(encoder), "regime": "everything"}
    config = config_for_data(*files, **how).config
    for run, steps, frequency in zip(runs, (48, 20), (16, 2), strict=True):
        training = run.config["training"]
        start = config["initialize"]["after_init"]
        assert run.config["initialize"]["after_init"] == start
        assert start["probe"] is True
        learn_rate = config["training"]["optimizer"]["learn_rate"]
        assert training["optimizer"]["learn_rate"] == learn_rate
        assert training["optimizer"]["L2"] == 0.5
        limits = training["max_steps"], training["eval_frequency"]
        assert limits == (steps, frequency)
    assert runs[0].config["training"]["max_steps"] == config["training"]["max_steps"]
    models = [run.config["components"]["textcat"]["model"] for run in runs]
    assert [model["summary"] for model in models] == ["unit_mean", "mean"]


def test_columns_of_pairs_and_settings_of_tables_are_those_of_init(place):
    encoder = save_encoder(Path("encoder"))
    for name, n in (("train", 12), ("dev", 6)):
        rows = "".join(
            f"caf\xe9 {i},film,{'a/b' if i % 2 else 'b'}\n" for i in range(n)
        )
        table = f"text,text_pair,label\n{rows}".encode("latin-1")
        Path(f"data/one/{name}.spacy").unlink()
        Path(f"data/one/{name}.csv").write_bytes(table)
    how = {"overrides": {"paths.transformer": str(encoder)}, "arms": "{a: {}}"}
    Path("data/one/task.json").write_text(
        '{"columns": {"encoding": "latin-1"}, "score": 0.8, "counts": {"train": 9}}'
    )
    (run,) = plan("data/one", seeds=[0], **how)
    corpus = run.config["corpora"]["train"]
    assert (corpus["text_pair"], corpus["encoding"]) == ("text_pair", "latin-1")
    columns = {"encoding": "latin-1", "text": "text", "label_separator": "/"}
    task = {"pipeline": "textcat_multilabel", "columns": columns}
    Path("data/one/task.json").write_text(json.dumps(task))
    (run,) = plan("data/one", seeds=[0], **how)  # "/" is no folder here
    assert run.config["corpora"]["train"]["label_separator"] == "/"
    # Of a config that holds out a part of its data.
    corpus = run.config["corpora"]["train"]
    held_out = {"@readers": "spacy-spanft.HeldOutCorpus.v1", "corpus": corpus}
    for block in (corpus, held_out):
        data = find_data("data/one")._replace(columns={})
        readers = readers_of({"corpora": {"train": block}}, data)
        assert readers["train"]["label_separator"] == "/"


def test_settings_of_the_task_and_the_command_line(place):
    shutil.copy("tiny.tsv.gz", "data/one")
    reader = '{"@readers": spacy-spanft.NgramDictionary.v1, path: "{data}/tiny.tsv.gz"}'
    arms = f"{{a: {{{SPANS}, dictionary: '{{data}}/tiny.tsv.gz'}},"
    arms += f"b: {{{SPANS}, dictionary: {reader}}}, c: {{{BASE}}}, "
    nltk = '{"@segmenters": spacy-spanft.NltkChunkSegmenter.v1, data_dir: "{data}/x"}'
    arms += f"d: {{{SPANS}, segmenter: {nltk}}}}}"
    # A path that a baseline does not have, such as --paths.dictionary.
    config = Path("tiny_spanft.cfg")
    config.write_text(config.read_text().replace("train = null", "x = 1\ntrain = null"))
    runs = plan("data/one", arms=arms, seeds=[0], overrides={"paths.x": 2})
    for run in runs[:2]:
        settings = run.config["initialize"]["components"]["span_segmenter"]
        assert "data/one/tiny.tsv.gz" in str(settings["dictionary"])
    segmenter = runs[3].config["components"]["span_segmenter"]["segmenter"]
    assert segmenter["data_dir"] == (Path.cwd() / "data/one/x").as_posix()
    assert [run.config["paths"]["x"] for run in runs] == [2] * 4


def test_the_fingerprint_has_the_contents_of_files(place):
    config = Config({"a": {"words": "list.txt", "lang": "data"}})
    digests = set()
    for text in ("one", "two", "two"):
        Path("list.txt").write_text(text)
        Path("data", text).mkdir(exist_ok=True)  # "data" is not a path here
        digests.add(fingerprint_of(config, {}))
    assert len(digests) == 2


@pytest.mark.parametrize(
    ("arms", "expected"),
    [
        ("{", "arms.yml is not an arms file"),
        ("{a: {configs: x}}", "unknown setting 'configs'. Is 'config' meant?"),
        ("{../a: {}}", "The name of an arm of arms.yml is '../a', but must be"),
        ("{a: {BASE, regime: grouped}}", "the regime 'grouped', which only"),
        ("{a: {SPANS, block: {use_clss: true}}}", "arm 'a' is invalid.*use_clss"),
        ("{a: {BASE, set: {training.droput: 0}}}", "Is 'dropout' meant"),
        ("{a: {BASE, set: {system.seed: 1}}}", "'system.seed' differs"),
        ("{a: {set: {paths.transformer: ./none}}}", "encoder '.*none' cannot be load"),
    ],
)
def test_mistakes_in_arms_are_found_before_the_training(place, arms, expected):
    arms = arms.replace("BASE", BASE).replace("SPANS", SPANS)
    with pytest.raises(SpanftError, match=expected):
        plan("data/one", arms=arms)
    with pytest.raises(SpanftError, match="There is no file 'none'"):
        read_arms("none")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"train.spacy": b"nothing"}, r"train\.spacy. cannot be read"),
        ({"train.spacy": DocBin().to_bytes()}, r"no rows in '.*train\.spacy"),
        ({"dev.spacy": None}, r"no dev\.spacy, .* in the folder 'data/one'"),
        ({}, "There is no test data in"),
        ({"test.csv": "words,label\na,A\n"}, "holds the text: "),
        (
            {"test.csv": "text,label\na,A\n", "test.tsv": "x"},
            r"Both test\.csv and test\.tsv",
        ),
        ({"task.json": "{"}, r"task\.json is not JSON: "),
        ({"task.json": "[1]"}, r"task\.json or its columns are no JSON object"),
        ({"task.json": '{"columns": ["a"]}'}, "or its columns are no JSON object"),
        ({"task.json": '{"Metrics": "x"}'}, "key 'Metrics'. Is 'metric' meant"),
        ({"task.json": '{"metric": ["x"]}'}, r"'metric' in .* is \['x'\], but must be"),
        ({"task.json": '{"columns": {"txt": "x"}}'}, "'txt' in its columns. Is 'text'"),
        ({"task.json": '{"columns": {"text": 5}}'}, "'text' in .* is 5, but must be"),
        (TEST | {"task.json": '{"metric": "x"}'}, "data/one' has no metric 'x'"),
        (TEST | {"task.json": '{"positive_label": "x"}'}, "has no label 'x', but"),
    ],
)
def test_mistakes_in_data_are_found_before_the_training(place, files, expected):
    for name, content in files.items():
        path = Path("data/one", name)
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(
                content if isinstance(content, bytes) else content.encode()
            )
    with pytest.raises(SpanftError, match=expected):
        checked_data(["data/one"], plan("data/one", arms=ONE_ARM, seeds=[0]))


def test_test_texts_in_the_training_data_are_warned_of(place, capsys):
    folder = place / "data" / "one"
    shutil.copy(folder / "train.spacy", folder / "test_same.spacy")
    save_docs(folder / "other", word="play")
    shutil.move(folder / "other" / "train.spacy", folder / "test.spacy")
    checked_data([folder], plan(folder, arms=ONE_ARM, seeds=[0]))
    (warning,) = capsys.readouterr().err.splitlines()
    assert re.search(r"⚠ 10 texts of .*test_same\.spacy are also in the tra", warning)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--gpu-id", "0,x"], "--gpu-id is '0,x', but must be a number"),
        (["--metrics", "metrics"], "(--metrics), or pass --train-only"),
    ],
)
def test_mistakes_in_options_are_one_line(place, args, expected):
    command = ["spanft", "experiment", "arms.yml", "-d", "data/one", "-o", "out"]
    assert expected in spacy_command(*command, "--train-only", *args, ok=False).stderr
