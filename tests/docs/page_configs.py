"""Whether the blocks of configs in the documentation are what they say they are."""

import re

import spacy
from thinc.api import Config

from spacy_spanft.configs import make_config

_SECTION = re.compile(r"^\[([\w.]+)\]$", re.MULTILINE)
_PATHS = '[paths]\ntrain = "x"\ndev = "x"\n\n'


def check(snippet):
    """Check a block in the way that the comment before it asks for."""
    checks = {"pipeline": makes_pipeline, "part of": is_part, "builds": builds}
    if snippet.note:
        checks[snippet.note](snippet)
    else:
        resolves(snippet)


def complete(code):
    """Put before a block the empty sections that those in it are parts of."""
    sections = _SECTION.findall(code)
    above = {}
    for section in sections:
        names = section.split(".")
        above |= dict.fromkeys(".".join(names[:n]) for n in range(1, len(names)))
    missing = (name for name in above if name not in sections)
    return "".join(f"[{name}]\n\n" for name in missing) + code


def makes_pipeline(snippet):
    """A pipeline that cuts texts, as its dictionary says."""
    config = Config().from_str(snippet.code)
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    nlp.initialize()
    doc = nlp("in New York")
    assert [span.text for span in doc.spans["ngrams"]] == ["New York"]
    assert nlp.config["training"]["annotating_components"] == ["span_segmenter"]


def is_part(snippet):
    """A part of the config that init writes for a task, which says the same."""
    text = make_config(snippet.value.removesuffix("_spanft"))
    whole = Config().from_str(text, interpolate=False)
    found = Config().from_str(complete(snippet.code), interpolate=False)
    assert whole.merge(found) == whole


def builds(snippet):
    """The settings of a component, which can be built."""
    name = snippet.value
    found = Config().from_str(complete(snippet.code))["components"]
    assert set(found) == {name}
    settings = {key: one for key, one in found[name].items() if key != "factory"}
    model = spacy.blank("en").add_pipe(name, config=settings).model
    assert model
    if name == "textcat":
        assert model.attrs["multi_label"] is False


def resolves(snippet):
    """Blocks with registered names, each of which makes something."""
    code = complete(snippet.code)
    config = Config().from_str(_PATHS * ("${paths" in code) + code)
    config.pop("paths", None)
    resolved = spacy.registry.resolve(config)
    blocks = [name for name in _SECTION.findall(snippet.code) if "." in name]
    assert blocks
    for block in blocks:
        made = resolved
        for name in block.split("."):
            made = made[name]
        assert made is not None
        assert not isinstance(made, dict)
