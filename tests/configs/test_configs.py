"""The configs: each one is whole, trains, and differs from its peer in one thing."""

import subprocess
import sys
import warnings

import pytest
import spacy
from spacy.tokens import DocBin, Span
from spacy.training.initialize import init_nlp
from spacy.util import load_config

from spacy_spanft import join_pair
from spacy_spanft.configs.adding import add_spans
from spacy_spanft.errors import SpanftError

from .. import interpreter
from ..commands import run
from ..made_configs import CONFIGS
from ..tiny import LISTENER
from ..training.regimes import encoders, hash_of

pytest.importorskip("spacy_transformers")  # of whose configs most are here

UNSEEN_LABELS = "spacy-spanft.warn_unseen_labels.v1"
RATE = "--training.optimizer.learn_rate"
HEAD_RATE = "--training.optimizer.head_rate"
SINGLE = [("a very good film", "A"), ("new york was bad", "B")] * 8
PAIRED = [
    ("good film", "very good film", 1),
    ("bad film", "very bad film", 1),
    ("new york", "it is a city", 0),
    ("the united states", "very good film", 0),
] * 4


def flat(config):
    """Read a config as one table of dotted names."""
    found = {}

    def walk(prefix, section):
        for key, value in section.items():
            if isinstance(value, dict):
                walk(f"{prefix}{key}.", value)
            else:
                found[f"{prefix}{key}"] = value

    walk("", config)
    return found


@pytest.fixture(scope="module")
def single(tmp_path_factory):
    nlp = spacy.blank("en")
    docs = []
    for text, label in SINGLE:
        doc = nlp(text)
        doc.cats = {c: float(c == label) for c in "AB"}
        docs.append(doc)
    path = tmp_path_factory.mktemp("single") / "data.spacy"
    DocBin(docs=docs).to_disk(path)
    return path


@pytest.fixture(scope="module")
def entities(tmp_path_factory):
    """Entities, and as spans those and a part of one of them."""
    nlp = spacy.blank("en")
    docs = []
    for text, start, end in [
        ("new york was very good", 0, 2),
        ("it is new york city", 2, 5),
        ("this film is very bad", 0, 0),
        ("two  spaces \n\n and \u200b no  film", 0, 0),
    ] * 6:
        doc = nlp(text)
        doc.ents = [Span(doc, start, end, "GPE")] if end else []
        parts = [Span(doc, 4, 5, "KIND")] if end == 5 else []
        doc.spans["sc"] = [*doc.ents, *parts]
        docs.append(doc)
    path = tmp_path_factory.mktemp("entities") / "data.spacy"
    DocBin(docs=docs).to_disk(path)
    return path


@pytest.fixture(scope="module")
def paired(tmp_path_factory):
    lines = ["sentence1\tsentence2\tlabel"]
    lines += [f"{one}\t{two}\t{label}" for one, two, label in PAIRED]
    path = tmp_path_factory.mktemp("paired") / "data.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


def train(config, data, bert, folder, *more, n_steps=20):
    own_rate = f"{HEAD_RATE}.max_steps", n_steps, f"{HEAD_RATE}.initial_rate", 0.01
    has_own_rate = "head_rate" in load_config(config)["training"]["optimizer"]
    done = run(
        *("train", config, "--output", folder / "out", "--gpu-id", -1),
        *("--paths.train", data, "--paths.dev", data, "--paths.transformer", bert),
        *("--training.max_epochs", 0, "--training.max_steps", n_steps),
        *(f"{RATE}.max_steps", n_steps),
        *(own_rate if has_own_rate else ()),
        *(f"{RATE}.initial_rate", 0.01, "--training.eval_frequency", 10),
        # An epoch is a single step here: to save after each would take all the time.
        *("--initialize.after_init.@callbacks", UNSEEN_LABELS),
        *more,
        cwd=folder,
    )
    return spacy.load(folder / "out" / "model-best"), done.stdout


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("textcat", "textcat"),
        ("pair", "textcat"),
        ("score", "text_regressor"),
        ("text_score", "text_regressor"),
        ("ner", "ner"),
        ("bilou_ner", "bilou_ner"),
        ("spancat", "spancat"),
    ],
)
def test_span_and_baseline_differ_in_model_and_segmenter_only(name, head):
    span, base = (
        flat(load_config(CONFIGS / f"{name}_{arm}.cfg"))
        for arm in ("spanft", "baseline")
    )
    keys = {key for key in {*span, *base} if span.get(key) != base.get(key)}
    allowed = (
        *("components.span_segmenter.", "initialize.components.span_segmenter."),
        f"components.{head}.model.",
        *("nlp.pipeline", "paths.dictionary", "training.annotating_components"),
    )
    assert keys
    assert all(key.startswith(allowed) for key in keys), keys
    model = {key.split(".")[3] for key in keys if key.startswith(allowed[2])}
    assert not model & {"dropout", "exclusive_classes", "state_type", "hidden_width"}
    listener = f"components.{head}.model.tok2vec."
    inner = f"{listener}tok2vec." if f"{listener}tok2vec.upstream" in span else listener
    for key in ("@architectures", "upstream", "grad_factor"):
        assert span[inner + key] == base[listener + key]
    poolings = [
        {k.removeprefix(at): v for k, v in one.items() if k.startswith(f"{at}pooling.")}
        for one, at in ((span, inner), (base, listener))
    ]
    assert poolings[0] == poolings[1]


@pytest.mark.parametrize("name", ["textcat", "ner"])
def test_two_phases_differ_in_the_regime_only(name):
    one, other = (
        flat(load_config(CONFIGS / f"{name}_{arm}.cfg"))
        for arm in ("one_phase", "two_phase")
    )
    changed = {key for key in {*one, *other} if one.get(key) != other.get(key)}
    added = {key for key in changed if key not in one}
    allowed = ("training.before_update.", "training.optimizer.")
    assert all(key.startswith(allowed) for key in changed), changed
    # What both optimizers know is the same.
    assert changed - added == {"training.optimizer.@optimizers"}
    assert other["training.optimizer.learn_rate.start_share"] == 0.1
    assert other["training.optimizer.head_rate.initial_rate"] == 1e-3


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.cfg")), ids=lambda p: p.stem)
def test_filled_config_is_valid(path, tmp_path):
    run("init", "fill-config", path, "full.cfg", cwd=tmp_path)
    paths = ["--paths.train", "a.tsv", "--paths.dev", "b.tsv"]
    run("debug", "config", "full.cfg", *paths, cwd=tmp_path)


@pytest.mark.parametrize("arm", ["spanft", "baseline"])
def test_single_texts_train(arm, single, bert, tmp_path):
    nlp, _ = train(CONFIGS / f"textcat_{arm}.cfg", single, bert, tmp_path)
    assert nlp("a very good film").cats["A"] > 0.5
    assert nlp.resume_training().learn_rate == 0.0  # at the first step of the warm-up
    assert nlp("new york was bad").cats["B"] > 0.5


@pytest.mark.parametrize("arm", ["spanft", "baseline"])
def test_pairs_train(arm, paired, bert, tmp_path):
    config = CONFIGS / f"pair_{arm}.cfg"
    # The score is the accuracy alone, not spaCy's own half and half.
    nlp, log = train(config, paired, bert, tmp_path, n_steps=60)
    assert "CATS_ACCURACY" in log
    assert "CATS_SCORE" not in log
    assert nlp.meta["performance"]["cats_accuracy"] == 1.0
    assert nlp(join_pair("good film", "very good film")).cats["1"] > 0.5
    assert nlp("new york [SEP] it is a city").cats["0"] > 0.5


@pytest.mark.parametrize("arm", ["spanft", "baseline"])
def test_scores_train(arm, paired, bert, tmp_path):
    low = "--components.text_regressor.low"
    config = CONFIGS / f"score_{arm}.cfg"
    nlp, log = train(config, paired, bert, tmp_path, low, -1, n_steps=60)
    assert "CATS_PEARS" in log
    assert nlp.meta["performance"]["cats_pearson"] > 0.9
    assert nlp("good film [SEP] very good film").cats["score"] > 0.5
    assert nlp("new york [SEP] it is a city").cats["score"] < 0.5


@pytest.mark.parametrize("head", ["ner", "bilou_ner"])
@pytest.mark.parametrize("arm", ["spanft", "windows", "baseline"])
def test_entities_train(head, arm, entities, bert, tmp_path):
    config = CONFIGS / f"{head}_{arm}.cfg"
    nlp, _ = train(config, entities, bert, tmp_path, n_steps=150)
    assert nlp.meta["performance"]["ents_f"] == 1.0
    doc = nlp("it is new york city")
    assert [ent.text for ent in doc.ents] == ["new york city"]


@pytest.mark.parametrize("arm", ["spanft", "windows", "baseline"])
def test_spans_train(arm, entities, bert, tmp_path):
    config = CONFIGS / f"spancat_{arm}.cfg"
    nlp, _ = train(config, entities, bert, tmp_path, n_steps=150)
    assert nlp.meta["performance"]["spans_sc_f"] == 1.0
    doc = nlp("it is new york city")
    assert {span.text for span in doc.spans["sc"]} == {"new york city", "city"}


@pytest.mark.parametrize("name", ["textcat", "ner"])
def test_two_phases_train(name, single, entities, bert, tmp_path):
    rate = "--training.optimizer.learn_rate"
    more = (f"{rate}.initial_rate", 0.01)
    config, data = CONFIGS / f"{name}_two_phase.cfg", single
    if name == "ner":
        data = entities
    nlp, _ = train(config, data, bert, tmp_path, *more, n_steps=60)
    performance = nlp.meta["performance"]
    assert performance["ents_f" if name == "ner" else "cats_score"] == 1.0
    from transformers import AutoModel

    weights = AutoModel.from_pretrained(bert).state_dict()
    (encoder,) = encoders(nlp)
    learned = {k for k, w in encoder.state_dict().items() if not w.equal(weights[k])}
    assert {key.split(".")[0] for key in learned} == {"embeddings", "encoder"}
    # It goes on from there, with the head alone again.
    more = (*more, f"{rate}.start_share", 0.99)
    sourced = load_config(config)
    for component in ("transformer", name):
        sourced["components"][component] = {"source": str(tmp_path / "out/model-best")}
    sourced.to_disk(tmp_path / "sourced.cfg")
    (tmp_path / "more").mkdir()
    place = (tmp_path / "sourced.cfg", data, bert, tmp_path / "more")
    again, _ = train(*place, *more, n_steps=5)
    assert hash_of(again) == hash_of(nlp)


def test_a_package_of_a_pipeline_loads(single, bert, tmp_path):
    """As a user gets it: built, installed into another folder, loaded there."""
    nlp, _ = train(CONFIGS / "textcat_spanft.cfg", single, bert, tmp_path)
    expected = nlp("a very good film in new york").cats
    run(
        "package", "out/model-best", ".", "--build", "none", "--name", "x", cwd=tmp_path
    )
    source = next(tmp_path.glob("en_x-*"))
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps")
    more = ("--no-build-isolation", "--target", tmp_path / "elsewhere")
    subprocess.run([*pip, *more, source], check=True, capture_output=True)
    (tmp_path / "out").rename(tmp_path / "gone")
    source.rename(tmp_path / "gone too")
    code = "import en_x; print(en_x.load()('a very good film in new york').cats['A'])"
    done = interpreter.run("-c", code, cwd=tmp_path / "elsewhere")
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == pytest.approx(expected["A"], abs=1e-5)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("textcat_spanft", "single"),
        ("pair_spanft", "paired"),
        ("score_spanft", "paired"),
        ("ner_two_phase", "entities"),
        ("bilou_ner_spanft", "entities"),
        ("spancat_spanft", "entities"),
    ],
)
def test_training_is_prepared(name, data, bert, request):
    """Each epoch, which is one step here, is evaluated."""
    path = str(request.getfixturevalue(data))
    paths = {"train": path, "dev": path, "transformer": str(bert)}
    overrides = {f"paths.{key}": value for key, value in paths.items()}
    config = load_config(CONFIGS / f"{name}.cfg", overrides)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nlp = init_nlp(config)
    assert nlp.config["training"]["eval_frequency"] == 1


def test_spans_under_another_key(entities, bert, tmp_path):
    nlp = spacy.blank("en")
    docs = list(DocBin().from_disk(entities).get_docs(nlp.vocab))
    for doc in docs:
        doc.spans["other"] = list(doc.spans.pop("sc"))
    DocBin(docs=docs).to_disk(tmp_path / "x.spacy")
    path = str(tmp_path / "x.spacy")
    overrides = {"paths.train": path, "paths.dev": path}
    config = load_config(CONFIGS / "spancat_baseline.cfg", overrides)
    with pytest.raises(SpanftError, match=r"doc\.spans\['sc'\] \(there are: 'other'\)"):
        init_nlp(config)
    # Where the labels are given, they need not be in the data.
    config["initialize"]["components"] = {"spancat": {"labels": ["GPE"]}}
    config["paths"]["transformer"] = str(bert)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert init_nlp(config).get_pipe("spancat").labels == ("GPE",)


class TestAdd:
    """`spanft add` changes the segmenter and the model blocks, and nothing else."""

    def base(self, tmp_path, *pipeline, gpu=True):
        names = ",".join(pipeline)
        more = ["--gpu"] if gpu else []
        run("init", "config", "base.cfg", "--pipeline", names, *more, cwd=tmp_path)
        return load_config(tmp_path / "base.cfg")

    def test_from_the_command_line(self, tmp_path, single, bert):
        base = self.base(tmp_path, "textcat", "ner")
        only = ("--component", "textcat")
        done = run("spanft", "add", "base.cfg", "out.cfg", *only, cwd=tmp_path)
        assert "textcat: spacy.TextCat" in done.stderr
        paths = ("--paths.train", single, "--paths.dev", single)
        run("debug", "config", "out.cfg", *paths, cwd=tmp_path)
        before, after = flat(base), flat(load_config(tmp_path / "out.cfg"))
        changed = {k for k in {*before, *after} if before.get(k) != after.get(k)}
        allowed = (
            *("components.span_segmenter.", "initialize.components.span_segmenter."),
            *("components.textcat.model.", "training.annotating_components"),
            *("nlp.pipeline", "initialize.after_init"),
        )
        assert all(key.startswith(allowed) for key in changed), changed
        assert not any(".tok2vec." in key for key in changed)
        callback = "spacy-spanft.prepare_training.v1"
        assert after["initialize.after_init.@callbacks"] == callback
        assert f"[initialize.after_init]: {callback}" in done.stderr
        assert after["nlp.pipeline"] == [
            *("transformer", "span_segmenter", "textcat", "ner")
        ]
        assert after["training.annotating_components"] == ["span_segmenter"]
        run(
            *("train", "out.cfg", *paths, "--output", "trained"),
            *("--components.transformer.model.name", bert, "--training.max_steps", 2),
            *("--training.score_weights.ents_f", 0.0),  # as there is no ner now
            *("--nlp.pipeline", '["transformer", "span_segmenter", "textcat"]'),
            "--components.transformer.model.tokenizer_config.model_max_length=24",
            cwd=tmp_path,
        )
        doc = spacy.load(tmp_path / "trained" / "model-last")("the new york film")
        assert set(doc.cats) == {"A", "B"}
        assert len(doc.spans["ngrams"])

    def test_a_second_time(self, tmp_path):
        self.base(tmp_path, "textcat")
        run("spanft", "add", "base.cfg", "out.cfg", cwd=tmp_path)
        done = run("spanft", "add", "out.cfg", "more.cfg", cwd=tmp_path, ok=False)
        assert "spans or windows already, nothing to add: textcat" in done.stderr
        assert not (tmp_path / "more.cfg").exists()

    def test_onto_itself(self, tmp_path):
        self.base(tmp_path, "textcat")
        done = run("spanft", "add", "base.cfg", "base.cfg", cwd=tmp_path, ok=False)
        assert "both read and written" in done.stderr

    def test_over_another_config(self, tmp_path):
        self.base(tmp_path, "textcat")
        (tmp_path / "out.cfg").write_text("mine")
        command = ("spanft", "add", "base.cfg", "out.cfg")
        done = run(*command, cwd=tmp_path, ok=False)
        assert "add --force" in done.stderr
        assert (tmp_path / "out.cfg").read_text() == "mine"
        run(*command, "--force", cwd=tmp_path)
        assert "span_segmenter" in load_config(tmp_path / "out.cfg")["components"]

    def test_classifiers_without_vectors(self, tmp_path):
        config = self.base(tmp_path, "textcat_multilabel", gpu=False)
        with pytest.raises(SpanftError, match="no vectors to pool"):
            add_spans(config)
        transformer = {"factory": "transformer"}
        config["nlp"]["pipeline"] = ["trf", "textcat_multilabel"]
        config["components"]["trf"] = transformer
        model = add_spans(config).config["components"]["textcat_multilabel"]["model"]
        assert model["tok2vec"]["upstream"] == "trf"
        assert model["exclusive_classes"] is False

    def test_a_segmenter_that_is_there_is_used(self):
        config = load_config(CONFIGS / "textcat_baseline.cfg")
        config["components"]["cut"] = {"factory": "span_segmenter", "spans_key": "mine"}
        config["nlp"]["pipeline"] = ["transformer", "cut", "textcat"]
        config["training"]["annotating_components"] = ["transformer"]
        found, changes = add_spans(config, dictionary="a.tsv.gz")
        assert found["nlp"]["pipeline"] == ["transformer", "cut", "textcat"]
        annotating = found["training"]["annotating_components"]
        assert annotating == ["transformer", "cut"]
        assert found["components"]["textcat"]["model"]["spans_key"] == (
            "${components.cut.spans_key}"
        )
        plain = found.interpolate()
        assert plain["initialize"]["components"]["cut"]["dictionary"] == "a.tsv.gz"
        assert found["initialize"]["after_init"] == config["initialize"]["after_init"]
        assert len(changes) == 2  # after_init is there
        # The config that was given is as it was.
        assert config["training"]["annotating_components"] == ["transformer"]

    def test_two_classifiers_and_a_name_that_is_taken(self):
        config = load_config(CONFIGS / "textcat_baseline.cfg")
        model = {**config["components"]["textcat"]["model"]}
        config["components"]["more"] = {"factory": "textcat_multilabel", "model": model}
        config["components"]["span_segmenter"] = {"factory": "sentencizer"}
        config["nlp"]["pipeline"] = [
            *("transformer", "span_segmenter", "more", "textcat")
        ]
        found = add_spans(config).config
        assert found["nlp"]["pipeline"] == [
            *("transformer", "span_segmenter", "span_segmenter_2", "more", "textcat")
        ]
        blocks = [found["components"][name]["model"] for name in ("more", "textcat")]
        assert [block["exclusive_classes"] for block in blocks] == [False, True]
        keys = {block["spans_key"] for block in blocks}
        assert keys == {"${components.span_segmenter_2.spans_key}"}

    @pytest.mark.parametrize("gpu", [True, False])
    def test_tokens(self, tmp_path, gpu):
        """A tagger stays as it is, unless it is named."""
        config = self.base(tmp_path, "tagger", "ner", "spancat", gpu=gpu)
        found = add_spans(config, segmentation="spans").config
        source = config["nlp"]["pipeline"][0]
        assert found["nlp"]["pipeline"] == [
            *(source, "tagger", "span_segmenter", "ner", "spancat")
        ]
        assert found["components"]["tagger"] == config["components"]["tagger"]
        for name in ("ner", "spancat"):
            before = config["components"][name]["model"]
            after = found["components"][name]["model"]
            assert after["tok2vec"]["tok2vec"] == before["tok2vec"]
            if gpu:
                pooling = before["tok2vec"]["pooling"]
                assert after["tok2vec"]["token_pooling"] == pooling
            assert {**after, "tok2vec": 0} == {**before, "tok2vec": 0}
        named = add_spans(config, components=["tagger"], segmentation="spans")
        assert named.config["nlp"]["pipeline"][:3] == [
            *(source, "span_segmenter", "tagger")
        ]
        assert named.config["components"]["ner"] == config["components"]["ner"]
        assert len(named.changes) == 4

    def test_tokens_get_windows_beside_a_text_with_spans(self, tmp_path):
        """What nobody asks spans for gets none, and needs no segmenter."""
        config = self.base(tmp_path, "ner", "textcat")
        found, changes = add_spans(config)
        assert found["nlp"]["pipeline"] == [
            *("transformer", "ner", "span_segmenter", "textcat")
        ]
        ner, textcat = (found["components"][n]["model"] for n in ("ner", "textcat"))
        assert ner["tok2vec"]["segmentation"] == "none"
        assert "spans_key" not in ner["tok2vec"]
        assert textcat["segmentation"] == "spans"
        assert any("without spans" in c for c in changes if c.startswith("ner: "))
        assert not any("without" in c for c in changes if c.startswith("textcat: "))
        alone = add_spans(config, components=["ner"]).config
        assert alone["nlp"]["pipeline"] == config["nlp"]["pipeline"]
        assert "dictionary" not in alone["paths"]
        with pytest.raises(SpanftError, match="ner would look at none"):
            add_spans(config, "a.tsv.gz", ["ner"])

    def test_entities_from_the_command_line(self, tmp_path, entities, bert):
        self.base(tmp_path, "ner", gpu=False)
        run("spanft", "add", "base.cfg", "out.cfg", cwd=tmp_path)
        paths = ("--paths.train", entities, "--paths.dev", entities)
        run("debug", "config", "out.cfg", *paths, cwd=tmp_path)
        steps = ("--training.max_steps", 100, "--training.eval_frequency", 50)
        # Not after each epoch, which is one step.
        callback = ("--initialize.after_init.@callbacks", UNSEEN_LABELS)
        run(
            "train",
            "out.cfg",
            *paths,
            "--output",
            "trained",
            *steps,
            *callback,
            cwd=tmp_path,
        )
        nlp = spacy.load(tmp_path / "trained" / "model-best")
        assert [ent.text for ent in nlp("it is new york city").ents] == [
            "new york city"
        ]

    def test_windows_can_be_changed_to_spans(self, tmp_path, entities, bert):
        """What init writes for tokens, and spans after all."""
        for options in ((), ("--segmentation", "spans")):
            name = "spans.cfg" if options else "windows.cfg"
            encoder = ("--encoder", "spacy-transformers", "--transformer", bert)
            task = ("init", name, "--pipeline", "ner", *encoder, *options)
            run("spanft", *task, cwd=tmp_path)
        done = run("spanft", "add", "windows.cfg", "x.cfg", cwd=tmp_path, ok=False)
        assert "There are spans or windows already" in done.stderr
        more = ("--segmentation", "spans")
        done = run("spanft", "add", "windows.cfg", "my x.cfg", *more, cwd=tmp_path)
        assert "ner: spacy-spanft.SpanTok2Vec.v2 looks at spans now." in done.stderr
        assert "debug config 'my x.cfg'" in done.stderr
        run("init", "fill-config", "my x.cfg", "full.cfg", cwd=tmp_path)
        both = (flat(load_config(tmp_path / n)) for n in ("full.cfg", "spans.cfg"))
        changed, made = both
        assert changed == made
        again = ("add", "spans.cfg", "y.cfg", *more)
        done = run("spanft", *again, cwd=tmp_path, ok=False)
        assert "There are spans already, nothing to add: ner." in done.stderr

    def test_a_segmenter_behind_is_moved(self, tmp_path):
        config = self.base(tmp_path, "tagger", "ner")
        first = add_spans(config, segmentation="spans").config
        found, changes = add_spans(first, components=["tagger"], segmentation="spans")
        order = ["transformer", "span_segmenter", "tagger", "ner"]
        assert found["nlp"]["pipeline"] == order
        assert changes[0] == "span_segmenter: moved before tagger."

    def test_a_classifier_without_vectors_is_left(self, tmp_path):
        config = self.base(tmp_path, "textcat", "ner", gpu=False)
        found, changes = add_spans(config)
        assert found["components"]["textcat"] == config["components"]["textcat"]
        assert "textcat: left as it is, its model has no tok2vec." in changes
        with pytest.raises(SpanftError, match="The model of 'textcat' has no tok2vec"):
            add_spans(config, components=["textcat"])

    @pytest.mark.parametrize("factory", ["ner", "bilou_ner", "spancat"])
    def test_a_component_without_a_model_block(self, tmp_path, factory):
        text = '[nlp]\npipeline = ["x"]\n[components]\n[components.x]\nfactory = '
        text += f'"{factory}"\n'
        (tmp_path / "base.cfg").write_text(text)
        # In a process of its own: nothing has made a factory known there yet.
        command = ("-m", "spacy", "spanft", "add", "base.cfg", "out.cfg")
        more = ("-d", "no.gz", "--segmentation", "spans")
        done = interpreter.run(*command, *more, cwd=tmp_path)
        assert "There is no dictionary no.gz yet" in done.stderr
        model = load_config(tmp_path / "out.cfg")["components"]["x"]["model"]
        assert model["tok2vec"]["@architectures"] == "spacy-spanft.SpanTok2Vec.v2"
        assert "@architectures" in model["tok2vec"]["tok2vec"]

    def test_variables_follow_what_moves(self):
        config = load_config(CONFIGS / "ner_baseline.cfg")
        config["components"]["ner"] = {"factory": "ner"}  # with spaCy's own model
        config["components"]["more"] = {
            "factory": "ner",
            "model": {
                "@architectures": "spacy.TransitionBasedParser.v2",
                "state_type": "ner",
                "hidden_width": "${components.more.model.tok2vec.width}",
                "tok2vec": {
                    "@architectures": "spacy.HashEmbedCNN.v2",
                    "width": 32,
                    "embed_size": "${components.more.model.tok2vec:width}",
                },
            },
        }
        config["nlp"]["pipeline"] = ["ner", "more"]
        config["components"].pop("transformer")
        found = add_spans(config).config.interpolate()["components"]
        assert found["more"]["model"]["hidden_width"] == 32
        assert found["more"]["model"]["tok2vec"]["tok2vec"]["embed_size"] == 32
        inner = found["ner"]["model"]["tok2vec"]["tok2vec"]
        assert inner["@architectures"] == "spacy.HashEmbedCNN.v2"

    @pytest.mark.parametrize(
        ("name", "expected"),
        [("tager", r"no 'tager' in \[nlp\] pipeline"), ("transformer", "transformer")],
    )
    def test_components_that_cannot(self, name, expected):
        config = load_config(CONFIGS / "ner_baseline.cfg")
        with pytest.raises(SpanftError, match=expected):
            add_spans(config, components=[name])

    def test_pairs(self):
        config = load_config(CONFIGS / "pair_baseline.cfg")
        found = add_spans(config).config.interpolate()
        assert found["components"]["span_segmenter"]["separator"] == "[SEP]"

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            ({"pipeline": []}, "pipeline is empty, or not there"),
            ({"pipeline": ["transformer"]}, r"could get spans: transformer\."),
            ({"pipeline": ["sourced"]}, r"cannot get another model: sourced\."),
            ({"pipeline": ["sourced", "tagger"]}, "named with --component"),
            ({"lang": "${paths.lang}"}, "a variable that nothing is known of"),
            ({"pipeline": "transformer"}, r"\[nlp\] pipeline is 'transformer'.*a list"),
            ({"pipeline": ["typo"]}, "no factory with the name bilou_nerr"),
        ],
    )
    def test_errors(self, change, expected):
        config = load_config(CONFIGS / "textcat_baseline.cfg")
        config["components"]["sourced"] = {"source": "en_x"}
        config["components"]["tagger"] = {"factory": "tagger"}
        config["components"]["typo"] = {"factory": "bilou_nerr"}
        config["nlp"].update(change)
        with pytest.raises(SpanftError, match=expected):
            add_spans(config)

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            ({"model": "x"}, r"\[components.ner\] model is 'x'.*a block"),
            ({"model": None}, r"\[components.ner\] model is None.*a block"),
            ({"model": {"tok2vec": 3}}, r"\[components.ner.model\] tok2vec is 3"),
            ({"factory": 3}, r"\[components.ner\] factory is 3.*a name"),
            (None, r"names 'ner', and there is no \[components.ner\]"),
        ],
    )
    def test_blocks_that_are_damaged(self, changes, expected):
        config = load_config(CONFIGS / "ner_baseline.cfg")
        if changes is None:
            del config["components"]["ner"]
        else:
            config["components"]["ner"].update(changes)
        with pytest.raises(SpanftError, match=expected):
            add_spans(config)

    def test_a_component_that_is_no_block(self):
        config = load_config(CONFIGS / "textcat_baseline.cfg")
        config["components"]["ner"] = 3
        with pytest.raises(SpanftError, match=r"\[components\] ner is 3.*a block"):
            add_spans(config)

    def test_behind_a_sourced_encoder(self):
        """Nobody knows what a listener to it is called."""
        config = load_config(CONFIGS / "textcat_baseline.cfg")
        config["components"]["transformer"] = {"source": "en_x"}
        del config["components"]["textcat"]["model"]
        with pytest.raises(SpanftError, match="with source, is not looked into"):
            add_spans(config)

    @pytest.mark.parametrize("text", ["no config", "[nlp]\n[nlp]\n", ""])
    def test_no_config(self, tmp_path, text):
        (tmp_path / "x.cfg").write_text(text)
        done = run("spanft", "add", "x.cfg", "-", cwd=tmp_path, ok=False)
        assert "✘" in done.stderr
        assert "Traceback" not in done.stderr

    def test_no_file(self, tmp_path):
        done = run("spanft", "add", "x.cfg", "-", cwd=tmp_path, ok=False)
        assert "There is no file 'x.cfg'" in done.stderr


def test_listener_of_the_tests_is_that_of_the_configs():
    config = load_config(CONFIGS / "textcat_spanft.cfg")
    tok2vec = config["components"]["textcat"]["model"]["tok2vec"]
    assert tok2vec == {**LISTENER, "upstream": "transformer"}
