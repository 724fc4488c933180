"""The bench with few labels: it draws the same texts for all arms, and resumes."""

import json
import random
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from transformers import AutoModel, AutoTokenizer
from typer.testing import CliRunner

from benchmarks.fewlabels import __main__ as command_line
from benchmarks.fewlabels import (
    adapting,
    choices,
    costs,
    diagnosis,
    encoders,
    segmenters,
    tasks,
    teaching,
    training,
    untrained,
)
from benchmarks.fewlabels.arms import ARMS, CHOSEN, CONTROLS, arms_of, core_arms
from benchmarks.fewlabels.configs import config_for
from benchmarks.matrix import is_done, read_done, run_missing
from spacy_spanft.segmenters.random import DEFAULT_LENGTHS

from .. import tiny

CONLL = "the O\nthe B-person\nof I-person\n\n"
SETTING = {"rate": 1e-3, "head_rate": 1e-3, "factor": 1}


@pytest.fixture(autouse=True)
def few_epochs(monkeypatch):
    monkeypatch.setattr(choices, "EPOCHS", dict.fromkeys(choices.EPOCHS, 1))


@pytest.fixture
def data(tmp_path):
    for name, task in tasks.TASKS.items():
        for file in filter(None, (task.train, task.dev)):
            path = tmp_path / "data" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            n_texts = {"sentence": 1, "sentence1": 2}.get(task.text, 0)
            header = {1: ["sentence"], 2: ["sentence1", "sentence2"]}.get(n_texts, [])
            label = (lambda i: i % 5) if name == "STS-B" else (lambda i: i % 2)
            rows = [
                "\t".join(
                    [f"the united states saw a blue moon {i}"] * n_texts
                    + [str(label(i))]
                )
                for i in range(30)
            ]
            table = "\n".join(["\t".join([*header, "label"]), *rows]) + "\n"
            path.write_text(table if n_texts else CONLL * 30, encoding="utf8")
    return tmp_path / "data"


def run_of(task, name, **settings):
    kinds = product(ARMS, choices.REGIMES, tasks.TASKS.values())
    chosen = {choices.key_of(*kind): SETTING for kind in kinds}
    wanted = [*choices.runs(chosen, 1), *choices.variant_runs(chosen, 1)]
    found = (run for run in wanted if (run["task"], run["arm"]) == (task, name))
    return {**next(found), **settings}


def test_all_arms_draw_the_same(data):
    task = tasks.TASKS["CoLA"]
    first, again = (tasks.draw(data, task, "dev", 10, 0) for _ in range(2))
    assert first == again
    assert first.train != tasks.draw(data, task, "dev", 10, 1).train
    held_out = tasks.draw(data, task, "held-out", 10, 0)
    assert held_out.train == first.train
    assert not {*held_out.test} & {*held_out.pool}


def test_more_texts_than_there_are_cannot_be_drawn(data):
    with pytest.raises(SystemExit, match=r"CoLA/train.tsv has 24 texts to draw 25"):
        tasks.draw(data, tasks.TASKS["CoLA"], "dev", 25, 0)


def test_results_are_those_of_one_encoder(tmp_path):
    one, other = (tiny.save_bert(tmp_path / name) for name in ("one", "other"))
    results = tmp_path / "results"
    for _ in range(2):
        encoders.check_same(results, one)
    (weights,) = other.glob("*.safetensors")
    weights.write_bytes(weights.read_bytes() + b"\0")
    with pytest.raises(SystemExit, match=r"have another encoder, 'one', than"):
        encoders.check_same(results, other)
    assert json.loads((results / encoders.NAME).read_text("utf8"))["name"] == "one"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"seed": "', "Unterminated"),
        (b"[1, 2]", "it is not a JSON object"),
        (b'{"seed\xff"', "'utf-8' codec can't"),
    ],
)
def test_a_line_that_is_not_a_run_is_named(line, reason, tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_bytes(b'{"seed": 0}\n' + line)
    expected = f"Line 2 of .*results.jsonl is not a run: {reason}"
    with pytest.raises(SystemExit, match=expected):
        read_done(path)


@pytest.mark.parametrize("text", ["{", "[]", '{"name": "one"}'])
def test_a_broken_name_of_an_encoder(text, tmp_path):
    encoder = tiny.save_bert(tmp_path / "one")
    (tmp_path / encoders.NAME).write_text(text, "utf8")
    with pytest.raises(SystemExit, match="does not say which encoder the runs"):
        encoders.check_same(tmp_path, encoder)


def test_a_task_without_dev_data_is_cut(data):
    task = tasks.TASKS["WikiGold"]
    parts = [tasks.draw(data, task, part, 10, 0) for part in ("dev", "held-out")]
    assert [len(part.test) for part in parts] == [6, 4]
    assert len(parts[0].pool) == 20


def test_lines_of_white_space_end_a_text(data):
    task = tasks.TASKS["WNUT17"]
    path = data / task.train
    before = tasks.draw(data, task, "dev", 10, 0)
    path.write_text(path.read_text("utf8").replace("\n\n", "\n\t\n", 5), "utf8")
    assert tasks.draw(data, task, "dev", 10, 0) == before


@pytest.mark.parametrize("name", tasks.TASKS)
def test_a_run_of_each_task_is_done_once(name, data, tmp_path):
    results = tmp_path / "results.jsonl"
    encoder = tiny.save_bert(tmp_path / "encoder")
    arm = {"STS-B": "task", "MRPC": "lower", "SST-2": "mean"}.get(name, "ngrams")
    settings = {"size": 8, "regime": "head-first" if name == "CoLA" else "everything"}
    run = run_of(name, arm, **settings)
    done = run_missing(results, [run], lambda one: training.do(one, data, encoder))
    assert is_done(run, done)
    assert set(tasks.TASKS[name].metrics) <= set(done[0])
    run_missing(results, [run], lambda one: pytest.fail("It was done already."))
    assert read_done(results) == done


@pytest.mark.parametrize(
    ("name", "arm"),
    [
        *product(["CoLA", "STS-B"], ["mean-gate", "mean-lattice", "mean-mix"]),
        *product(["STS-B"], ["pair-gate", "pair-spans", "pair-words", "pair-drawn"]),
        ("WNUT17", "mix"),
    ],
)
def test_a_head_that_is_tried_is_trained_and_scored(name, arm, data, tmp_path):
    encoder = tiny.save_bert(tmp_path / "encoder")
    run = run_of(name, arm, size=8)
    is_scored = arm in CONTROLS["scores"]
    assert run["part"] == ("dev" if is_scored else "held-out")
    found = training.do(run, data, encoder)
    assert {*tasks.TASKS[name].metrics} <= {*found}


def test_arms_and_regimes_change_the_config(tmp_path):
    encoder = tiny.save_bert(tmp_path)
    files = {"train": tmp_path / "train.tsv", "dev": tmp_path / "dev.tsv"}

    def config_of(arm, regime):
        run = run_of("CoLA", arm, regime=regime)
        return config_for(tasks.TASKS["CoLA"], run, encoder, files, 10)

    base = config_of("encoder", "everything")
    assert base["training"]["optimizer"]["@optimizers"] == "Adam.v1"
    first = config_of("encoder", "head-first")["training"]
    assert first["before_update"]["until_share"] == 0.1
    assert first["optimizer"]["head_rate"]["initial_rate"] == SETTING["head_rate"]
    model = config_of("lower", "everything")["components"]["transformer"]["model"]
    assert model["transformer_config"] == {"num_hidden_layers": 1}  # of two
    summary = config_of("mean", "everything")["components"]["textcat"]["model"]
    assert summary["summary"] == "mean"
    other = config_of("residual-mean", "everything")["components"]["textcat"]["model"]
    assert other["summary"] == "cls"
    for arm, version in {"ngrams": "v1", "wide": "v2"}.items():
        run = run_of("WNUT17", arm)
        config = config_for(tasks.TASKS["WNUT17"], run, encoder, files, 10)
        name = config["components"]["bilou_ner"]["model"]["tok2vec"]["@architectures"]
        assert name == f"spacy-spanft.SpanTok2Vec.{version}"


def test_one_that_was_stopped_goes_on(tmp_path):
    results = tmp_path / "results.jsonl"
    runs = [run_of("CoLA", arm) for arm in ("encoder", "ngrams")]

    def stop(run):
        if run["arm"] == "ngrams":
            raise KeyboardInterrupt
        return {"cats_matthews": 0.5}

    with pytest.raises(KeyboardInterrupt):
        run_missing(results, runs, stop)
    seen = []
    run_missing(results, runs, lambda run: seen.append(run) or {"cats_matthews": 0.6})
    assert seen == [runs[1]]
    assert len(read_done(results)) == 2


def test_what_another_process_does_is_left_to_it(tmp_path):
    results = tmp_path / "results.jsonl"
    run = run_of("CoLA", "encoder")

    def meanwhile(one):
        run_missing(results, [run], lambda _: pytest.fail("It is being done."))
        return {"cats_matthews": 0.5}

    assert len(run_missing(results, [run], meanwhile)) == 1


def test_runs_are_balanced():
    of_texts = [name for name, task in tasks.TASKS.items() if task.text]
    chosen = {
        choices.key_of(arm, "everything", tasks.TASKS["CoLA"]): SETTING for arm in ARMS
    }
    runs = list(choices.runs(chosen, 2))
    begin = 0
    for size in (300, 100, 1000):
        wanted = {(name, arm) for name in of_texts for arm in core_arms(name, size)}
        part = runs[begin : begin + 2 * len(wanted)]
        begin += len(part)
        assert {run["size"] for run in part} == {size}
        assert {(run["task"], run["arm"]) for run in part} == wanted
        assert [run["seed"] for run in part] == sorted(run["seed"] for run in part)
    full = [run for run in runs if run["size"] == 10_000]
    assert {run["task"] for run in full} == {"SST-2"}
    assert len(full) == 2 * len(core_arms("SST-2", 10_000))
    # Those of tokens are not chosen yet.
    rest = runs[begin + len(full) :]
    at_all = {(name, arm) for name in of_texts for arm in arms_of(name)}
    core = {(name, arm) for name in of_texts for arm in core_arms(name, 300)}
    assert {(run["task"], run["arm"]) for run in rest} == at_all - core
    assert {run["size"] for run in rest} == {300}
    many = [run for run in choices.runs(chosen, 7) if run["seed"] > 4]
    assert {(run["task"], run["arm"]) for run in many} == core
    assert {run["size"] for run in many} == set(choices.SIZES)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["run", "nowhere", "."], "'nowhere' does not exist"),
        (["run", ".", ".", "--seeds", "0"], "greater than or equal to 1"),
        (["run", ".", ".", "--only", "size=abc"], "'abc' is none of 100, 1000, 10000"),
        (["run", ".", ".", "--only", "color=red"], "'color' is none of task, size,"),
        (["run", ".", ".", "--only", "task"], "--only task: write task=VALUE"),
        (
            ["run", ".", ".", "--only", "task=WNUT17", "--only", "arm=pair"],
            "No run has all of task=WNUT17, arm=pair.",
        ),
        (["costs", ".", ".", "--results", "."], "Nothing is chosen yet in ."),
        (["run", ".", "."], "lacks the data of CoLA"),
        (["choose", "--results", "."], "There are no runs in fewlabels_tuning.jsonl"),
        (["run", ".", ".", "--results", "."], "Nothing is chosen yet"),
        (["run", ".", "none"], "'none' holds no encoder (config.json, and"),
        (["table", "--metrics", "no"], "is 'no', but must be 'main' or 'all'"),
    ],
)
def test_wrong_arguments(args, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).touch()
    done = CliRunner().invoke(command_line.app, args)
    assert done.exit_code
    said = f"{done.output} {done.exception}"
    assert message in " ".join(said.replace("│", " ").split())


def test_what_is_compared_is_scored():
    for name, task in tasks.TASKS.items():
        assert {*CHOSEN[task.kind]} < {*core_arms(name, 300)} < {*arms_of(name)}
        own = CHOSEN[task.kind]
        assert {own.ngrams, own.init} <= {*core_arms(name, 100)}
        assert own.init in (own.ngrams, own.bare)
    assert {"pair-drawn", "pair-words"} <= {*core_arms("STS-B", 100)}
    assert {"mean", "mean-cnn"} <= {*arms_of("MRPC")}
    assert "no-cls" not in arms_of("WNUT17")
    assert [name for name in tasks.TASKS if "top-1000" in arms_of(name)] == [
        *("CoLA", "MRPC")
    ]


def test_heads_are_tried_on_held_out_data():
    kinds = {"CoLA": "everything", "WNUT17": "head-first"}
    chosen = {
        choices.key_of(arm, regime, tasks.TASKS[name]): SETTING
        for arm in ARMS
        for name, regime in kinds.items()
    }
    runs = list(choices.variant_runs(chosen, 2))
    assert {run["part"] for run in runs} == {"held-out"}
    assert all(set(one) < {run["arm"] for run in runs} for one in CHOSEN.values())
    assert {run["regime"] for run in runs} == {"everything", "head-first"}
    rates = choices.key_of("ngrams", "rates", tasks.TASKS["CoLA"])
    both = list(choices.variant_runs({**chosen, rates: SETTING}, 2))
    on_cola = [run for run in both if run["task"] == "CoLA"]
    others = {run["arm"] for run in on_cola if run["regime"] == "rates"}
    assert others == {CHOSEN["labels"].ngrams, CHOSEN["labels"].random}
    on_pairs = {run["task"] for run in runs if run["arm"].startswith("pair")}
    assert on_pairs == {"MRPC", "STS-B"}


def test_the_dictionary_of_a_curve_is_cut(data, tmp_path):
    encoder = tiny.save_bert(tmp_path / "encoder")
    run = run_of("CoLA", "top-1000", size=8)
    nlp, _, _ = training.prepared(run, data, encoder)
    assert len(nlp.get_pipe("span_segmenter").segmenter.dictionary) == 1000


@pytest.mark.parametrize("way", untrained.WAYS)
def test_similarity_before_training_is_that_of_single_pairs(way, data, tmp_path):
    encoder = tiny.save_bert(tmp_path / "encoder", max_length=64)
    words = ["the", "united", "states", "saw", "a", "blue", "moon"]
    rows = [
        (" ".join(words[: 1 + i % 5]), " ".join(words[i % 3 :]), f"{i % 4 + 0.5}")
        for i in range(70)  # more than a batch
    ]
    lines = ["\t".join(row) for row in [("sentence1", "sentence2", "label"), *rows]]
    (data / tasks.TASKS["STS-B"].dev).write_text("\n".join(lines) + "\n", "utf8")
    run = {"task": "STS-B", "way": way, "part": "dev"}
    found = untrained.measure(run, data, encoder)
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    model = AutoModel.from_pretrained(encoder).eval()
    cosines = []
    for first, second, _ in rows:
        if way == "apart":
            given = [tokenizer(text, return_tensors="pt") for text in (first, second)]
            means = [model(**one).last_hidden_state[0].mean(0) for one in given]
        else:
            given = tokenizer(first, second, return_tensors="pt")
            n = len(tokenizer.tokenize(first))
            vectors = model(**given).last_hidden_state[0]
            # [CLS] first [SEP] second [SEP]
            means = [vectors[1 : n + 1].mean(0), vectors[n + 2 : -1].mean(0)]
        a, b = (mean.detach().numpy() for mean in means)
        cosines.append(a @ b / np.sqrt(a @ a * (b @ b)))
    expected = np.corrcoef(cosines, [float(row[2]) for row in rows])[0, 1]
    assert found["pearson"] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("arm", ["cnn", "residual-mean"])
def test_what_training_does_to_a_head(arm, data, tmp_path):
    encoder = tiny.save_bert(tmp_path / "encoder")
    run = run_of("CoLA", "ngrams", arm=arm, size=8, epochs=2, rate=0.01)
    found = diagnosis.diagnose(run, data, encoder)
    assert 0 < found["cls_before"] < 1
    assert found["cls_before"] != found["cls_after"]
    assert found["moved"].pop("encoder") > 0.01
    assert found["moved"].pop("output") > found["moved"].pop("spans") / 100 > 0
    assert (found["moved"].pop("document") is None) == (arm == "residual-mean")
    still = diagnosis.diagnose({**run, "rate": 1e-12}, data, encoder)
    assert still["cls_before"] == still["cls_after"] == found["cls_before"]
    assert set(still["moved"].values()) <= {0.0, None}


def test_costs_of_an_arm(data, tmp_path):
    encoder = tiny.save_bert(tmp_path / "encoder")
    runs = {arm: run_of("SST-2", arm, size=8) for arm in ("encoder", "cnn")}
    found = {arm: costs.cost(run, data, encoder) for arm, run in runs.items()}
    width = 16
    more = found["cnn"]["weights"] - found["encoder"]["weights"]
    # Two convolutions, and two labels more of the last layer.
    expected = 2 * (3 * width**2 + width) + 2 * width
    assert more == pytest.approx(expected / 1e6, abs=1e-3)
    for one in found.values():
        assert one["peak_mb"] > 100
        assert 0 < one["predict_ms"] < one["train_ms"] < 1000
    done = [{**runs[arm], **one} for arm, one in found.items()]
    done += [{**run, "train_ms": 2 * run["train_ms"]} for run in done] * 2
    header, base, cnn = costs.rows_of(done)
    assert len(header) == len(base) == len(cnn)
    assert base[3] == f"{2 * found['encoder']['train_ms']:.1f}"  # the median
    ratio = found["cnn"]["peak_mb"] / found["encoder"]["peak_mb"]
    assert cnn[5] == f"{found['cnn']['peak_mb']:,} ({ratio:.2f})"


def test_an_oracle_cuts_at_entities(data, tmp_path):
    encoder = tiny.save_bert(tmp_path / "encoder")
    run = {**run_of("WNUT17", "ngrams", size=8), "arm": "oracle"}
    nlp, _, dev = training.prepared(run, data, encoder)
    doc = nlp.get_pipe("span_segmenter")(dev[0].predicted)
    assert [span.text for span in doc.spans["ngrams"]] == ["the of"]
    assert not nlp("something else").spans["ngrams"]


def test_words_with_capitals_are_spans():
    nlp = spacy.blank("en")
    texts = ["The House of Mary Ann Lee, 5 May 1999 in NEW York", "of it", ""]
    found = segmenters.CapitalSegmenter()([nlp(text) for text in texts])
    assert found == [[(0, 2), (3, 6), (11, 13)], [], []]


def test_a_drawn_dictionary_cuts_the_same_words_alike():
    """From the head, the longest n-gram first: those that it has, and no others."""
    words = ["a", "b", "c", "A"]
    half = segmenters.DrawnSegmenter(lengths=(0.5, 0.3, 0.2))
    vocab = spacy.blank("en").vocab
    docs = [Doc(vocab, random.Random(i).choices(words, k=i % 12)) for i in range(2000)]
    cuts = half(docs)
    found = {
        doc[start:end].text.lower()
        for doc, spans in zip(docs, cuts, strict=True)
        for start, end in spans
    }
    assert 0 < len([gram for gram in found if len(gram.split()) == 2]) < 9
    assert {len(gram.split()) for gram in found} == {2, 3}
    for doc, spans in zip(docs, cuts, strict=True):
        expected, start = [], 0
        lower = [word.lower() for word in map(str, doc)]
        while start < len(lower):
            ends = [start + 3, start + 2]
            ends = [e for e in ends if e <= len(lower)]
            own = (e for e in ends if " ".join(lower[start:e]) in found)
            end = next(own, start + 1)
            expected += [(start, end)] if end - start > 1 else []
            start = end
        assert spans == expected


def test_spans_of_a_drawn_dictionary_are_as_long_as_random_ones():
    many = Doc(spacy.blank("en").vocab, [f"w{i}" for i in range(60_000)])
    (spans,) = segmenters.DrawnSegmenter()([many])
    sizes = Counter(end - start for start, end in spans)
    n_pieces = len(many) - sum(n * (size - 1) for size, n in sizes.items())
    shares = [sizes[n] / n_pieces for n in (2, 3, 4, 5)]
    np.testing.assert_allclose(shares, DEFAULT_LENGTHS[1:], atol=0.004)
    assert segmenters.WordSegmenter()([many]) == [[]]


def test_gaps_between_ngrams_are_spans():
    nlp = spacy.blank("en")
    segmenter = segmenters.GapSegmenter()
    doc = nlp("one of the Zyx Quorl people, Vrml Qqq: one of the best")
    (spans,) = segmenter([doc])
    texts = [doc[start:end].text for start, end in spans]
    assert texts == ["one of the", "Zyx Quorl people", "Vrml Qqq", "one of the best"]
    assert segmenter([nlp(""), nlp("Zyx")]) == [[], []]


def test_dropout_of_a_segmentation():
    chance = random.Random(0)
    spans = [(0, 2), (3, 6)]
    found = [segmenters.drop(spans, 8, chance, 0.1) for _ in range(2000)]
    assert all(0 <= a < b <= 8 and b - a > 1 for one in found for a, b in one)
    assert all(b <= c for one in found for (_, b), (c, _) in pairwise(one))
    # Both spans stay, and none of four ends but the last is lost: 0.9 to the sixth.
    assert found.count(spans) / 2000 == pytest.approx(0.9**6, abs=0.04)
    for share, expected in ((0.0, spans), (1.0, [(0, 8)])):
        assert segmenters.drop(spans, 8, chance, share) == expected
    assert segmenters.drop([], 0, chance, 0.5) == []


def test_spans_are_others_in_each_epoch(data, tmp_path, monkeypatch):
    encoder = tiny.save_bert(tmp_path / "encoder")
    run = run_of("CoLA", "mean-dropout", size=8)
    nlp, train, _ = training.prepared(run, data, encoder)
    seen, update = set(), nlp.update

    def watched(batch, **settings):
        seen.update(str(segmenters.spans_of(example)) for example in batch)
        return update(batch, **settings)

    monkeypatch.setattr(nlp, "update", watched)
    training.fit(nlp, train, 1, 0)
    assert len(seen) == 1  # the texts differ in a number at their end
    training.fit(nlp, train, 6, 0, segmenters.Dropout(0, share=0.5))
    assert len(seen) > 3
    assert isinstance(training.change_for(run, nlp, data), segmenters.Dropout)


class Sure:
    """Scores texts of five words or more as A, others as B, and is unsure of one."""

    labels = ("A", "B")

    def __init__(self):
        self.seen = []

    def predict(self, docs):
        self.seen += [[span.text for span in doc.spans["ngrams"]] for doc in docs]
        sure = [0.5 if doc[0].text == "maybe" else 0.9 for doc in docs]
        scores = [
            (one, 1 - one) if len(doc) > 4 else (1 - one, one)
            for doc, one in zip(docs, sure, strict=True)
        ]
        return np.array(scores)


@pytest.mark.parametrize("is_recut", [True, False])
def test_a_teacher_labels_what_it_is_sure_of(is_recut):
    nlp = spacy.blank("en")
    texts = ["one of the many texts here"] * 6 + ["a b c"] * 6 + ["maybe it is so"] * 6
    examples = []
    for text in texts:
        example = Example(nlp.make_doc(text), nlp.make_doc(text))
        segmenters.write_spans(example.predicted, [(0, 3)])
        examples.append(example)
    component = Sure()
    teacher = teaching.Teacher(component, examples, 8, 0, is_recut)
    batch = [object()] * 18
    assert [teacher(batch) for _ in range(2)] == [batch] * 2
    assert not component.seen
    many = [teacher(batch) for _ in range(2)]
    assert [one[:18] for one in many] == [batch] * 2
    added = [example for one in many for example in one[18:]]
    assert len(added) == 24  # each text in each pass, but for those it is unsure of
    for example in added:
        is_long = len(example.predicted) > 4
        assert example.reference.cats == {"A": float(is_long), "B": float(not is_long)}
    # It always sees the cut of the segmenter, and learns from that or from others.
    cuts = {str(cut) for cut in component.seen}
    assert cuts == {"['one of the']", "['a b c']", "['maybe it is']"}
    cuts = {str(segmenters.spans_of(example)) for example in added}
    assert (len(cuts) > 2) == is_recut


def test_a_classifier_teaches_itself(data, tmp_path, monkeypatch):
    encoder = tiny.save_bert(tmp_path / "encoder")
    monkeypatch.setattr(teaching, "SURE", 0.0)
    run = run_of("CoLA", "mean-taught", size=8, epochs=4)
    nlp, train, _ = training.prepared(run, data, encoder)
    known = {example.text for example in train}
    sizes, new, update = [], set(), nlp.update

    def watched(batch, **settings):
        sizes.append(len(batch))
        new.update(example.text for example in batch)
        return update(batch, **settings)

    monkeypatch.setattr(nlp, "update", watched)
    training.fit(nlp, train, 4, 0, training.change_for(run, nlp, data))
    assert sizes == [8, 16, 16, 16]
    held_out = tasks.draw(data, tasks.TASKS["CoLA"], "held-out", 8, run["seed"]).test
    assert len(new - known) > 8
    assert not new & {row.split("\t")[0] for row in held_out}


def test_an_encoder_is_adapted_once(tmp_path, monkeypatch):
    monkeypatch.setattr(adapting.tempfile, "gettempdir", lambda: str(tmp_path))
    encoder = tiny.save_bert(tmp_path / "encoder")
    texts = [f"the united states of america saw a blue moon {i}" for i in range(40)]
    assert adapting.adapted(encoder, "mean", texts) == encoder
    made = adapting.adapted(encoder, "own-ngrams", texts)
    written = made.joinpath("model.safetensors").read_bytes()
    assert written != encoder.joinpath("model.safetensors").read_bytes()
    monkeypatch.setattr(adapting, "pretrain", lambda *_: pytest.fail("It is there."))
    assert adapting.adapted(encoder, "own-ngrams", texts) == made
    assert adapting.settings_of("own-spans").masking == "spans"
    assert [*tmp_path.glob("spanft-encoders/*.part")] == []


def test_how_far_weights_moved():
    before, after = [np.array([3.0, 0.0]), np.array([4.0])], [np.zeros(2), np.ones(1)]
    assert diagnosis.change_of(before, after) == pytest.approx(18**0.5 / 5, abs=1e-4)
    assert diagnosis.change_of([], []) is None


def test_the_best_setting_of_the_grid_is_chosen():
    done = []
    for run in choices.tuning_runs(["everything"]):
        score = 0.9 if run["rate"] == 5e-4 else 0.5
        metric = tasks.TASKS[run["task"]].metrics[0]
        done.append(json.loads(json.dumps({**run, metric: score})))
    chosen = choices.choose(done)
    assert {one["rate"] for one in chosen.values()} == {5e-4}
    assert "encoder · everything · tokens" in chosen
    # Nothing is chosen before all tasks have a run.
    assert not choices.choose(
        [one for one in done if one["task"] == "SST-2" and one["arm"] == "cnn"]
    )


def test_the_baseline_of_taggers_is_looked_at_twice():
    key = "encoder · head-first · tokens"
    done = []
    for run in choices.tuning_runs(["head-first"]):
        is_slow = run["rate"] == 2e-4
        first_look = run["seed"] == choices.TUNING_SEED and run["task"] == "WNUT17"
        # One run is for the fast one, all together for the slow one.
        score = 0.5 - 0.1 * is_slow if first_look else 0.5 + 0.2 * is_slow
        done.append({**run, tasks.TASKS[run["task"]].metrics[0]: score})
    looks = [run for run in done if run["task"] == "WikiGold"]
    assert {run["arm"] for run in looks} == {"encoder"}
    assert len(looks) == 2 * choices.N_LOOKS
    chosen = choices.choose(done)
    assert (chosen[key]["rate"], chosen[key]["factor"]) == (2e-4, 2)
    assert choices.choose(done[:-1])[key]["rate"] == 5e-4
    slow = choices.held_out_run("WNUT17", "encoder", "head-first", chosen[key])
    assert choices.is_chosen(slow, chosen)
    assert not choices.is_chosen({**slow, "rate": 5e-4}, chosen)
    assert not choices.is_chosen({**slow, "epochs": 7}, chosen)
    assert not choices.is_chosen(slow, {})
