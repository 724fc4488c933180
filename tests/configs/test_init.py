"""Configs that init writes: those of the top folder are such, and all train."""

import json
import re
import shlex
from pathlib import Path

import pytest
import spacy
from confection import Config
from spacy.tokens import DocBin, Span
from spacy.util import load_config, load_model_from_config

from spacy_spanft.cli.init import Pipeline, Regime
from spacy_spanft.cli.util import Segmentation
from spacy_spanft.configs import (
    REGIMES,
    TASKS,
    base,
    guess_task,
    make_config,
    task_config,
    to_text,
)
from spacy_spanft.configs.adding import SEGMENTATIONS, add_spans
from spacy_spanft.configs.sources import is_dataset
from spacy_spanft.errors import SpanftError
from spacy_spanft.experiments.matrix import arms
from spacy_spanft.ngrams.dictionary import NgramDictionary

from ..commands import run

ROOT = Path(__file__).parents[2]
MADE = re.findall(
    r"^\t\$\(INIT\) (configs/\S+) (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE
)
ALL = [
    (task, spans, regime) for task in TASKS for spans in (0, 1) for regime in REGIMES
]


def flat(block, path=""):
    found = {}
    for key, value in block.items():
        place = f"{path}.{key}" if path else key
        found |= flat(value, place) if hasattr(value, "items") else {place: value}
    return found


def read(text):
    return Config().from_str(text, interpolate=False)


@pytest.mark.parametrize(("name", "options"), MADE, ids=[name for name, _ in MADE])
def test_those_of_the_top_folder_are_made_so(name, options, tmp_path, monkeypatch):
    pytest.importorskip("spacy_transformers")
    monkeypatch.chdir(tmp_path)
    Path("configs").mkdir()
    run("spanft", "init", name, *shlex.split(options))
    stale = f"{name} is not what init writes any more: make configs"
    assert Path(name).read_text() == (ROOT / name).read_text(), stale


def test_all_of_the_top_folder_are_made():
    there = {f"configs/{path.name}" for path in (ROOT / "configs").glob("*.cfg")}
    assert there == {name for name, _ in MADE}


def test_the_command_knows_what_there_is():
    assert [one.value for one in Pipeline] == list(TASKS)
    assert [one.value for one in Regime] == list(REGIMES)
    assert [one.value for one in Segmentation] == list(SEGMENTATIONS)


@pytest.mark.parametrize("task", TASKS)
def test_with_spans_is_the_base_with_spans(task):
    """As `spanft add` puts them into a config of one's own."""
    without = task_config(task, spans=False)
    added = add_spans(without, None, [TASKS[task].component]).config
    assert flat(task_config(task)) == flat(added)


RATES = {
    "everything": {"learn_rate": 5e-5},
    "grouped": {"learn_rate": 5e-5, "head_rate": 1e-3},
    "head-first": {"learn_rate": 5e-5, "head_rate": 1e-3},
}


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        *(("textcat", None), ("score", None), ("ner", 0.1)),
        *(("bilou_ner", 0.1), ("spancat", 0.1), ("tagger", 0.1)),
    ],
)
def test_what_labels_tokens_is_trained_first(task, expected):
    """At the rate of an encoder it learns next to nothing from a few hundred texts."""
    before = {} if expected is None else {"until_share": expected}
    done = run("spanft", "init", "-", "--pipeline", task)
    found = read(done.stdout).interpolate()["training"]["before_update"] or {}
    assert {k: found[k] for k in before} == before
    assert bool(found) == bool(before)
    arm = arms.config_of(arms.ArmConfig("tokens"), arms.Pipeline(task))
    assert flat(arm) == flat(task_config(task, segmentation="spans"))
    together = task_config(task, segmentation="spans", regime="everything")
    assert "before_update" not in together["training"]
    arm = arms.config_of(
        arms.ArmConfig("tokens", regime="everything"), arms.Pipeline(task)
    )
    assert flat(arm) == flat(together)


@pytest.mark.parametrize("regime", REGIMES)
def test_rates_of_a_regime(regime):
    config = read(make_config("ner", regime=regime)).interpolate()
    block = {"optimizer": config["training"]["optimizer"]}
    assert spacy.registry.resolve(block)["optimizer"].L2 == 0.01
    names = [name for name in ("learn_rate", "head_rate") if name in block["optimizer"]]
    rates = {name: block["optimizer"][name]["initial_rate"] for name in names}
    assert rates == RATES[regime]
    before = config["training"]["before_update"] or {}
    is_first = before.get("until_share") == 0.1
    assert is_first == (regime == "head-first")


@pytest.mark.parametrize(
    "options",
    [{"spans": False}, {}, {"segmentation": "none"}, {"segmentation": "spans"}],
    ids=["baseline", "default", "windows", "spans"],
)
@pytest.mark.parametrize("task", TASKS)
def test_each_makes_a_pipeline(task, options):
    """Nothing is left open, and nothing is written that nobody knows."""
    text = make_config(task, **options)
    config = read(text)
    nlp = load_model_from_config(config, auto_fill=True)
    assert flat(config).items() <= flat(nlp.config).items()
    component = TASKS[task].component
    is_of_texts = component in ("textcat", "textcat_multilabel", "text_regressor")
    usual = "spans" if is_of_texts else "none"
    looks_at = options.get("segmentation", usual) if options != {"spans": False} else ""
    segmenter = ["span_segmenter"] if looks_at == "spans" else []
    assert nlp.pipe_names == ["transformer", *segmenter, component]
    assert config["training"]["annotating_components"] == segmenter
    model = config["components"][component]["model"]
    block = model if is_of_texts else model["tok2vec"]
    assert block.get("segmentation", "") == looks_at
    said = {
        "spans": "over phrases",
        "none": "over a CNN without spans",
        "": "without phrases, the baseline",
    }
    assert text.startswith(f"# {TASKS[task].what}, {said[looks_at]}:\n")


def test_sections_stand_before_their_own(tmp_path):
    config = base("spancat")
    text = to_text(config)
    assert read(text) == config
    names = re.findall(r"^\[(.*)\]$", text, re.MULTILINE)
    assert names[:4] == ["paths", "system", "nlp", "components"]
    place = names.index("components.spancat")
    inside = names[place + 1 : names.index("corpora")]
    assert all(name.startswith("components.spancat.") for name in inside)
    odd = read('[a]\nx = "\\n[b]\\n"\n\n[a.b]\ny = ["[c]"]\n\n[z]\n')
    assert read(to_text(odd)) == odd


def test_a_language_and_a_dictionary_of_ones_own(tmp_path):
    path = tmp_path / "mine.tsv.gz"
    NgramDictionary({"in der": 3}).to_disk(path)
    out = tmp_path / "my config.cfg"
    options = ("--lang", "de", "--dictionary", path, "--transformer", "x/y")
    more = ("--pipeline", "ner", "--segmentation", "spans")
    done = run("spanft", "init", out, *options, *more)
    assert (
        f"python -m spacy train '{out}' \\\n    --output 'training/my config'"
        in done.stderr
    )
    config = load_config(out)
    assert config["nlp"]["lang"] == "de"
    assert config["paths"]["dictionary"] == str(path)
    assert config["paths"]["transformer"] == "x/y"
    plain = config.interpolate()["initialize"]["components"]["span_segmenter"]
    assert plain["dictionary"] == str(path)


def test_to_the_output(tmp_path):
    done = run("spanft", "init", "-", "--pipeline", "score", "--no-spans")
    assert done.stdout == make_config("score", spans=False)
    assert done.stderr == ""


class TestData:
    """What init says of data, and that the config reads them."""

    def table(self, name, rows):
        Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    @pytest.fixture(autouse=True)
    def here(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)

    def corpus(self, name="x.cfg", part="train"):
        config = load_config(name).interpolate()
        nlp = spacy.blank("en")
        block = {"corpus": config["corpora"][part]}
        return list(spacy.registry.resolve(block)["corpus"](nlp))

    def test_a_table(self):
        rows = [
            {"body": f"a good film {i}", "kind": "yn"[i % 4 == 0]} for i in range(8)
        ]
        blank = [{"body": text, "kind": "other"} for text in ("", " ")]
        self.table("train.jsonl", rows)
        self.table("dev.jsonl", [*rows[:2], *blank])
        columns = ("--text", "body", "--label", "kind")
        files = ("--train", "train.jsonl", "--dev", "dev.jsonl")
        done = run("spanft", "init", "x.cfg", *files, *columns)
        said = done.stderr
        assert "train.jsonl: 8 texts of 4 words; y: 6 (75%), n: 2 (25%)" in said
        both = "Texts of dev.jsonl that also occur in train.jsonl: 2"
        assert f"{both}; scores will be inflated." in said
        assert (
            "Labels that occur only in dev.jsonl, so that nothing learns them: 'other'."
            in said
        )
        assert "dev.jsonl has empty texts: 2." in said
        assert "  python -m spacy train x.cfg \\\n    --output training/x\n" in said
        assert "--paths" not in said
        config = load_config("x.cfg")
        assert config["paths"]["train"] == "train.jsonl"
        assert [x.reference.text for x in self.corpus()] == [r["body"] for r in rows]

    def test_pairs_and_their_scores(self):
        rows = [{"a": "one", "b": f"two {i}", "s": i / 2} for i in range(4)]
        self.table("t.jsonl", rows)
        columns = ("--text", "a", "--text-pair", "b", "--score", "s")
        done = run(
            "spanft", "init", "x.cfg", "-p", "score", "--train", "t.jsonl", *columns
        )
        said = done.stderr
        assert "the part of t.jsonl to train on: 3 texts of 4 words; scores" in said
        assert "the part of t.jsonl held out as dev data: 1 text of 4 words" in said
        assert "--paths.dev" not in said
        told = run("spanft", "init", "-", "--train", "t.jsonl", *columns)
        assert "Detected from the data: --pipeline score" in told.stderr
        other = ("--encoder", "spacy-transformers", *columns)
        refused = run("spanft", "init", "-", "--train", "t.jsonl", *other, ok=False)
        assert "spacy-transformers cannot encode pairs of texts" in refused.stderr

    def test_columns_of_conll(self):
        Path("t.conll").write_text("in O\nParis B-LOC\n\nhere O\n\n")
        for task in ("ner", "bilou_ner", "spancat"):
            files = ("--train", "t.conll", "--dev", "t.conll")
            args = ("-p", task, *files, "--force")
            done = run("spanft", "init", "x.cfg", *args)
            assert (
                "t.conll: 2 texts of 1 to 2 words (median 2); LOC: 1 (100%)"
                in done.stderr
            )
            (first, _) = self.corpus()
            spans = first.reference.spans.get("sc", first.reference.ents)
            assert [span.text for span in spans] == ["Paris"]

    def test_spacys_own_format(self):
        nlp = spacy.blank("en")
        doc = nlp("a tag")
        for token, tag in zip(doc, ("DT", "NN"), strict=True):
            token.tag_ = tag
        DocBin(docs=[doc]).to_disk("t.spacy")
        files = ("--train", "t.spacy", "--dev", "t.spacy")
        done = run("spanft", "init", "x.cfg", *files)
        assert "Detected from the data: --pipeline tagger" in done.stderr
        assert "t.spacy: 1 text of 2 words; DT: 1 (50%), NN: 1" in done.stderr

    def test_several_labels(self):
        rows = [{"text": "a", "label": ["x", "y"]}, {"text": "b", "label": []}]
        self.table("t.jsonl", rows)
        args = ("spanft", "init", "x.cfg", "--train", "t.jsonl", "--dev", "t.jsonl")
        done = run(*args, "--pipeline", "textcat", ok=False)
        assert "'t.jsonl' has texts with several labels or none (2)" in done.stderr
        assert not Path("x.cfg").exists()
        done = run(*args)
        assert "Detected from the data: --pipeline textcat_multilabel" in done.stderr
        assert "x: 1 (50%), y: 1 (50%)" in done.stderr

    def test_texts_without_entities_are_counted_row_by_row(self):
        rows = ["in O\n", "Rome B-LOC\n"] * 3 + ["at O\n"]
        Path("t.conll").write_text("\n".join(rows) + "\n", "utf8")
        done = run("spanft", "init", "x.cfg", "--train", "t.conll")
        assert "6 texts of 1 word; LOC: 3 (100%); texts without any: 3" in done.stderr

    def test_what_docs_are_for(self):
        nlp = spacy.blank("en")

        def told(text="in Paris", **annotations):
            doc = nlp(text)
            for name, value in annotations.items():
                if name == "spans":
                    doc.spans["sc"] = [Span(doc, 1, 2, "LOC")]
                else:
                    setattr(doc, name, value)
            DocBin(docs=[doc]).to_disk("t.spacy")
            return guess_task("t.spacy", {}, "en")

        assert told(cats={"x": 1.0, "y": 0.0}) == "textcat"
        assert told(cats={"x": 1.0, "y": 1.0}) == "textcat_multilabel"
        assert told(cats={"score": 0.3}) == "text_score"
        assert told("a [SEP] b", cats={"score": 0.3}) == "score"
        assert told(ents=[Span(nlp("in Paris"), 1, 2, "LOC")]) == "bilou_ner"
        assert told(spans=True) == "spancat"
        with pytest.raises(SpanftError, match=r"Nothing is annotated in 't\.spacy'"):
            told()

    def test_pairs_are_told_by_their_columns(self):
        rows = [
            {"sentence1": "a", "sentence2": f"b {i}", "label": "xy"[i % 2]}
            for i in range(10)
        ]
        self.table("t.jsonl", rows)
        done = run("spanft", "init", "-", "--train", "t.jsonl")
        assert "Detected from the data: --pipeline pair" in done.stderr

    def test_scores_of_single_texts(self):
        rows = [{"text": f"text {i}", "stars": i % 5} for i in range(20)]
        self.table("t.jsonl", rows)
        options = ("--train", "t.jsonl", "--score", "stars")
        done = run("spanft", "init", "x.cfg", *options)
        assert "Detected from the data: --pipeline text_score" in done.stderr
        assert "scores from 0 to 4" in done.stderr
        assert {example.reference.cats["score"] for example in self.corpus()} <= {
            *range(5)
        }

    def test_a_column_of_scores_is_one(self):
        rows = [{"text": f"text {i}", "score": i / 7} for i in range(20)]
        self.table("t.jsonl", rows)
        done = run("spanft", "init", "x.cfg", "--train", "t.jsonl")
        assert "Detected from the data: --pipeline text_score" in done.stderr
        rows = [{"sentence1": f"{i}", "sentence2": "x", "score": i} for i in range(20)]
        self.table("t.jsonl", rows)
        done = run("spanft", "init", "x.cfg", "--train", "t.jsonl", "-F")
        assert "Detected from the data: --pipeline score" in done.stderr
        named = ("--pipeline", "score", "--train", "t.jsonl", "-F")
        run("spanft", "init", "y.cfg", *named)
        assert load_config("y.cfg")["corpora"] == load_config("x.cfg")["corpora"]

    def test_labels_are_no_scores(self):
        doc = spacy.blank("en")("a text")
        doc.cats = {"x": 1.0, "y": 0.0}
        DocBin(docs=[doc]).to_disk("t.spacy")
        args = ("--train", "t.spacy", "--dev", "t.spacy", "-p", "text_score")
        done = run("spanft", "init", "x.cfg", *args, ok=False)
        assert "'t.spacy' has no scores for text_score" in done.stderr

    @pytest.mark.parametrize(
        ("n_texts", "epochs"), [(40, 20), (320, 20), (1280, 5), (2150, 3), (9000, 3)]
    )
    def test_few_texts_are_trained_on_longer(self, n_texts, epochs):
        rows = [{"text": f"text {i}", "label": "xy"[i % 2]} for i in range(n_texts)]
        self.table("t.jsonl", rows)
        files = ("--train", "t.jsonl", "--dev", "t.jsonl")
        done = run("spanft", "init", "x.cfg", *files, "--no-spans")
        assert load_config("x.cfg")["training"]["max_epochs"] == epochs
        assert f"batches of 32, {epochs} epochs" in Path("x.cfg").read_text("utf8")
        texts = f"With only {n_texts:,} training texts"
        told = f"{texts}, the config trains for {epochs} epochs."
        assert (told in done.stderr) == (epochs > 3)

    def test_a_warning_is_given_once(self):
        rows = [
            {"text": f"text {i}" if i else "", "label": "xy"[i % 2]} for i in range(9)
        ]
        self.table("t.jsonl", rows)
        done = run("spanft", "init", "-", "--train", "t.jsonl")
        assert done.stderr.count("have no text in column") == 1

    def test_data_for_something_else(self):
        docs = [spacy.blank("en")(f"text {i}") for i in range(9)]
        for i, doc in enumerate(docs):
            doc.cats = {"x": float(i % 2), "y": float(i % 2 == 0)}
        DocBin(docs=docs).to_disk("t.spacy")
        args = ("spanft", "init", "x.cfg", "--train", "t.spacy", "-p", "ner")
        done = run(*args, ok=False)
        assert "'t.spacy' has nothing that ner learns: no entities (doc.ents). It" in (
            done.stderr
        )
        assert "looks like data for --pipeline textcat." in done.stderr
        assert not Path("x.cfg").exists()

    def test_the_range_of_scores(self):
        columns = ("--text", "a", "--text-pair", "b", "--score", "s")
        for scores, expected in (
            ([0, 100.3], (0.0, 101.0)),
            ([0, 4.5], (0.0, 5.0)),
            ([0.1, 0.9], (0.0, 1.0)),
            ([-2.5, 2], (-3.0, 2.0)),
        ):
            rows = [{"a": "x", "b": f"{i}", "s": scores[i % 2]} for i in range(20)]
            self.table("t.jsonl", rows)
            done = run("spanft", "init", "x.cfg", "--train", "t.jsonl", *columns, "-F")
            block = load_config("x.cfg")["components"]["text_regressor"]
            assert (block["low"], block["high"]) == expected
            told = f"on a scale from {expected[0]:g} to {expected[1]:g} (low and high"
            assert told in done.stderr

    def test_labels_that_are_numbers(self):
        rows = [{"text": f"{i}", "stars": i % 5} for i in range(20)]
        self.table("t.jsonl", rows)
        columns = ("--train", "t.jsonl", "--label", "stars")
        done = run("spanft", "init", "-", *columns)
        assert "labels are numbers. To predict a score instead, add --score stars" in (
            done.stderr
        )
        done = run("spanft", "init", "-", "--train", "t.jsonl", "--score", "stars")
        assert "labels are numbers" not in done.stderr

    def test_dev_data_beside_train_data(self):
        self.table(
            "t.jsonl", [{"text": f"{i}", "label": "xy"[i % 2]} for i in range(9)]
        )
        self.table("d.jsonl", [{"text": "other", "label": "x"}])
        done = run("spanft", "init", "-", "--train", "t.jsonl", "--dev", "d.jsonl")
        assert (
            "Labels that d.jsonl lacks, so that no score tells how well" in done.stderr
        )
        done = run("spanft", "init", "-", "--train", "t.jsonl", "--dev", "t.jsonl")
        assert "⚠ The dev data is the training data; scores will be" in done.stderr

    def test_what_cannot_be_learned(self):
        self.table("t.jsonl", [{"text": f"{i}", "label": "x"} for i in range(9)])
        done = run("spanft", "init", "-", "--train", "t.jsonl", ok=False)
        assert "'t.jsonl' that are trained on have the label 'x'" in done.stderr
        self.table(
            "t.jsonl", [{"text": "same", "label": "xy"[i % 2]} for i in range(9)]
        )
        done = run("spanft", "init", "-", "--train", "t.jsonl", ok=False)
        assert "has 1 (number of rows: 9)" in done.stderr
        Path("t.conll").write_text("in O\n\nhere O\n\nthere O\n\n")
        done = run("spanft", "init", "-", "--train", "t.conll", ok=False)
        assert "'t.conll' has nothing that bilou_ner learns: no entities" in done.stderr

    def test_labels_that_contradict(self):
        labels = {"a": ["Good", "bad"], "b": ["good", "good"], "c": ["bad", "bad"]}
        rows = [{"text": t, "label": one} for t, two in labels.items() for one in two]
        self.table("t.jsonl", rows)
        files = ("--train", "t.jsonl", "--dev", "t.jsonl")
        done = run("spanft", "init", "-", *files)
        assert "capital letters: 'Good' and 'good'." in done.stderr
        assert "Texts of t.jsonl with different labels: 1." in done.stderr

    @pytest.mark.parametrize(
        ("columns", "other"),
        [
            ("text text_pair", "text_pair"),
            ("text hypothesis", None),
            ("premise hypothesis", "hypothesis"),
            ("question sentence", "sentence"),
        ],
    )
    def test_a_second_text_that_is_not_read(self, columns, other):
        one, two = columns.split()
        self.table(
            "t.jsonl",
            [{one: f"{i}", two: f"b{i}", "label": "xy"[i % 2]} for i in range(8)],
        )
        done = run("spanft", "init", "-", "--train", "t.jsonl", "--text", one)
        told = f"t.jsonl also has the column {other!r}. If the texts are pairs, add "
        assert (f"{told}--text-pair {other}." in done.stderr) == (other is not None)
        assert done.stderr.count("also has") == (other is not None)

    def test_long_texts(self):
        rows = [{"text": "good " * n, "label": f"{n}"} for n in (5, 200)] * 5
        self.table("t.jsonl", rows)
        files = ("--train", "t.jsonl", "--dev", "t.jsonl")
        done = run("spanft", "init", "ours.cfg", *files)
        assert "of the texts have" not in done.stderr
        self.table("long.jsonl", [{**row, "text": row["text"] * 2} for row in rows])
        long = ("--train", "long.jsonl", "--dev", "long.jsonl")
        done = run("spanft", "init", "long.cfg", *long)
        assert "50% of the texts have more than 384 words. What" in done.stderr
        assert load_config("long.cfg")["training"]["accumulate_gradient"] == 8
        assert load_config("ours.cfg")["training"]["accumulate_gradient"] == 1
        pytest.importorskip("spacy_transformers")
        files = (*files, "--encoder", "spacy-transformers")
        done = run("spanft", "init", "x.cfg", *files)
        assert "50% of the texts are long: the transformer reads 384" in done.stderr
        model = load_config("x.cfg")["components"]["transformer"]["model"]
        assert (model["get_spans"]["window"], model["get_spans"]["stride"]) == (
            384,
            288,
        )
        assert model["tokenizer_config"]["model_max_length"] == 512
        self.table("t.jsonl", [*rows[:1] * 40, *rows[1:2]])
        done = run("spanft", "init", "x.cfg", *files, "--force")
        assert "long" not in done.stderr

    def test_a_dataset(self):
        """Of the same form as on the hub, here in a folder."""
        folder = Path("films")
        folder.mkdir()
        head = "---\nconfigs:\n- config_name: films\n  data_files:\n"
        for split in ("train", "validation"):
            rows = [{"text": f"{split} {i}", "label": "xy"[i % 2]} for i in range(6)]
            self.table(folder / f"{split}.jsonl", rows)
            head += f"  - split: {split}\n    path: {split}.jsonl\n"
        (folder / "README.md").write_text(f"{head}---\n")
        done = run("spanft", "init", "x.cfg", "--train", "films", "--dev", "films")
        assert done.stderr.count("films: 6 texts of 2 words") == 2
        for part, split in (("train", "train"), ("dev", "validation")):
            texts = [example.reference.text for example in self.corpus(part=part)]
            assert texts == [f"{split} {i}" for i in range(6)]
        assert is_dataset("nyu-mll/glue:cola")
        assert not is_dataset("data/train.csv")

    def test_what_is_written_passes_the_checks_of_spacy(self, bert):
        self.table(
            "t.jsonl", [{"text": f"a {i}", "label": "xyz"[i % 3]} for i in range(150)]
        )
        run("spanft", "init", "x.cfg", "--train", "t.jsonl", "-t", bert)
        run("debug", "config", "x.cfg")
        said = run("debug", "data", "x.cfg").stdout
        assert "120 training docs" in said
        assert "30 evaluation docs" in said

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--train", "none.csv"), "none.csv"),
            (("--train", "t.jsonl", "--text", "body"), "body"),
            (
                ("-p", "ner", "--train", "t.jsonl"),
                "'t.jsonl' cannot be read for ner, which takes",
            ),
            (("-p", "ner", "--label", "x"), "--label cannot be set for ner, whose col"),
            (
                ("--score", "x"),
                "--score cannot be set for textcat, whose columns are: 't",
            ),
            (("--train", "empty.jsonl"), "empty.jsonl"),
            (
                ("--train", "t.jsonl", "--label", "text"),
                "text and label are both the column 'text'. Name another",
            ),
        ],
    )
    def test_errors(self, options, message):
        self.table("t.jsonl", [{"text": "a", "label": "x"}])
        Path("empty.jsonl").write_text("")
        done = run("spanft", "init", "x.cfg", *options, ok=False)
        assert message in done.stderr
        assert "✘" in done.stderr
        assert not Path("x.cfg").exists()


class TestErrors:
    def test_another_language_without_a_dictionary(self, tmp_path):
        done = run("spanft", "init", tmp_path / "x.cfg", "--lang", "de", ok=False)
        assert (
            "The default dictionary is English, and the language is 'de'."
            in done.stderr
        )
        assert not (tmp_path / "x.cfg").exists()
        with pytest.raises(SpanftError, match="default dictionary is English"):
            make_config("ner", lang="de", segmentation="spans")
        for without in ({"spans": False}, {}):
            other = read(make_config("ner", lang="de", **without))
            assert other["paths"]["transformer"] == "bert-base-german-cased"

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                ("--lang", "german"),
                "'german' is not the code of a language that spaCy knows, such as 'en'",
            ),
            (("--transformer", " "), "--transformer is ' ', but must be the name or"),
        ],
    )
    def test_what_there_is_not(self, options, message):
        done = run("spanft", "init", "-", "--no-spans", *options, ok=False)
        assert message in done.stderr

    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            ("./none", "there is no such folder"),
            ("none/", "there is no such folder"),
            ("empty", "the folder has no config.json"),
            ("x.bin", "it is a file"),
            ("no-weights", "the folder has no weights"),
            ("no-words", "the folder has no tokenizer"),
        ],
    )
    def test_no_encoder(self, name, reason, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("empty").mkdir()
        for folder, other in (("no-weights", "vocab.txt"), ("no-words", "x.bin")):
            Path(folder).mkdir()
            for file in ("config.json", "tokenizer_config.json", other):
                (Path(folder) / file).touch()
        Path("x.bin").touch()
        done = run("spanft", "init", "-", "-t", name, ok=False)
        assert f"The encoder {name!r} cannot be loaded: {reason}. Name" in done.stderr
        run("spanft", "init", "-", "-t", "some/none")  # may be on the hub

    def test_a_config_that_is_there(self, tmp_path):
        out = tmp_path / "x.cfg"
        out.write_text("mine")
        done = run("spanft", "init", out, ok=False)
        assert "x.cfg' already exists. To overwrite it, add --force" in done.stderr
        assert out.read_text() == "mine"
        run("spanft", "init", out, "--force")
        assert out.read_text() != "mine"

    @pytest.mark.parametrize("part", ["train", "dev"])
    def test_data_that_it_would_write_over(self, tmp_path, part):
        rows = [{"text": f"text {i}", "label": "AB"[i % 2]} for i in range(20)]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        paths = {name: tmp_path / f"{name}.jsonl" for name in ("train", "dev")}
        for path in paths.values():
            path.write_text(text)
        data = [arg for name, path in paths.items() for arg in (f"--{name}", path)]
        done = run("spanft", "init", paths[part], *data, "--force", ok=False)
        assert f"{part}.jsonl' is both read and written" in done.stderr
        assert paths[part].read_text() == text

    def test_a_dictionary_for_no_spans(self, tmp_path):
        options = ("--no-spans", "--dictionary", "x.tsv.gz")
        done = run("spanft", "init", "-", *options, ok=False)
        assert (
            "--no-spans makes the baseline, which has no use for --dictionary"
            in done.stderr
        )

    def test_a_segmentation_of_the_baseline(self):
        options = ("--no-spans", "--segmentation", "spans")
        done = run("spanft", "init", "-", *options, ok=False)
        assert "which has no use for --segmentation." in done.stderr
        more = ("--dictionary", "x.tsv.gz")
        done = run("spanft", "init", "-", *options, *more, ok=False)
        assert "use for --dictionary and --segmentation." in done.stderr

    def test_a_segmentation_that_nobody_knows(self):
        with pytest.raises(SpanftError, match=r"'words'.*null, or one of spans, none"):
            task_config("ner", segmentation="words")

    def test_a_dictionary_that_nothing_would_look_at(self, tmp_path):
        path = tmp_path / "own.tsv.gz"
        NgramDictionary.from_texts(["ein neues haus"], min_count=1).to_disk(path)
        options = ("--pipeline", "ner", "--dictionary", path)
        done = run("spanft", "init", "-", *options, ok=False)
        assert "ner would look at none" in done.stderr
        assert "Set --segmentation spans" in done.stderr
        done = run("spanft", "init", "-", *options, "--segmentation", "spans")
        assert str(path) in done.stdout

    def test_a_dictionary_that_is_not_there(self):
        done = run("spanft", "init", "-", "--dictionary", "x.tsv.gz", ok=False)
        assert "x.tsv.gz" in done.stderr

    def test_a_name_that_would_end_the_comment(self, tmp_path):
        text = make_config("textcat", name="a\n[nlp]\nb.cfg")
        assert "[nlp]\nb" not in text
        assert read(text)["nlp"]["lang"] == "en"
