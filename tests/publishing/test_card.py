"""Model cards say what the files of a pipeline say, whatever that is."""

import io
import json
import re
from contextlib import redirect_stdout
from types import SimpleNamespace

import pytest
import srsly
from huggingface_hub import ModelCard

from spacy_spanft.configs import TASKS
from spacy_spanft.publishing import facts, model_card, opened
from spacy_spanft.publishing.card import _license, has_front_matter
from spacy_spanft.publishing.scores import label_scores_of, scores_of

from ..commands import run
from .trained import save, train

OF_TOKENS = {"ner", "bilou_ner", "spancat", "tagger"}
METRICS = {
    "textcat": {"f1", "precision", "recall", "roc_auc"},
    "pair": {"f1", "accuracy"},
    "text_score": {"pearsonr", "spearmanr"},
    "ner": {"f1", "precision", "recall"},
    "tagger": {"accuracy"},
    # So short a training finds no span, and a 0 that chose nothing is left out.
    "spancat": {"f1"},
}
ALIKE = {"bilou_ner": "ner", "score": "text_score"}
SHOWN = {
    "textcat": {"A", "B"},
    "textcat_multilabel": {"A", "B"},
    "pair": {"0", "1"},
    "score": {"score"},
    "text_score": {"score"},
}
SEGMENTER = ("span_segmenter", {})


def python_of(card):
    """Give the code that a card shows."""
    return re.search(r"```python\n(.*?)```", card, re.DOTALL)[1]


@pytest.mark.parametrize("task", TASKS)
def test_each_task(task, bert, dictionary, tmp_path):
    dictionary.to_disk(tmp_path / "own.tsv.gz")
    settings = {"dictionary": str(tmp_path / "own.tsv.gz"), "segmentation": "spans"}
    if task == "ner":  # so short a training finds entities with its encoder alone
        settings["regime"] = "everything"
    model = train(tmp_path, task, bert, **settings)
    run("spanft", "card", model, "--output", tmp_path / "README.md")
    card = (tmp_path / "README.md").read_text(encoding="utf8")
    meta = srsly.read_json(model / "meta.json")
    data = ModelCard(card).data
    kind = "token" if task in OF_TOKENS else "text"
    assert data.pipeline_tag == f"{kind}-classification"
    assert data.tags == ["spacy", data.pipeline_tag]
    assert (data.language, data.library_name) == ("en", "spacy")
    assert data.base_model is None  # a folder on this machine
    found = {one.metric_type for one in data.eval_results}
    assert found >= METRICS.get(ALIKE.get(task, task), {"f1"})
    for one in data.eval_results:
        key = re.search(r"\((\w+)\)$", one.metric_name)[1]
        assert one.metric_value == meta["performance"][key]
        assert f"| {one.metric_value:.4f} |" in card
        assert one.dataset_name in ("data.spacy", "data.tsv")
    # spaCy's tagger has weights of these, and nothing computes them.
    assert not re.search(r"pos_acc|tag_micro", card)
    for labels in meta["labels"].values():
        assert not labels or f"| {', '.join(labels)} |" in card
    assert "| n-grams | 5 |" in card
    assert "| license | not recorded |" in card
    assert re.search(r"^\w+: bert, a local folder\.$", card, re.MULTILINE)
    assert str(tmp_path) not in card
    shown = io.StringIO()
    with redirect_stdout(shown):
        exec(python_of(card).replace('"en_pipeline"', repr(str(model))), {})
    assert shown.getvalue().strip()
    assert all(f"'{label}': " in shown.getvalue() for label in SHOWN.get(task, ()))


def test_the_default_dictionary_is_licensed(tmp_path):
    model = save(tmp_path / "model", SEGMENTER)
    card = run("spanft", "card", model).stdout
    assert "| source | English Wikipedia, 2015 (" in card
    assert "| license | MIT: the default dictionary of spacy-spanft" in card
    assert "## Scores\n\nNot recorded." in card
    assert "| Trained on | not recorded |" in card
    assert ModelCard(card).data.eval_results is None


NASTY = 'a: "b"\n---\n# Title | `x` <b> [y](z) é\u202e \x1b[31m'


def test_nothing_in_the_files_breaks_it(tmp_path):
    model = save(tmp_path / "model", SEGMENTER, ("textcat", {}))
    meta = srsly.read_json(model / "meta.json")
    performance = {
        "cats_f": 0.5,
        NASTY: 0.25,
        "x_per_type": {NASTY: {"p": 1, "r": 1, "f": 1}},
    }
    meta |= dict.fromkeys(("name", "version", "license", "author", "url"), NASTY)
    meta |= {"labels": {"textcat": [NASTY]}, "performance": performance}
    meta |= {
        "sources": [{"name": NASTY, "url": NASTY}],
    }
    srsly.write_json(model / "meta.json", meta)
    with opened(str(model)) as saved:
        card = model_card(saved, "me/x")
    before = model_card(
        SimpleNamespace(**{**vars(saved), "name": "en_x", "components": {}})
    )
    data = ModelCard(card).data
    assert data.tags == ["spacy", "text-classification"]
    assert [one.metric_value for one in data.eval_results] == [0.5]
    assert data.license == "other"
    assert [line for line in card.splitlines() if line == "---"] == ["---"] * 2
    titles = [line for line in card.splitlines() if line.startswith("# ")]
    assert len(titles) == 1
    assert before.count("\n## ") == card.count("\n## ") - 1  # its segmentation
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", card)
    for row in re.findall(r"^\|.*$", card, re.MULTILINE):
        assert len(re.findall(r"(?<!\\)\|", row)) in (3, 4, 5), row
    compile(python_of(card), "card", "exec")


def test_half_a_character_can_be_written(tmp_path):
    model = save(tmp_path / "model", SEGMENTER)
    meta = srsly.read_json(model / "meta.json")
    meta |= {"description": "half \ud800", "notes": "\udfff", "version": "\ud801"}
    (model / "meta.json").write_text(json.dumps(meta), encoding="utf8")
    run("spanft", "card", model, "--output", tmp_path / "x.md")
    text = (tmp_path / "x.md").read_text(encoding="utf8")
    assert "half \\ud800" in text
    assert "\\udfff" in text


def test_many_labels_are_cut(tmp_path):
    nlp_folder = save(tmp_path / "model", ("textcat", {}))
    meta = srsly.read_json(nlp_folder / "meta.json")
    with opened(str(nlp_folder)) as saved:
        saved.meta = {**meta, "labels": {"textcat": [f"l{i}" for i in range(1234)]}}
        assert ", l99, and 1,134 more |" in model_card(saved)


def test_scores_are_numbers_that_were_measured():
    performance = {
        **{"ents_f": 0.5, "ents_p": None, "tok2vec_loss": 3.0, "speed": 9.0},
        **{"ok": True, "x": float("nan"), "cats_score": 0.25, "own": 7},
        **{"cats_score_desc": "macro F", "per_type": {}, "tag_acc": 0, "pos_acc": 0},
        "ents_per_type": {"A": {"p": 1.0, "r": 0.5, "f": 0.6}, "B": {"p": None}},
        "cats_auc_per_type": {"A": 0.5},
    }
    weights = {"tag_acc": 1.0, "pos_acc": None}
    found = scores_of({"performance": performance}, weights)
    assert [(one.key, one.name, one.value) for one in found] == [
        ("ents_f", "F1 of entities", 0.5),
        ("cats_score", "macro F", 0.25),
        ("own", "own", 7),
        ("tag_acc", "Accuracy of tags", 0),
    ]
    (table,) = label_scores_of({"performance": performance})
    assert table == ("ents_per_type", [("A", [1.0, 0.5, 0.6])])


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("", {}),
        ("MIT", {"license": "mit"}),
        ("MIT License", {"license": "mit"}),
        ("Apache 2.0", {"license": "apache-2.0"}),
        ("GNU GPL 3.0", {"license": "gpl-3.0"}),
        ("CC BY-SA 4.0", {"license": "cc-by-sa-4.0"}),
        ("my own: ---", {"license": "other", "license_name": "my-own"}),
    ],
)
def test_licenses(written, expected):
    assert _license(written) == expected


TABLE = {"@readers": "spacy-spanft.TableCorpus.v1", "path": "data/reviews.csv"}
DATASET = {
    "@readers": "spacy-spanft.DatasetCorpus.v1",
    **{"name": "nyu-mll/glue", "config": "cola", "split": "train"},
}
HELD_OUT = {"@readers": "spacy-spanft.HeldOutCorpus.v1", "share": 0.2, "corpus": TABLE}


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (TABLE, ("data/reviews.csv", None)),
        ({**TABLE, "path": "/home/me/reviews.csv"}, ("reviews.csv", None)),
        ({**TABLE, "path": None}, (facts.UNKNOWN, None)),
        (DATASET, ("nyu-mll/glue, config cola, split train", "nyu-mll/glue")),
        ({**HELD_OUT, "part": "dev"}, ("20% of data/reviews.csv, held out", None)),
        ({**HELD_OUT, "part": "train"}, ("80% of data/reviews.csv", None)),
        ({"@readers": "mine.v1"}, (facts.UNKNOWN, None)),
        (None, (facts.UNKNOWN, None)),
    ],
)
def test_data(block, expected):
    config = {"training": {"dev_corpus": "corpora.dev"}, "corpora": {"dev": block}}
    assert facts.data_of(SimpleNamespace(config=config), "dev") == expected


def test_what_is_on_the_hub(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert facts.is_on_hub("bert-base-uncased")
    assert facts.is_on_hub("training/encoder")
    (tmp_path / "training" / "encoder").mkdir(parents=True)
    assert not facts.is_on_hub("training/encoder")
    for path in ("/models/bert", "./bert", "../bert", "a/b/c", "C:\\bert", "a b"):
        assert not facts.is_on_hub(path), path


def test_front_matter_is_recognized():
    assert has_front_matter("---\nlicense: mit\n---\n# Title\n")
    assert has_front_matter("---\r\nlicense: mit\r\n---")
    for text in ("# Title\n", "---\n", "\n---\na: b\n---\n", "--- \na\n---\n", ""):
        assert not has_front_matter(text), text


def test_a_file_is_kept_unless_forced(tmp_path):
    model = save(tmp_path / "model", SEGMENTER)
    path = tmp_path / "README.md"
    path.write_text("mine", encoding="utf8")
    done = run("spanft", "card", model, "-o", path, ok=False)
    assert "already exists" in done.stderr
    assert path.read_text(encoding="utf8") == "mine"
    run("spanft", "card", model, "-o", path, "--force")
    assert has_front_matter(path.read_text(encoding="utf8"))
