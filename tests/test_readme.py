"""Every snippet of the README runs, and says what the README says."""

import io
import json
import re
import shlex
import shutil
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest
import spacy
import srsly
from spacy.tokens import DocBin
from spacy.training import Example
from spacy.util import load_config
from thinc.api import Config

from spacy_spanft import NgramDictionary
from spacy_spanft.experiments.comparison import comparing
from spacy_spanft.experiments.comparison.annotating import annotate
from spacy_spanft.experiments.comparison.measure import measure
from spacy_spanft.experiments.metrics.scoring import Metric
from spacy_spanft.experiments.report import reasons
from spacy_spanft.training.readers.rows import Row

from .commands import run
from .test_textcat import TOKENS
from .tiny import save_bert

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf8")
SNIPPETS = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
CONFIG = """
configs:
- config_name: wikitext-103-raw-v1
  data_files: data.jsonl
"""


def snippets(language):
    return [code for name, code in SNIPPETS if name == language]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What the snippets find in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(comparing, "measure_in_subprocess", measure)
    monkeypatch.setattr(
        reasons, "run_in_subprocess", lambda function, *args: function(*args)
    )
    line = "New York City is one of the largest cities in the United States.\n"
    pairs = "sentence1\tsentence2\tlabel\na b\tc\t0\na\ta\t1\n"
    for name in ("train.tsv", "dev.tsv"):
        (tmp_path / name).write_text(pairs, encoding="utf8")
    for name in ("corpus.txt", "texts.txt"):
        (tmp_path / name).write_text(line * 15, encoding="utf8")
    hub = tmp_path / "wikitext"  # of the same format as on the hub
    hub.mkdir()
    (hub / "README.md").write_text(f"---{CONFIG}---\n", encoding="utf8")
    save_pipeline(tmp_path / "training" / "model-best")
    save_classifiers(tmp_path)
    save_runs(tmp_path)
    save_bert(tmp_path / "bert-base-uncased")
    rows = [json.dumps({"text": f" {line}"}) + "\n"] * 12
    (hub / "data.jsonl").write_text("".join(rows), encoding="utf8")
    return tmp_path


def save_pipeline(folder):
    """Save a pipeline that takes pairs of texts."""
    tokenizer = {"@tokenizers": "spacy-spanft.PairTokenizer.v1"}
    nlp = spacy.blank("en", config={"nlp": {"tokenizer": tokenizer}})
    textcat = nlp.add_pipe("textcat")
    for label in ("same", "other"):
        textcat.add_label(label)
    nlp.initialize()
    folder.parent.mkdir(exist_ok=True)
    nlp.to_disk(folder)


def save_classifiers(folder):
    """Save four pipelines to compare, and what to compare them with."""
    pooling = {"@architectures": "spacy-spanft.MaxPooling.v1"}
    over_spans = {
        "@architectures": "spacy-spanft.SpanTextCat.v1",
        "tok2vec": TOKENS,
        **{"span_pooling": pooling, "doc_pooling": pooling, "exclusive_classes": True},
    }
    for arm, settings in (("base", {}), ("spans", {"model": over_spans})):
        nlp = spacy.blank("en")
        segmenter = nlp.add_pipe("span_segmenter")
        segmenter.initialize(dictionary=NgramDictionary({"New York": 9}))
        textcat = nlp.add_pipe("textcat", config=settings)
        for label in ("same", "other"):
            textcat.add_label(label)
        nlp.initialize()
        for seed, name in enumerate(("", "-0", "-1")):
            nlp.config["training"]["seed"] = seed
            weights = textcat.model.get_ref("output_layer")
            b = weights.get_param("b")
            weights.set_param("b", b + np.array([seed - 1, 0], "f"))  # other answers
            path = folder / "training" / f"{arm}{name}" / "model-best"
            path.parent.mkdir(exist_ok=True)
            nlp.to_disk(path)
    doc = nlp.make_doc("New York")
    doc.cats = {"same": 1.0, "other": 0.0}
    DocBin(docs=[doc] * 3).to_disk(folder / "test.spacy")
    rows = [json.dumps({"text": doc.text, "label": "same"}) + "\n"] * 3
    (folder / "predictions.jsonl").write_text("".join(rows), encoding="utf8")


def save_runs(folder):
    """Save the data of a task, arms, and one run of a matrix."""
    (arms,) = snippets("yaml")
    (folder / "arms.yml").write_text(arms, encoding="utf8")
    shutil.copytree(ROOT / "configs", folder / "configs")
    for part in ("train", "dev", "test"):
        path = folder / "corpus" / "cola" / f"{part}.spacy"
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "test.spacy", path)
    task = folder / "training" / "cola"
    run_folder = task / "encoder" / "0"
    shutil.copytree(folder / "training" / "base" / "model-best", run_folder / "model")
    (task / "arms.json").write_text('{"arms": ["encoder"], "notes": {}}')
    facts = {"arm": "encoder", "seed": 0, "seconds": 1.0, "words_per_second": 2.0}
    (run_folder / "run.json").write_text(json.dumps({**facts, "peak_memory": None}))
    (run_folder / "log.jsonl").write_text('{"step": 0, "score": 0.5}\n')


def test_python_snippets(folder):
    names = {}
    for code in snippets("python"):
        output = io.StringIO()
        with redirect_stdout(output):
            exec(code, names)
        for expected in re.findall(r"^# (\[.*)$", code, re.MULTILINE):
            assert expected in output.getvalue()


def test_rows_of_predictions():
    (rows,) = snippets("json")
    label, entity = map(json.loads, rows.splitlines())
    nlp = spacy.blank("en")
    for cells, metric in ((label, "cats_accuracy"), (entity, "ents_f")):
        doc = nlp.make_doc(cells["text"])
        example = Example(doc, doc.copy())
        annotate(example, Row("Line 1", cells), "", Metric(metric, None, None, None))
        told = doc.to_json()
        key = metric.partition("_")[0]
        assert told[key] == cells.get(key, {label.get("label"): 1.0})


def test_commands(folder):
    commands = [line for code in snippets("bash") for line in code.splitlines()]
    kinds = ("spanft", "init", "evaluate")
    begins = tuple(f"python -m spacy {kind}" for kind in kinds)
    ours = [line for line in commands if line.startswith(begins)]
    others = set(commands) - set(ours)
    trains = {line for line in others if line.startswith("python -m spacy train")}
    projects = {line for line in others if line.startswith("python -m spacy project")}
    assert others - trains - projects == {"make demo", "pip install ."}
    assert projects
    known = srsly.read_yaml(ROOT / "project" / "project.yml")
    for line in projects:
        # Every workflow is run in test_project.py.
        workflow, folder_name, *options = shlex.split(line)[5:]
        assert (workflow in known["workflows"], folder_name) == (True, "project")
        names = {option.removeprefix("--vars.") for option in options[::2]}
        assert names <= known["vars"].keys()
    assert len(trains) == 4
    for line in trains:
        # They are trained in test_configs.py, with a transformer made on the spot.
        name, *options = shlex.split(line)[4:]
        settings = dict(zip(options[::2], options[1::2], strict=True))
        overrides = {
            key.removeprefix("--"): value
            for key, value in settings.items()
            if key not in ("--output", "--gpu-id")
        }
        before, after = load_config(ROOT / name), load_config(ROOT / name, overrides)
        assert {k for k in after["paths"] if after["paths"][k] != before["paths"][k]}
        assert before["training"] == after["training"]  # no number is typed by hand
    for line in ours:
        run(*shlex.split(line)[3:])
    assert (folder / "page.html").exists()
    assert (folder / "wikitext.tsv.gz").exists()


def test_config(folder):
    from spacy_spanft import NgramDictionary

    NgramDictionary({"new york": 1}).to_disk(folder / "ngrams.tsv.gz")
    blocks = snippets("ini")
    code, model, pairs, corpora, rate, check, ner, columns, *last = blocks
    bilou, spancat, regime = last
    nlp = spacy.util.load_model_from_config(Config().from_str(code), auto_fill=True)
    nlp.initialize()
    doc = nlp("in New York")
    assert [span.text for span in doc.spans["ngrams"]] == ["New York"]
    assert nlp.config["training"]["annotating_components"] == ["span_segmenter"]
    resolved = spacy.registry.resolve(Config().from_str(corpora)["corpora"])
    assert set(resolved) == {"train", "dev"}
    paths = '[paths]\ntrain = "x"\n\n[corpora]\n\n'
    read = Config().from_str(paths + columns)["corpora"]["train"]
    assert spacy.registry.resolve({"corpus": read})["corpus"]
    pytest.importorskip("spacy_transformers")
    above = "[components]\n\n[components.textcat]\n\n"
    whole = load_config(ROOT / "configs" / "textcat_pair_spanft.cfg")
    found = Config().from_str(
        f"[nlp]\n\n[components]\n\n[components.transformer]\n\n{pairs}",
        interpolate=False,
    )
    assert whole.merge(found) == whole  # it says what the config says
    found = Config().from_str(f"[training]\n\n[training.optimizer]\n\n{rate}")
    assert whole.merge(found) == whole
    settings = Config().from_str(above + model)["components"]["textcat"]
    for name, block in {"ner": ner, "bilou_ner": bilou, "spancat": spancat}.items():
        head = "" if name == "bilou_ner" else f"[components.{name}]\n\n"
        if name == "spancat":
            head += "[components.spancat.model]\n\n"
        found = Config().from_str(f"[components]\n\n{head}{block}")["components"][name]
        found.pop("factory", None)
        assert nlp.add_pipe(name, config=found).model
    (warn,) = Config().from_str(f"[initialize]\n\n{check}")["initialize"].values()
    assert spacy.registry.resolve({"check": warn})["check"]
    assert nlp.add_pipe("textcat", config=settings).model.attrs["multi_label"] is False
    training = spacy.registry.resolve(Config().from_str(f"[training]\n\n{regime}"))
    assert set(training["training"]) == {"before_update", "optimizer"}


def test_what_segment_prints():
    texts = [
        "The president of the United States of America lives in the White House.",
        "As well as New York City, it is one of the most populous cities in the world.",
        "A phrase that nobody ever wrote before stays in single words.",
    ]
    (expected,) = (code for code in snippets("text") if code.startswith("["))
    assert run("spanft", "segment", *texts).stdout.startswith(expected)
