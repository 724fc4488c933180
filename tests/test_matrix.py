"""The matrix of trainings: its arms, its plan, and runs that go on, fail and stop."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import spacy
from confection import Config
from spacy.tokens import DocBin
from spacy.util import load_config

from spacy_spanft.errors import MatrixError
from spacy_spanft.matrix import plan_runs, read_arms, run_matrix
from spacy_spanft.matrix.arms import config_of
from spacy_spanft.matrix.fingerprint import fingerprint

from .commands import run as spacy_command

ROOT = Path(__file__).parent.parent
SPAN_MODEL = """
[components.textcat.model]
@architectures = "spacy-spanft.SpanTextCat.v1"
exclusive_classes = true

[components.textcat.model.span_pooling]
@architectures = "spacy-spanft.CnnPooling.v1"

[components.textcat.model.doc_pooling]
@architectures = "spacy-spanft.MaxPooling.v1"

[components.textcat.model.tok2vec]
"""
SEGMENTER = """
[components.span_segmenter]
factory = "span_segmenter"

[components.span_segmenter.segmenter]
@segmenters = "spacy-spanft.NgramSegmenter.v1"
"""
CONFIG = """
[paths]
train = null
dev = null

[system]
seed = 0
gpu_allocator = null

[nlp]
lang = "en"
pipeline = {pipeline}

[components]
{segmenter}
[components.textcat]
factory = "textcat"
{model}
@architectures = "spacy.HashEmbedCNN.v2"
pretrained_vectors = null
width = 8
depth = 1
embed_size = 100
window_size = 1
maxout_pieces = 2
subword_features = false

[corpora]

[training]
accumulate_gradient = 1
annotating_components = {annotates}
train_corpus = "corpora.train"
dev_corpus = "corpora.dev"
seed = ${{system.seed}}
gpu_allocator = ${{system.gpu_allocator}}

[training.batcher]
@batchers = "spacy.batch_by_sequence.v1"
size = 4

[training.optimizer]
@optimizers = "Adam.v1"

[training.optimizer.learn_rate]
@schedules = "warmup_linear.v1"
initial_rate = 0.01
warmup_steps = 1
total_steps = 1

[initialize]
{initialize}
"""
BASE_MODEL = """
[components.textcat.model]
@architectures = "spacy.TextCatReduce.v1"
exclusive_classes = true
use_reduce_mean = true
use_reduce_first = false
use_reduce_last = false
use_reduce_max = false

[components.textcat.model.tok2vec]
"""
INITIALIZE = """
[initialize.components]

[initialize.components.span_segmenter]
dictionary = null
"""
ARMS = """
arms:
  baseline: {config: baseline}
  random:
    segmenter: {"@segmenters": spacy-spanft.RandomSegmenter.v1, seed: 3}
    note: cut at random
  ngrams:
    block: {use_cls: false}
    set: {training.dropout: 0.25}
"""


def save_docs(folder, n=10):
    nlp = spacy.blank("en")
    folder.mkdir(parents=True)
    for part in ("train", "dev"):
        docs = [
            nlp.make_doc(f"{'good' if i % 2 else 'bad'} film {i}") for i in range(n)
        ]
        for i, doc in enumerate(docs):
            doc.cats = {"A": float(i % 2), "B": float(1 - i % 2)}
        DocBin(docs=docs).to_disk(folder / f"{part}.spacy")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with configs, arms, and the data of two tasks."""
    (tmp_path / "configs").mkdir()
    base = CONFIG.format(
        pipeline='["textcat"]',
        annotates="[]",
        segmenter="",
        model=BASE_MODEL,
        initialize="",
    )
    spans = CONFIG.format(
        pipeline='["span_segmenter","textcat"]',
        annotates='["span_segmenter"]',
        segmenter=SEGMENTER,
        model=SPAN_MODEL,
        initialize=INITIALIZE,
    )
    (tmp_path / "configs" / "tiny_baseline.cfg").write_text(base)
    (tmp_path / "configs" / "tiny_spanft.cfg").write_text(spans)
    (tmp_path / "arms.yml").write_text(ARMS)
    save_docs(tmp_path / "data" / "one")
    save_docs(tmp_path / "data" / "two", n=7)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plan(*data, arms="arms.yml", configs="configs/tiny", **settings):
    return plan_runs(read_arms(arms), configs, data, "out", **settings)


def test_arms_change_what_they_say(place):
    arms = {arm.name: arm for arm in read_arms("arms.yml")}
    assert list(arms) == ["baseline", "random", "ngrams"]
    made = {name: config_of(arm, "configs/tiny") for name, arm in arms.items()}
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


def test_the_data_may_name_its_configs(place):
    with pytest.raises(MatrixError, match=r"no task\.json in 'data/one'"):
        plan("data/one", configs="configs")
    task = place / "data" / "one" / "task.json"
    task.write_text('{"config": "tiny"}')
    assert len(plan("data/one", configs="configs", seeds=[0])) == 3
    for bad in ('{"config": "../tiny"}', '{"config": 3}', "[]", "{"):
        task.write_text(bad)
        with pytest.raises(MatrixError, match=r"task\.json does not say"):
            plan("data/one", configs="configs")


def test_runs_once_and_goes_on(place):
    arms = read_arms("arms.yml")[:2]
    runs = plan_runs(arms, "configs/tiny", ["data/one"], "out", seeds=[0], epochs=1)
    assert [run.state for run in runs] == ["new", "new"]
    assert run_matrix(runs, arms, n_jobs=2) == []
    assert [run.state for run in runs] == ["done", "done"]
    folder = place / "out" / "one" / "random" / "0"
    found = json.loads((folder / "run.json").read_text())
    assert (found["task"], found["arm"], found["seed"]) == ("one", "random", 0)
    assert found["words_per_second"] == pytest.approx(30 / found["seconds"])
    assert found["peak_memory"] is None or found["peak_memory"] > 10
    lines = (folder / "log.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["step"] == 3
    assert spacy.load(folder / "model")("good film").cats.keys() == {"A", "B"}
    assert not (folder / "model-last").exists()
    order = json.loads((place / "out" / "one" / "arms.json").read_text())
    assert order["arms"] == ["baseline", "random"]
    assert order["notes"] == {"random": "cut at random"}
    before = os.stat(folder / "run.json").st_mtime_ns
    assert run_matrix(runs, arms) == []
    assert os.stat(folder / "run.json").st_mtime_ns == before
    # Other settings, and other data under the same name, are another run.
    changed = {"training.dropout": 0.3}
    other = plan("data/one", seeds=[0], epochs=1, overrides=changed)
    assert [run.state for run in other] == ["changed", "changed", "new"]
    shutil.rmtree(place / "data" / "one")
    save_docs(place / "data" / "one", n=11)
    assert plan("data/one", seeds=[0], epochs=1)[0].state == "changed"


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


def test_what_was_done_stays_until_it_is_done_again(place):
    arms = read_arms("arms.yml")[:1]
    runs = plan_runs(arms, "configs/tiny", ["data/one"], "out", seeds=[0], epochs=1)
    assert run_matrix(runs, arms) == []
    bad = {"training.optimizer.learn_rate.initial_rate": "fast"}
    settings = {"seeds": [0], "epochs": 1, "overrides": bad}
    other = plan_runs(arms, "configs/tiny", ["data/one"], "out", **settings)
    assert len(run_matrix(other, arms)) == 1
    assert runs[0].state == "done"
    assert other[0].state == "changed"


def test_the_same_seed_gives_the_same_scores(place):
    arms = read_arms("arms.yml")[2:]
    logs = []
    for output in ("a", "b"):
        runs = plan_runs(arms, "configs/tiny", ["data/one"], output, seeds=[5])
        assert run_matrix(runs, arms) == []
        logs.append((runs[0].folder / "log.jsonl").read_text())
    assert logs[0] == logs[1]


def test_a_run_that_fails_does_not_stop_the_rest(place):
    (place / "arms.yml").write_text(
        'arms: {bad: {set: {training.optimizer: {"@optimizers": nonsense.v1}}}, '
        "baseline: {config: baseline}}"
    )
    args = ["spanft", "matrix", "arms.yml", "-c", "configs/tiny", "-d", "data/one"]
    args += ["-o", "out", "--seeds", "1", "--epochs", "1"]
    done = spacy_command(*args, ok=False)
    assert "1 of 2 runs failed" in done.stderr
    assert f"{place / 'out'}" not in done.stderr
    log = place / "out/one/bad/0.failed/log.txt"
    assert "nonsense.v1" in log.read_text()
    assert "Could not find function 'nonsense.v1'" in done.stderr
    assert f"({log.relative_to(place)})" in done.stderr
    assert (place / "out/one/baseline/0/run.json").exists()
    listed = spacy_command(*args, "--dry-run").stdout
    assert [line.split()[-1] for line in listed.strip().splitlines()[2:]] == [
        "new",
        "done",
    ]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_ctrl_c_leaves_nothing_half_done(place):
    command = [sys.executable, "-m", "spacy", "spanft", "matrix", "arms.yml"]
    command += ["-c", "configs/tiny", "-d", "data/one", "-o", "out", "--jobs", "2"]
    process = subprocess.Popen(
        [*command, "--epochs", "5000"],
        stderr=subprocess.PIPE,
        text=True,
        # Shells let what they start in the background ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    log = place / "out" / "one" / "baseline" / "0.going" / "log.jsonl"
    for _ in range(600):
        if log.exists() or process.poll() is not None:
            break
        time.sleep(0.1)
    assert log.exists()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130, said
    assert "Stopped" in said
    assert "Traceback" not in said
    left = [path for path in (place / "out").rglob("*") if path.is_file()]
    assert [path.name for path in left] == ["arms.json"]


@pytest.mark.parametrize(
    ("arms", "expected"),
    [
        ("[]", "no list of arms under"),
        ("arms: {", "is no file of arms"),
        ("arms: {a: 3}", "the arm 'a' is 3"),
        ("arms: {a: {configs: x}}", "'configs'; known are config, segmenter"),
        ("arms: {a: {block: x}}", "'block' of the arm 'a' is 'x'"),
        ("arms: {../a: {}}", "'../a' cannot be the name of a folder"),
        ("arms: {a: {config: none}}", "There is no file 'configs/tiny_none.cfg'"),
        ("arms: {a: {set: {train.x: 1}}}", "the arm 'a' sets 'train.x'"),
        ("arms: {a: {set: {training.x: 1}}}", "'training.x', which nobody reads"),
        ("arms: {a: {set: {system.seed: 1}}}", "'system.seed' cannot be set"),
        ("arms: {a: {set: {paths.dev: x}}}", "'paths.dev' cannot be set"),
        ("arms: {a: {config: baseline, block: {x: 1}}}", "has none of these"),
    ],
)
def test_bad_arms(place, arms, expected):
    (place / "arms.yml").write_text(arms)
    with pytest.raises(ValueError, match=expected):
        plan("data/one")


def test_bad_data(place):
    with pytest.raises(MatrixError, match=r"no train\.spacy in the folder 'data'"):
        plan("data")
    with pytest.raises(MatrixError, match="are called 'one'"):
        plan("data/one", "data/../data/one")
    (place / "data" / "one" / "train.spacy").write_bytes(b"nothing")
    with pytest.raises(MatrixError, match="cannot be read as spaCy's binary data"):
        plan("data/one")
    for part in ("train", "dev"):
        shutil.rmtree(place / "data" / "one")
        save_docs(place / "data" / "one")
        DocBin().to_disk(place / "data" / "one" / f"{part}.spacy")
        with pytest.raises(MatrixError, match=rf"no rows in '.*{part}\.spacy"):
            plan("data/one")


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--arm", "x"], "no arm 'x'. There are: baseline, random, ngrams"),
        (["--seeds", "0"], "--seeds is 0"),
        (["--epochs", "0"], "--epochs is 0"),
        (["--jobs", "0"], "--jobs is 0"),
        (["--gpu-id", "99"], "GPU 99 was asked for"),
        (["--nowhere.x", "1"], "the command line sets 'nowhere.x'"),
        (["--training.x", "1"], "'training.x', which nobody reads. Known are: "),
        (["--nothing", "1"], "is no setting"),
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
    shutil.copy(ROOT / "configs" / "textcat_two_phase.cfg", place / "configs")
    arms = """
arms:
  two: {config: two_phase}
  longer: {config: two_phase, set: {training.before_update.until_step: 40}}
"""
    Path("arms.yml").write_text(arms)
    two, longer = plan("data/one", configs="configs/textcat", seeds=[0], epochs=60)
    for run, until in ((two, 6), (longer, 40)):
        training = run.config["training"]
        assert training["before_update"]["until_step"] == until
        rate = training["optimizer"]["learn_rate"]
        assert (rate["total_steps"], rate["warmup_steps"]) == (60, 6)
        own = training["optimizer"]["transformer_rate"]["schedule"]
        left = 60 - until
        assert (own["total_steps"], own["warmup_steps"]) == (left, left // 10)
