"""Comparing pipelines: the tests of significance, the metrics, and the command."""

import json
import sys

import numpy as np
import pytest
import spacy
from scipy import stats
from spacy.tokens import DocBin, Span
from spacy.training import Example

from spacy_spanft.comparison import compare
from spacy_spanft.comparison.measure import Setup, measure
from spacy_spanft.comparison.metrics import accuracy, f_score, metric_of
from spacy_spanft.comparison.significance import mcnemar, paired_bootstrap
from spacy_spanft.errors import ComparisonError, SpanftError

from .commands import run

TRAIN = [("good film", "A"), ("bad city", "B"), ("very good", "A"), ("so bad", "B")]
TEST = TRAIN * 5


def test_mcnemar_is_the_sign_test_of_those_that_differ():
    base = np.array([1] * 10 + [0] * 9 + [1] + [0] * 3, np.bool_)
    other = np.array([1] * 10 + [1] * 9 + [0] + [0] * 3, np.bool_)
    expected = 2 * sum(stats.binom.pmf(k, 10, 0.5) for k in (0, 1))
    assert mcnemar([base], [other]) == pytest.approx(expected)
    assert mcnemar([base], [base]) == 1.0
    # Of several runs twice the median counts.
    assert mcnemar([base] * 3, [other] * 3) == pytest.approx(2 * expected)


def test_mcnemar_is_seldom_wrong_where_there_is_no_difference():
    random = np.random.default_rng(0)
    found = []
    for _ in range(300):
        base, other = random.random((2, 3, 100)) < 0.7
        found.append(mcnemar(list(base), list(other)) < 0.05)
    assert np.mean(found) < 0.05


def test_bootstrap_finds_a_difference_and_its_interval():
    random = np.random.default_rng(1)
    gold = random.integers(0, 2, 400)

    def arm(share):
        is_right = random.random(400) < share
        return np.stack([gold, np.where(is_right, gold, 1 - gold)], axis=1)

    base, other = [arm(0.7) for _ in range(3)], [arm(0.8) for _ in range(3)]
    found = paired_bootstrap(base, other, accuracy)
    means = [np.mean([accuracy(rows) for rows in runs]) for runs in (base, other)]
    assert found.mean == pytest.approx(means[1] - means[0])
    assert found.low < found.mean < found.high
    assert found.p < 0.01
    # The interval is that of the normal approximation, nearly.
    right = [
        np.mean([r[:, 0] == r[:, 1] for r in runs], axis=0) for runs in (base, other)
    ]
    error = np.std(right[1] - right[0]) / 20
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * error, rel=0.15)
    same = paired_bootstrap(base, [arm(0.7) for _ in range(3)], accuracy)
    assert same.p > 0.05
    assert paired_bootstrap(base, base, accuracy).p == 1.0
    again = paired_bootstrap(base, other, accuracy)
    assert again == found


def test_bootstrap_p_is_seldom_small_where_there_is_no_difference():
    random = np.random.default_rng(2)
    found = []
    for _ in range(60):
        rows = random.integers(0, 2, (2, 80, 3))
        one = paired_bootstrap([rows[0]], [rows[1]], f_score, n_resamples=200)
        found.append(one.p < 0.05)
    assert np.mean(found) < 0.15


def train(folder, seed, texts=TRAIN, steps=20):
    spacy.util.fix_random_seed(seed)
    nlp = spacy.blank("en")
    nlp.add_pipe("span_segmenter")
    nlp.add_pipe("textcat")
    examples = [
        Example.from_dict(nlp.make_doc(text), {"cats": {c: c == cat for c in "AB"}})
        for text, cat in texts
    ]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(steps):
        nlp.update(examples, sgd=optimizer, annotates=["span_segmenter"])
    nlp.to_disk(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two runs that learnt it, and two that learnt the opposite."""
    folder = tmp_path_factory.mktemp("pipelines")
    wrong = [(text, "B" if cat == "A" else "A") for text, cat in TRAIN]
    for seed in (0, 1):
        train(folder / f"right{seed}", seed)
        train(folder / f"wrong{seed}", seed, wrong)
    nlp = spacy.blank("en")
    docs = []
    for text, cat in TEST:
        doc = nlp(text)
        doc.cats = {c: float(c == cat) for c in "AB"}
        docs.append(doc)
    DocBin(docs=docs).to_disk(folder / "test.spacy")
    DocBin(docs=[]).to_disk(folder / "empty.spacy")
    (folder / "broken.spacy").write_bytes(b"nothing")
    DocBin(docs=[nlp("good film")]).to_disk(folder / "bare.spacy")
    doc.cats = {"C": 1.0}
    DocBin(docs=[doc]).to_disk(folder / "other.spacy")
    (folder / "test.tsv").write_text("text\tlabel\ngood film\tA\n")
    return folder


@pytest.fixture
def at_once(monkeypatch):
    """Measure in this process: another one takes seconds to begin."""
    module = sys.modules["spacy_spanft.comparison.compare"]
    monkeypatch.setattr(module, "measure_alone", measure)


@pytest.mark.usefixtures("at_once")
def test_arms(folder):
    arms = {
        kind: [folder / f"{kind}{i}" for i in (0, 1)] for kind in ("wrong", "right")
    }
    found = compare(arms, folder / "test.spacy", metric="cats_accuracy")
    wrong, right = found.arms
    assert (found.metric, found.n_docs) == ("cats_accuracy", 20)
    assert (wrong.scores, right.scores) == ([0.0, 0.0], [1.0, 1.0])
    assert wrong.against_first is None
    assert right.against_first.test == "McNemar"
    assert right.against_first.p == pytest.approx(4 * 0.5**20)
    assert right.against_first.mean == right.against_first.low == 1.0
    assert (right.mean, right.std) == (1.0, 0.0)
    run = right.runs[0]
    assert run.n_parameters == wrong.runs[0].n_parameters > 1000
    assert run.words_per_second > 0
    assert run.spans_per_doc is not None
    assert run.answers[:2] == run.gold[:2] == ["A", "B"]
    assert wrong.runs[0].answers[:2] == ["B", "A"]
    assert wrong.runs[0].gold == right.runs[0].gold
    # "very good" is in the default dictionary.
    assert run.spans[:4] == [[], [], [(0, 9)], []]
    assert run.spans_per_doc == 0.25
    assert run.n_ngrams == 100_000
    values = json.loads(json.dumps(found.to_json()))
    assert values["arms"][1]["parameters_added"] == 0.0


def test_from_the_command_line(folder, tmp_path):
    arms = [f"base={folder}/wrong0", f"base={folder}/wrong1", f"ours={folder}/right0"]
    done = run(
        "spanft",
        "compare",
        *arms,
        "--data",
        folder / "test.spacy",
        "-o",
        tmp_path / "out",
    )
    assert "| ours | 1 | 100.0 | +100.0 (+100.0 to +100.0) |" in done.stdout
    assert "| base | 2 | 0.0 ± 0.0 |" in done.stdout
    values = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert [arm["name"] for arm in values["arms"]] == ["base", "ours"]
    assert (tmp_path / "out" / "comparison.md").read_text() in done.stdout
    assert "ours scores highest" in (tmp_path / "out" / "comparison.html").read_text()


@pytest.mark.parametrize(
    ("path", "settings", "expected"),
    [
        ("nowhere", {}, "The pipeline 'nowhere' cannot be loaded"),
        ("right0", {"data": "nothing.spacy"}, "There is no file 'nothing.spacy'"),
        ("right0", {"data": "empty.spacy"}, "There are no rows in 'empty.spacy'"),
        ("right0", {"data": "test.tsv"}, r"does not end in \.spacy"),
        ("right0", {"data": "broken.spacy"}, "'broken.spacy' cannot be read"),
        ("right0", {"data": "bare.spacy"}, "nothing to find in 'bare.spacy'"),
        (
            "right0",
            {"data": "other.spacy"},
            "labels 'C', and .* none of them: 'A', 'B'",
        ),
        (
            "right0",
            {"metric": "ents_f"},
            "no metric 'ents_f'. It has: cats_accuracy, cats_matthews, cats_f1",
        ),
        (
            "right0",
            {"metric": "cats_f1", "positive_label": "C"},
            "positive_label = 'C', but the labels are: 'A', 'B'",
        ),
    ],
)
def test_errors(folder, monkeypatch, path, settings, expected):
    monkeypatch.chdir(folder)
    with pytest.raises(SpanftError, match=expected):
        measure(path, Setup(**{"data": "test.spacy", **settings}))


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["x="], "'x=' names no pipeline"),
        (["nowhere"], "The pipeline 'nowhere' cannot be loaded"),
        (["right0", "--n-resamples", "0"], "must be 1 or more"),
    ],
)
def test_errors_are_short(folder, monkeypatch, args, expected):
    monkeypatch.chdir(folder)
    done = run("spanft", "compare", *args, "--data", "test.spacy", ok=False)
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_metrics_equal_spacys_scorer():
    """Our scores, made of a row for each Doc, are those of nlp.evaluate."""
    nlp = spacy.blank("en")
    ner, spancat = nlp.add_pipe("ner"), nlp.add_pipe("spancat")
    for component in (ner, spancat):
        for label in "XY":
            component.add_label(label)
    random = np.random.default_rng(0)
    examples = []
    for _ in range(20):
        both = []
        for _ in range(2):
            doc = nlp.make_doc("a b c d e f")
            ends = sorted(random.choice(7, 4, replace=False).tolist())
            pairs = [ends[:2], ends[2:]]
            spans = [Span(doc, a, b, str(random.choice(["X", "Y"]))) for a, b in pairs]
            doc.ents = spans
            doc.spans["sc"] = spans
            both.append(doc)
        examples.append(Example(*both))
    for component, name in ((ner, "ents_f"), (spancat, "spans_sc_f")):
        metric = metric_of(nlp, name)
        assert metric.right is None
        expected = component.score(examples)[name]
        assert metric.score(metric.rows(examples)) == pytest.approx(expected)
    assert metric_of(nlp).name == "ents_f"


def example(nlp, **both):
    """Make an example of what is right and what is predicted."""
    docs = []
    for cats, spans in both.values():
        doc = nlp.make_doc("a b c d")
        doc.cats = cats
        found = [Span(doc, *span) for span in spans]
        doc.ents = found
        doc.spans["sc"] = found[::-1]
        docs.append(doc)
    return Example(docs[1], docs[0])


@pytest.mark.parametrize(
    ("factory", "config", "expected"),
    [
        ("textcat", {}, ("X", "Y")),
        ("textcat_multilabel", {"threshold": 0.4}, ("X, Z", "X, Y")),
        ("text_regressor", {"label": "X"}, ("1.00", "0.46")),
        ("ner", {}, ("a b (X), d (Y)", "a (X)")),
        ("spancat", {}, ("a b (X), d (Y)", "a (X)")),
    ],
)
def test_answers_in_words(factory, config, expected):
    nlp = spacy.blank("en")
    component = nlp.add_pipe(factory, config=config)
    for label in "XYZ" if factory != "text_regressor" else ():
        component.add_label(label)
    gold = ({"X": 1.0, "Y": 0.0, "Z": 1.0}, [(0, 2, "X"), (3, 4, "Y")])
    guess = ({"X": 0.456, "Y": 0.5, "Z": 0.1}, [(0, 1, "X")])
    words = metric_of(nlp).words
    assert words(example(nlp, gold=gold, guess=guess)) == expected
    if factory != "text_regressor":  # which predicts a score of every text
        empty = {"gold": ({}, []), "guess": ({}, [])}
        assert words(example(nlp, **empty)) == ("nothing", "nothing")


def test_a_pipeline_without_segmenter(folder, tmp_path):
    nlp = spacy.load(folder / "right0")
    nlp.remove_pipe("span_segmenter")
    nlp.to_disk(tmp_path / "model")
    found = measure(tmp_path / "model", Setup(str(folder / "test.spacy")))
    assert found.spans == [[]] * 20
    assert found.spans_per_doc is None
    assert found.n_ngrams is None


@pytest.mark.usefixtures("at_once")
def test_other_texts(folder):
    """The second pipeline reads half of the texts."""
    with pytest.raises(ComparisonError, match="at least one pipeline"):
        compare({}, folder / "test.spacy")
    with pytest.raises(ComparisonError, match="at least one pipeline"):
        compare({"a": []}, folder / "test.spacy")

    def measure_less(path, setup):
        found = measure(path, setup)
        return found._replace(texts=found.texts[:10]) if path.endswith("1") else found

    module = sys.modules["spacy_spanft.comparison.compare"]
    module.measure_alone = measure_less
    with pytest.raises(ComparisonError, match="pipelines of 'b' read other texts"):
        compare(
            {"a": [folder / "right0"], "b": [folder / "right1"]}, folder / "test.spacy"
        )
