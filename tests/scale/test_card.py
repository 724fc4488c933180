"""Model cards say what the files of a pipeline say, whatever that is."""

import io
import re
from contextlib import redirect_stdout
from types import SimpleNamespace

import pytest
import srsly
from huggingface_hub import ModelCard

from spacy_spanft.scale import model_card, opened
from spacy_spanft.scale.publishing import (
    UNKNOWN,
    card_data,
    data_of,
    encoders_of,
    scores_of,
)

from ..commands import run
from .trained import save

PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
# What the code of a card prints.
SHOWN = {"textcat": "'A': ", "pair": "'1': ", "score": "'score': "}
SEGMENTER = ("span_segmenter", {})


@pytest.mark.parametrize("task", ["textcat", "pair", "score", "bilou_ner", "tagger"])
def test_each_task(task, trained):
    model = trained(task)
    card = run("spanft", "card", model).stdout
    meta, data = srsly.read_json(model / "meta.json"), ModelCard(card).data
    kind = "token" if task in ("bilou_ner", "tagger") else "text"
    assert data.tags == ["spacy", f"{kind}-classification"]
    assert (data.language, data.library_name) == ("en", "spacy")
    assert data.base_model is None  # a folder on this machine
    assert data.eval_results
    for result in data.eval_results:
        assert result.metric_value == meta["performance"][result.metric_name]
        assert f"| {result.metric_name} | {result.metric_value:.4f} |" in card
        assert result.dataset_name in ("data.spacy", "data.tsv")
    # spaCy's tagger has weights of these, and nothing computes them.
    assert not re.search(r"pos_acc|tag_micro", card)
    for labels in meta["labels"].values():
        assert not labels or f"| {', '.join(labels)} |" in card
    assert "| n-grams | 5 |" in card
    assert "| license | not recorded |" in card
    assert re.search(r"^\w+: bert, a local folder\.$", card, re.MULTILINE)
    assert str(model.parents[2]) not in card
    shown = io.StringIO()
    with redirect_stdout(shown):
        exec(PYTHON.search(card)[1].replace('"en_pipeline"', repr(str(model))), {})
    assert SHOWN.get(task, "\n") in shown.getvalue()


def test_the_default_dictionary_is_licensed_and_files_are_kept(tmp_path):
    model, path = save(tmp_path / "model", SEGMENTER), tmp_path / "README.md"
    path.write_text("mine", encoding="utf8")
    assert "already exists" in run("spanft", "card", model, "-o", path, ok=False).stderr
    assert path.read_text(encoding="utf8") == "mine"
    run("spanft", "card", model, "-o", path, "--force")
    card = path.read_text(encoding="utf8")
    assert "| source | English Wikipedia, 2015 (" in card
    assert "| license | MIT" in card
    assert "## Scores\n\nNot recorded." in card
    assert "| Trained on | not recorded |" in card
    assert ModelCard(card).data.eval_results is None


NASTY = 'a: "b"\n---\n# Title | `x` <b> [y](z) é\u202e \x1b[31m'


def test_nothing_in_the_files_breaks_it(tmp_path):
    model = save(tmp_path / "model", SEGMENTER, ("textcat", {}))
    meta = srsly.read_json(model / "meta.json")
    meta |= dict.fromkeys(("name", "version", "license", "author", "url"), NASTY)
    meta["performance"] = {"cats_f": 0.5, NASTY: 0.25}
    meta |= {"labels": {"textcat": [NASTY]}, "sources": [{"name": NASTY, "url": NASTY}]}
    srsly.write_json(model / "meta.json", meta)
    with opened(str(model)) as saved:
        card = model_card(saved, "me/x")
    data = ModelCard(card).data
    assert data.tags == ["spacy", "text-classification"]
    assert [result.metric_value for result in data.eval_results] == [0.5, 0.25]
    assert data.license == "other"
    lines = card.splitlines()
    assert [line for line in lines if line == "---"] == ["---"] * 2
    assert len([line for line in lines if line.startswith("# ")]) == 1
    assert len([line for line in lines if line.startswith("## ")]) == 6
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", card)
    for row in re.findall(r"^\|.*$", card, re.MULTILINE):
        assert len(re.findall(r"(?<!\\)\|", row)) in (3, 4, 5), row
    compile(PYTHON.search(card)[1], "card", "exec")


def test_only_scores_that_were_measured():
    performance = {"ents_f": 0.5, "ents_p": None, "tok2vec_loss": 3.0, "speed": 9.0}
    performance |= {"tag_acc": 0, "pos_acc": 0, "ents_per_type": {"A": {"p": 1.0}}}
    config = {"training": {"score_weights": {"tag_acc": 1.0, "pos_acc": None}}}
    saved = SimpleNamespace(meta={"performance": performance}, config=config)
    assert scores_of(saved) == {"ents_f": 0.5, "tag_acc": 0}


def test_licenses(tmp_path):
    with opened(str(save(tmp_path / "model", ("textcat", {})))) as saved:
        for license, *expected in (
            ("", None, None),
            ("GNU GPL 3.0", "gpl-3.0", None),
            ("my own: ---", "other", "my-own"),
        ):
            licensed = saved._replace(meta={**saved.meta, "license": license})
            data = card_data(licensed).to_dict()
            assert [data.get("license"), data.get("license_name")] == expected


TABLE = {"@readers": "spacy-spanft.TableCorpus.v1", "path": "data/reviews.csv"}
DATASET = {"@readers": "spacy-spanft.DatasetCorpus.v1", "name": "nyu-mll/glue"}
HELD_OUT = {"@readers": "spacy-spanft.HeldOutCorpus.v1", "share": 0.2, "corpus": TABLE}


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({**TABLE, "path": "/home/me/reviews.csv"}, ("reviews.csv", False)),
        ({**TABLE, "path": None}, (UNKNOWN, False)),
        (DATASET, ("nyu-mll/glue", True)),
        ({**HELD_OUT, "part": "dev"}, ("20% of data/reviews.csv", False)),
        ({**HELD_OUT, "part": "train"}, ("80% of data/reviews.csv", False)),
        (None, (UNKNOWN, False)),
    ],
)
def test_data(block, expected):
    config = {"training": {"dev_corpus": "corpora.dev"}, "corpora": {"dev": block}}
    assert data_of(SimpleNamespace(config=config), "dev") == expected


def test_encoders_on_the_hub(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "training" / "encoder").mkdir(parents=True)
    for name, expected in {
        "me/bert": ("me/bert", True),
        "training/encoder": ("training/encoder", False),  # which is a folder here
        "/models/bert": ("bert", False),
        "../bert": ("../bert", False),
    }.items():
        block = {"model": {"@architectures": "x.v1", "name": name}}
        assert encoders_of(SimpleNamespace(components={"t": block})) == {"t": expected}
