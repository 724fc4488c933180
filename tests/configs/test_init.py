"""What init writes, and what it guesses from data."""

import re
import shlex
from pathlib import Path
from typing import get_args

import pytest
import spacy
import srsly
from confection import Config
from spacy.tokens import Doc, DocBin, Span
from spacy.util import load_config, load_model_from_config

from spacy_spanft.cli.init import Pipeline, Regime
from spacy_spanft.configs import TASKS, config_for_data, config_text, task_config
from spacy_spanft.configs.adding import add_spans
from spacy_spanft.configs.fitting import fitting_epochs
from spacy_spanft.configs.sources import guess_task, tokenizer_of
from spacy_spanft.configs.templates import REGIMES
from spacy_spanft.errors import SpanftError
from spacy_spanft.ngrams.dictionary import NgramDictionary

from ..commands import run
from .conftest import changed, flat

ROOT = Path(__file__).parents[2]
MADE = re.findall(
    r"^\t\$\(INIT\) (configs/\S+) (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE
)


def read(text):
    return Config().from_str(text, interpolate=False)


def init(*options, ok=True):
    return run("spanft", "init", *options, ok=ok)


write = srsly.write_jsonl


def texts(n, labels="xy"):
    return [{"text": f"text {i}", "label": labels[i % len(labels)]} for i in range(n)]


def corpus(part="train", name="x.cfg"):
    config = load_config(name).interpolate()
    block = {"corpus": config["corpora"][part]}
    examples = spacy.registry.resolve(block)["corpus"](tokenizer_of(config))
    return [example.reference for example in examples]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("name", "options"), MADE, ids=[name for name, _ in MADE])
def test_configs_of_the_top_folder_are_up_to_date(name, options):
    pytest.importorskip("spacy_transformers")
    Path("configs").mkdir()
    init(name, *shlex.split(options))
    stale = f"{name} is not what init writes any more: make configs"
    assert Path(name).read_text() == (ROOT / name).read_text(), stale
    there = {f"configs/{path.name}" for path in (ROOT / "configs").glob("*.cfg")}
    assert there == {name for name, _ in MADE}


def test_options_are_those_of_the_package():
    assert get_args(Pipeline) == tuple(TASKS)
    assert get_args(Regime) == tuple(REGIMES)


BASELINE, WINDOWS = {"spans": False}, {"segmentation": "none"}
SPANS = {"segmentation": "spans"}


@pytest.mark.parametrize(
    ("task", "options", "inputs"),
    [
        *((task, {}, None) for task in TASKS),
        *((task, BASELINE, "") for task in ("textcat", "ner")),
        *(("spancat", WINDOWS, "none"), ("ner", SPANS, "spans")),
    ],
)
def test_each_makes_a_pipeline(task, options, inputs):
    """Nothing is left open, and every setting is known."""
    config = read(config_text(task_config(task, **options), task))
    nlp = load_model_from_config(config, auto_fill=True)
    assert flat(config).items() <= flat(nlp.config).items()
    component = TASKS[task].component
    is_of_texts = component in ("textcat", "textcat_multilabel", "text_regressor")
    if inputs is None:
        inputs = "spans" if is_of_texts else "none"
        plain = task_config(task, spans=False)
        added = add_spans(plain, None, [component]).config
        assert not changed(task_config(task), added)
    segmenter = ["span_segmenter"] if inputs == "spans" else []
    assert nlp.pipe_names == ["transformer", *segmenter, component]
    # At the rate of an encoder, heads of tokens learn little from few texts.
    before_update = config.interpolate()["training"]["before_update"] or {}
    assert before_update.get("until_share") == (None if is_of_texts else 0.1)
    assert config["training"]["annotating_components"] == segmenter
    model = config["components"][component]["model"]
    block = model if is_of_texts else model["tok2vec"]
    assert block.get("segmentation", "") == inputs


def test_a_language_and_a_dictionary():
    NgramDictionary({"in der": 3}).to_disk("mine.tsv.gz")
    options = ("--lang", "de", "--dictionary", "mine.tsv.gz", "-p", "ner")
    Path("my config.cfg").write_text("mine")
    options = ("my config.cfg", *options, "-t", "x/y", "--segmentation", "spans")
    assert "To overwrite it, add --force" in init(*options, ok=False).stderr
    assert Path("my config.cfg").read_text() == "mine"
    done = init(*options, "--force")
    command = "train 'my config.cfg' \\\n    --output 'training/my config'"
    assert f"  python -m spacy {command}" in done.stderr
    config = load_config("my config.cfg", interpolate=True)
    assert config["nlp"]["lang"] == "de"
    segmenter = config["initialize"]["components"]["span_segmenter"]
    assert segmenter["dictionary"] == "mine.tsv.gz"
    with pytest.raises(SpanftError, match="is English, and the language is 'de'"):
        task_config("textcat", lang="de", segmentation="spans")
    assert read(config_text(config, "ner", "a\n[nlp]\nb.cfg")) == config


def test_languages_without_a_dictionary_get_no_spans():
    done = init("x.cfg", "--lang", "de", "--gpu")
    config = load_config("x.cfg")
    assert config["paths"]["transformer"] == "bert-base-german-cased"
    assert config["nlp"]["pipeline"] == ["transformer", "textcat"]
    lacks = "no dictionary of the language 'de'. Build one (python -m spacy spanft dict"
    assert lacks in done.stderr
    assert lacks in config_for_data(None, lang="de").warnings[0]
    assert not config_for_data(None, lang="de", spans=False).warnings


def test_dev_data_may_have_other_columns():
    rows = texts(8, "ab")
    write("t.jsonl", rows)
    others = [{"body": f"a {x['text']}", "label": x["text"]} for x in rows]
    write("d.jsonl", others)
    with pytest.raises(SpanftError, match=r"'text 7'\. It has no others"):
        config_for_data("t.jsonl", "d.jsonl")
    write("d.jsonl", [{"body": "text 0", "label": "a"}, *others])
    made = config_for_data("t.jsonl", "d.jsonl")
    warnings = "".join(made.warnings)
    assert "Texts of d.jsonl that are also trained on: 1." in warnings
    assert "only in d.jsonl and cannot be learned: 'text 0', 'text 1'" in warnings
    names = [made.config["corpora"][x]["text"] for x in ("train", "dev")]
    assert names == ["text", "body"]
    assert "d.jsonl: text: body, label: label" in made.notes
    assert len(made.data["dev"].labels) == 9
    with pytest.raises(SpanftError, match="no column 'text'"):
        config_for_data("t.jsonl", "d.jsonl", columns={"text": "text"})


def test_few_texts_are_all_trained_on():
    rows = texts(500, ["positive", "negative"])
    rows.append({"text": "text", "label": "postive"})
    for n_rows, n_dev, steps, frequency in (
        *((9, 9, 48, 48), (30, 30, 90, 90), (500, 500, 150, 150)),
        (501, 100, 208, 13),
    ):
        write("t.jsonl", rows[-n_rows:])
        made = config_for_data("t.jsonl", regime="everything")
        is_few = n_rows == n_dev
        assert ("None is held out" in made.changes[0]) == is_few
        assert ("t.jsonl (held-out part): 100 texts" in made.notes[-1]) != is_few
        assert "once or twice, too few to learn: 'postive'." in made.warnings[0]
        assert len(made.data["dev"].n_words) == n_dev
        training = made.config["training"]
        limits = ("max_epochs", "max_steps", "eval_frequency")
        assert [training[key] for key in limits] == [0, steps, frequency]
        assert training["score_weights"]["cats_score"] == (0.0 if is_few else 1.0)
        rate = training["optimizer"]["learn_rate"]["initial_rate"]
        assert rate == (2e-5 if n_rows <= 32 else 5e-5)
        assert made.config["initialize"]["after_init"]["probe"] is True
        assert "contrast" not in made.config["initialize"]["after_init"]
        assert made.config["components"]["textcat"]["model"]["summary"] == "unit_mean"


def test_none_of_few_texts_a_label_is_held_out():
    labels = [f"label {i}" for i in range(40)]
    for n_rows, n_dev, steps, frequency in ((720, 720, 180, 180), (801, 160, 210, 21)):
        write("t.jsonl", texts(n_rows, labels))
        made = config_for_data("t.jsonl")
        assert len(made.data["dev"].n_words) == n_dev
        training = made.config["training"]
        assert training["max_steps"] == steps
        assert training["eval_frequency"] == frequency
        assert training["patience"] == (0 if n_dev == n_rows else steps // 2)


def test_other_texts_keep_their_mean():
    pairs = [{**row, "sentence1": "x", "sentence2": "y"} for row in texts(40)]
    for rows, task in ((texts(40), "textcat_multilabel"), (pairs, "pair")):
        write("t.jsonl", rows)
        blocks = config_for_data("t.jsonl", task=task).config["components"].values()
        (block,) = (x for x in blocks if "textcat" in x["factory"])
        assert block["model"]["summary"] == "mean"


def test_an_encoder_first_learns_what_labels_tell_apart():
    for n_rows, labels, contrast, dev in (
        *((10, "ab", 10, None), (32, "ab", 32, "t.jsonl"), (32, "abc", 32, None)),
        *((33, "abc", 99, None), (48, "abc", 144, "t.jsonl"), (300, "abc", 150, None)),
        (800, "abc", 200, "t.jsonl"),
    ):
        write("t.jsonl", texts(n_rows, labels))
        made = config_for_data("t.jsonl", dev)
        assert made.config["initialize"]["after_init"]["contrast"] == contrast
        training = made.config["training"]
        assert training["max_steps"] == training["eval_frequency"] == 1
        summary = "unit_mean" if n_rows <= 32 else "mean"
        assert made.config["components"]["textcat"]["model"]["summary"] == summary
        assert training["optimizer"]["learn_rate"]["initial_rate"] == 5e-6
        assert f": {contrast} steps of {min(16, n_rows)} texts" in made.changes[0]
        assert ("None is held out" in made.changes[0]) == (dev is None)


LONG = [{"text": "word " * 500, "label": "abc"[i % 3]} for i in range(60)]


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        ([*texts(10, "a"), *texts(2, "b")], {}),
        (texts(33, "ab"), {}),
        (texts(2001, "abc"), {"dev": "t.jsonl"}),
        (texts(85, "abcdefghijklmnopq"), {}),  # more labels than texts in a batch
        (texts(32, "abc"), {"regime": "everything"}),
        *((texts(60, "abc"), {"regime": x}) for x in REGIMES),
        (LONG, {}),
        (LONG, {"encoder": "spacy-transformers"}),
    ],
)
def test_without_contrast_the_loop_trains(rows, options):
    write("t.jsonl", rows)
    config = config_for_data("t.jsonl", **options).config
    assert "contrast" not in config["initialize"]["after_init"]
    assert config["training"]["max_steps"] > 1


def test_few_sentences_are_all_trained_on_in_small_steps():
    rows = [{"text": f"I saw Ann {i}", "label": [[6, 9, "PER"]]} for i in range(100)]
    write("t.jsonl", rows)
    for dev, frequency in ((None, 300), ("t.jsonl", 100)):
        made = config_for_data("t.jsonl", dev)
        assert "300 steps of 8 texts" in made.changes[0]
        training = made.config["training"]
        assert training["batcher"]["size"] == 8
        assert training["eval_frequency"] == frequency
    for n, expected in ((1, (1e-4, 3e-4)), (3, (1e-4, 1e-3)), (7, (5e-5, 1e-3))):
        write("t.jsonl", rows * n)
        optimizer = config_for_data("t.jsonl").config["training"]["optimizer"]
        rates = (optimizer[x]["initial_rate"] for x in ("learn_rate", "head_rate"))
        assert tuple(rates) == expected


@pytest.mark.parametrize(
    ("task", "columns", "options"),
    [
        ("pair", ("sentence1", "sentence2", "label"), ()),
        ("score", ("a", "b", "s"), ("--text", "a", "--text-pair", "b", "--score", "s")),
        ("score", ("text", "text_pair", "score"), ()),
        ("text_score", ("text", "kind", "score"), ()),
    ],
)
def test_pairs_and_scores_are_detected(task, columns, options):
    rows = [(f"text {i}", "other", i % 4) for i in range(20)]
    write("t.jsonl", [dict(zip(columns, row, strict=True)) for row in rows])
    done = init("x.cfg", "--train", "t.jsonl", *options)
    assert f"Detected from the data: --pipeline {task}\n" in done.stderr
    docs = corpus()
    assert ("[SEP] other" in docs[0].text) == (task != "text_score")
    if task != "pair":
        assert {doc.cats["score"] for doc in docs} == {0, 1, 2, 3}


def test_epochs_and_ranges_fit_the_data():
    config = task_config("textcat", spans=False)
    for n_texts, epochs in ((40, 20), (320, 20), (1280, 5), (2150, 3), (9000, 3)):
        assert fitting_epochs(config, n_texts) == epochs
    for scores, expected in (((0, 100.3), (0.0, 101.0)), ((-2.5, 2), (-3.0, 2.0))):
        write("t.jsonl", [{"text": f"{i}", "s": scores[i % 2]} for i in range(20)])
        made = config_for_data("t.jsonl", columns={"score": "s"})
        block = made.config["components"]["text_regressor"]
        assert (block["low"], block["high"]) == expected
    assert not made.warnings
    write("dev.jsonl", [{"text": "a", "s": 9.0}])
    warnings = config_for_data("t.jsonl", "dev.jsonl", columns={"score": "s"}).warnings
    assert "go from 9 to 9, far beyond -2.5 to 2, which" in "".join(warnings)


def test_entities_from_columns_and_offsets():
    Path("t.conll.txt").write_text("in O\nParis B-LOC\n\nhere O\n\n")
    columns = ("-p", "spancat", "--train", "t.conll.txt", "--dev", "t.conll.txt")
    assert "t.conll.txt: 2 texts of 1 to 2 words" in init("x.cfg", *columns).stderr
    doc = corpus()[0]
    assert [span.text for span in doc.spans["sc"]] == ["Paris"]
    Path("t.conll").write_bytes(b"Caf\xe9 B-LOC\nis O\n\n" * 4)
    config_for_data("t.conll", columns={"errors": "replace"})
    spans = [{"start": 3, "end": 8, "label": "LOC"}]
    write("t.jsonl", [{"text": f"in Paris {i}", "spans": spans} for i in range(10)])
    made = config_for_data("t.jsonl")
    assert made.task == "bilou_ner"


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({"cats": {"x": 1.0, "y": 0.0}}, "textcat"),
        ({"cats": {"x": 1.0, "y": 1.0}}, "textcat_multilabel"),
        ({"cats": {"x": 1.0}, "words": ["a", "[SEP]", "b"]}, "pair"),
        ({"cats": {"score": 0.3}}, "text_score"),
        ({"cats": {"score": 0.3}, "words": ["a", "[SEP]", "b"]}, "score"),
        ({"ents": ["B-LOC", "O"]}, "bilou_ner"),
        ({"spans": True}, "spancat"),
        ({}, None),
    ],
)
def test_tasks_of_docs(nlp, annotations, expected):
    cats, has_spans = (annotations.pop(name, {}) for name in ("cats", "spans"))
    doc = Doc(nlp.vocab, **{"words": ["in", "Paris"], **annotations})
    doc.cats = cats
    if has_spans:
        doc.spans["sc"] = [Span(doc, 1, 2, "LOC")]
    DocBin(docs=[doc]).to_disk("t.spacy")
    if expected:
        assert guess_task("t.spacy", {}, "en") == expected
        return
    with pytest.raises(SpanftError, match=r"'t\.spacy' has no annotations to learn"):
        guess_task("t.spacy", {}, "en")


def test_long_texts():
    rows = [{"text": "good " * n, "label": f"{n}"} for n in (5, 400)] * 5
    write("t.jsonl", rows)
    made = config_for_data("t.jsonl")
    assert "50% of the texts have more than 384 words" in made.changes[-1]
    assert made.config["training"]["accumulate_gradient"] == 8
    pytest.importorskip("spacy_transformers")
    made = config_for_data("t.jsonl", encoder="spacy-transformers")
    model = made.config["components"]["transformer"]["model"]
    spans = model["get_spans"]
    assert (spans["window"], spans["stride"]) == (384, 288)
    assert model["tokenizer_config"]["model_max_length"] == 512


@pytest.mark.parametrize("name", ["films", "films:2026"])
def test_a_dataset(name):
    Path(name).mkdir()
    head = "---\nconfigs:\n- config_name: films\n  data_files:\n"
    for split in ("train", "validation"):
        rows = [{**row, "text": f"{split} {i}"} for i, row in enumerate(texts(6))]
        write(f"{name}/{split}.jsonl", rows)
        head += f"  - split: {split}\n    path: {split}.jsonl\n"
    Path(name, "README.md").write_text(f"{head}---\n")
    init("x.cfg", "--train", name, "--dev", name)
    for part, split in (("train", "train"), ("dev", "validation")):
        assert [doc.text for doc in corpus(part)] == [f"{split} {i}" for i in range(6)]


def test_spacy_checks_what_is_written(bert):
    write("t.jsonl", texts(150, "xyz"))
    init("x.cfg", "--train", "t.jsonl", "-t", bert)
    run("debug", "config", "x.cfg")
    printed = run("debug", "data", "x.cfg").stdout
    assert "150 training docs" in printed
    assert "150 evaluation docs" in printed


AB = texts(12, "ab")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (texts(12, ["Good", "good.", "bad"]), "case or punctuation: 'Good', 'good.'"),
        (texts(12, ["1", "1.0", "no", "No"]), ": '1', '1.0'; 'no', 'No'. If"),
        (texts(12, ["a", "b", "a|b"]), "If these are several labels, add --label-sep"),
        (texts(12, ["['a', 'b']", "['a']"]), "lists, save them as JSONL"),
        ([*AB, *({**row, "label": "a"} for row in AB[:3])], "a different label: 1."),
        ([*AB, {"text": "", "label": "a"}, {"text": "", "label": "b"}], "nothing: 2."),
        ([*AB, {"text": 5000 * " x", "label": "a"}], "The longest text of t.jsonl has"),
    ],
)
def test_data_that_may_be_meant_otherwise(rows, message):
    write("t.jsonl", [*AB, *AB[:3]])
    assert not config_for_data("t.jsonl").warnings
    write("t.jsonl", rows)
    (doubt,) = config_for_data("t.jsonl").warnings
    assert message in doubt


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--train empty.jsonl", "All texts of 'empty.jsonl' are empty"),
        ("--dev t.jsonl", "--dev is given without --train"),
        ("-p ner --train t.jsonl", "'t.jsonl' cannot be read for ner"),
        ("--train t.jsonl --label text --score x", "Name --label or --score, not both"),
        ("-p pair --train t.jsonl", "with --text-pair, or use --pipeline textcat"),
        ("-p score --train t.jsonl --score label", "use --pipeline text_score"),
        ("--lang german", "tokenizer of the language 'german': [E048]"),
        ("-t ./none", "encoder './none' cannot be loaded"),
        ("-t junk", "The encoder 'junk' cannot be loaded: there is no config.json"),
        ("-t odd", "The encoder 'odd' cannot be loaded: Unrecognized model"),
        ("-p tagger --train o.conll", "takes spaCy's binary data (.spacy)."),
        ("--train nothing.jsonl", "No row of 'nothing.jsonl' has spans with character"),
        ("--no-spans -d mine.tsv.gz", "excludes --dictionary"),
        ("--train m.jsonl --dev m.jsonl -p textcat", "several labels or none (2)"),
    ],
)
def test_errors(options, message):
    write("t.jsonl", [{"text": "a", "label": "x"}])
    for name, file in (("junk", "model.safetensors"), ("odd", "config.json")):
        Path(name).mkdir()
        Path(name, file).write_text("{}")
    write("empty.jsonl", [{"text": " \n ", "label": "a"}])
    write("nothing.jsonl", [{"text": "a", "spans": []}])
    write("m.jsonl", [{"text": "a", "label": ["x", "y"]}, {"text": "b", "label": []}])
    NgramDictionary({"ein neues": 3}).to_disk("mine.tsv.gz")
    done = init("x.cfg", *options.split(), ok=False)
    assert message in done.stderr
    assert not Path("x.cfg").exists()
