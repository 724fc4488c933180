"""`spanft add` changes the segmenter and the model blocks, and nothing else."""

import pytest
from spacy.util import load_config, load_model_from_config

from spacy_spanft.configs.adding import PREPARE, SPAN_TOK2VEC, add_spans
from spacy_spanft.errors import SpanftError

from ..commands import run
from ..made_configs import CONFIGS
from .conftest import changed


@pytest.fixture
def base(tmp_path):

    def make(pipeline, *more):
        run("init", "config", "base.cfg", "-p", pipeline, *more, cwd=tmp_path)
        return load_config(tmp_path / "base.cfg")

    return make


def test_a_config_of_spacy_gets_spans(base, tmp_path, single):
    before = base("textcat,ner", "--gpu")
    run("spanft", "add", "base.cfg", "out.cfg", "--component", "textcat", cwd=tmp_path)
    paths = ("--paths.train", single, "--paths.dev", single)
    run("debug", "config", "out.cfg", *paths, cwd=tmp_path)
    after = load_config(tmp_path / "out.cfg")
    keys = changed(before, after)
    allowed = (
        *("components.span_segmenter.", "initialize.components.span_segmenter."),
        *("components.textcat.model.", "training.annotating_components"),
        *("nlp.pipeline", "initialize.after_init"),
    )
    assert all(key.startswith(allowed) for key in keys), keys
    assert after["initialize"]["after_init"]["@callbacks"] == PREPARE
    pipeline = ["transformer", "span_segmenter", "textcat", "ner"]
    assert after["nlp"]["pipeline"] == pipeline


def test_files_that_are_not_what_they_should_be(tmp_path):
    base, new = CONFIGS / "textcat_spanft.cfg", tmp_path / "new.cfg"
    (junk := tmp_path / "x").write_text("no config")
    for expected, *args in (
        ("textcat already uses spans or windows", base, new),
        ("x is not an n-gram dictionary", base, new, "-d", junk),
        ("x' is not a spaCy config", junk, new),
    ):
        assert expected in run("spanft", "add", *args, ok=False).stderr
        assert not new.exists()


def test_classifiers_without_vectors(base):
    config = base("textcat_multilabel")
    with pytest.raises(SpanftError, match="no vectors to pool"):
        add_spans(config)
    config["nlp"]["pipeline"] = ["trf", "textcat_multilabel"]
    config["components"]["trf"] = {"factory": "transformer"}
    model = add_spans(config).config["components"]["textcat_multilabel"]["model"]
    assert model["tok2vec"]["upstream"] == "trf"
    assert model["exclusive_classes"] is False


@pytest.mark.parametrize("options", [(), ("-o", "accuracy"), ("--gpu",)])
def test_an_encoder_takes_the_place_of_any_other(base, bert, single, options):
    """Of none (a bag of words), of a tok2vec, and of spaCy's transformer."""
    pipes = ("tagger", "ner", "textcat")
    config = base(",".join(pipes), *options)
    config["training"]["frozen_components"] = ["tok2vec"]
    old = "transformer" if "transformer" in config["components"] else "tok2vec"
    config["initialize"]["components"] = {old: {"piecer_loader": None}}
    added = add_spans(config, transformer=str(bert)).config
    assert old not in added["initialize"]["components"]
    pipeline = ["transformer", "tagger", "ner", "span_segmenter", "textcat"]
    assert added["nlp"]["pipeline"] == pipeline
    nlp = load_model_from_config(added, auto_fill=True)
    encoder = nlp.get_pipe("transformer")
    assert type(encoder).__name__ == "SpanftEncoder"
    assert {x.upstream_name for x in encoder.listeners} == {"transformer"}
    assert set(encoder.listening_components) == set(pipes)
    rate = added["training"]["optimizer"]["learn_rate"]["initial_rate"]
    assert rate == 5e-5  # that of a tok2vec would destroy an encoder


def test_an_existing_segmenter_is_used():
    config = load_config(CONFIGS / "textcat_baseline.cfg")
    config["components"]["cut"] = {"factory": "span_segmenter", "spans_key": "mine"}
    config["nlp"]["pipeline"] = ["transformer", "cut", "textcat"]
    config["training"]["annotating_components"] = ["transformer"]
    before = config.copy()
    added, _ = add_spans(config, dictionary="a.tsv.gz")
    assert not changed(config, before)
    assert added["nlp"]["pipeline"] == ["transformer", "cut", "textcat"]
    assert added["training"]["annotating_components"] == ["transformer", "cut"]
    key = added["components"]["textcat"]["model"]["spans_key"]
    assert key == "${components.cut.spans_key}"
    plain = added.interpolate()
    assert plain["initialize"]["components"]["cut"]["dictionary"] == "a.tsv.gz"
    config["components"]["cut"]["factory"] = "sentencizer"
    config["paths"]["dictionary"] = "mine.tsv.gz"
    plain = add_spans(config).config.interpolate()["initialize"]["components"]
    assert plain["span_segmenter"]["dictionary"] == "mine.tsv.gz"


def test_two_classifiers_share_a_segmenter():
    config = load_config(CONFIGS / "textcat_baseline.cfg")
    model = {**config["components"]["textcat"]["model"]}
    config["components"]["more"] = {"factory": "textcat_multilabel", "model": model}
    config["nlp"]["pipeline"] = ["transformer", "more", "textcat"]
    added = add_spans(config).config
    assert added["nlp"]["pipeline"][1:] == ["span_segmenter", "more", "textcat"]
    blocks = [added["components"][name]["model"] for name in ("more", "textcat")]
    assert [block["exclusive_classes"] for block in blocks] == [False, True]
    assert {block["spans_key"] for block in blocks} == {
        "${components.span_segmenter.spans_key}"
    }


@pytest.mark.parametrize("gpu", [["--gpu"], []])
def test_token_heads_keep_their_models(base, gpu):
    """A tagger stays as it is, unless it is named."""
    config = base("tagger,ner,spancat", *gpu)
    added = add_spans(config, segmentation="spans").config
    source = config["nlp"]["pipeline"][0]
    names = [source, "tagger", "span_segmenter", "ner", "spancat"]
    assert added["nlp"]["pipeline"] == names
    assert added["components"]["tagger"] == config["components"]["tagger"]
    for name in ("ner", "spancat"):
        before = config["components"][name]["model"]
        after = added["components"][name]["model"]
        assert after["tok2vec"]["tok2vec"] == before["tok2vec"]
        if gpu:
            assert after["tok2vec"]["token_pooling"] == before["tok2vec"]["pooling"]
        assert {**after, "tok2vec": 0} == {**before, "tok2vec": 0}
    # The segmenter moves before the first that needs it.
    moved, _ = add_spans(added, components=["tagger"], segmentation="spans")
    assert moved["nlp"]["pipeline"][:3] == [source, "span_segmenter", "tagger"]


def test_token_heads_get_windows_which_can_be_changed_to_spans(base):
    config = base("ner,textcat", "--gpu")
    added, changes = add_spans(config)
    assert added["nlp"]["pipeline"][1:] == ["ner", "span_segmenter", "textcat"]
    ner, textcat = (added["components"][n]["model"] for n in ("ner", "textcat"))
    assert ner["tok2vec"]["segmentation"] == "none"
    assert textcat["segmentation"] == "spans"
    with pytest.raises(SpanftError, match="ner would use windows"):
        add_spans(config, "a.tsv.gz", ["ner"])
    windows = load_config(CONFIGS / "ner_windows.cfg")
    added, changes = add_spans(windows, segmentation="spans")
    assert not changed(added, load_config(CONFIGS / "ner_spanft.cfg"))
    assert f"ner: {SPAN_TOK2VEC} uses spans now." in changes


def test_a_component_without_a_model_block(tmp_path):
    text = (
        '[nlp]\npipeline = ["x"]\n[components]\n[components.x]\nfactory = "bilou_ner"'
    )
    (tmp_path / "base.cfg").write_text(text)
    run("spanft", "add", "base.cfg", "out.cfg", "--segmentation=spans", cwd=tmp_path)
    model = load_config(tmp_path / "out.cfg")["components"]["x"]["model"]
    assert model["tok2vec"]["@architectures"] == SPAN_TOK2VEC
    assert "@architectures" in model["tok2vec"]["tok2vec"]


@pytest.mark.parametrize(
    ("change", "components", "expected"),
    [
        ({"pipeline": []}, (), "can use spans: none"),
        ({"pipeline": ["sourced"]}, (), "a factory, not a source"),
        ({"pipeline": ["typo"]}, (), r"has no \[components\.typo\]"),
        ({"lang": "${paths.lang}"}, (), "an unknown variable"),
        ({}, ["tager"], r"no 'tager' in \[nlp\] pipeline: transformer, textcat"),
    ],
)
def test_errors(change, components, expected):
    config = load_config(CONFIGS / "textcat_baseline.cfg")
    config["components"]["sourced"] = {"source": "en_x"}
    config["nlp"].update(change)
    with pytest.raises(SpanftError, match=expected):
        add_spans(config, components=components)
