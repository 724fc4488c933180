"""What is private of others: it is there, does what we rely on, and is named once."""

import ast
from pathlib import Path
from pkgutil import resolve_name

import pytest
import spacy
from thinc.api import Linear, PyTorchWrapper
from torch import nn

import spacy_spanft
from spacy_spanft.util import _compat

PACKAGE = Path(spacy_spanft.__file__).parent
# Public in spite of their names, or of Python itself.
KNOWN = {"_replace", "_asdict", "_fields", "_field_defaults", "_exit", "_"}
OVERRIDDEN = {name for names in _compat.OVERRIDDEN.values() for name in names}


def test_a_shim_has_its_module_and_knows_of_overflow():
    module = nn.Linear(2, 2)
    (shim,) = PyTorchWrapper(module).shims
    assert _compat.torch_module(shim) is module
    assert not _compat.found_inf(shim)
    _compat.set_found_inf(shim, True)
    assert _compat.found_inf(shim)
    assert shim._grad_scaler.found_inf


def test_a_model_calls_what_is_set():
    model = Linear(2, 3).initialize()
    before = _compat.forward_of(model)
    _compat.set_forward(model, lambda model, X, is_train: ("other", None))
    assert model.predict(model.ops.alloc2f(1, 3)) == "other"
    _compat.set_forward(model, before)
    assert model.predict(model.ops.alloc2f(1, 3)).shape == (1, 2)


def test_a_listener_knows_whether_it_has_heard():
    module = pytest.importorskip("spacy_transformers.layers.listener")
    listener = module.TransformerListener("*")
    assert not _compat.has_heard(listener)
    listener.receive(module.TransformerListener.get_batch_id([]), None, None)
    assert _compat.has_heard(listener)


def test_what_spacy_package_requires_and_writes():
    nlp = spacy.blank("en", meta={"requirements": ["nltk>=3.9"]})
    nlp.add_pipe("span_segmenter")
    required, ours = _compat.third_party_requirements(nlp)
    assert required == "nltk>=3.9"
    assert ours.startswith("spacy-spanft>=")
    assert _compat.readme_of_spacy(nlp.meta).startswith("| Feature |")


def test_settings_of_a_command_line(tmp_path):
    from click import ClickException

    args = ["--training.dropout", "0.2", "--paths.train", "x"]
    overrides = {"training.dropout": 0.2, "paths.train": "x"}
    assert _compat.parse_overrides(args) == overrides
    with pytest.raises(ClickException):
        _compat.parse_overrides(["--training"])
    (tmp_path / "code.py").write_text("import spacy\nspacy.__spanft_test__ = 1\n")
    _compat.import_code(tmp_path / "code.py")
    assert vars(spacy).pop("__spanft_test__") == 1


@pytest.mark.parametrize("path", _compat.OVERRIDDEN)
def test_what_we_override_is_there(path):
    parent = resolve_name(path)
    assert all(callable(getattr(parent, name)) for name in _compat.OVERRIDDEN[path])


def private_names(path):
    """Return the private names of other objects and modules in a file."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf8"))))
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    owned = {x.attr for x in attributes if ast.unparse(x.value) in ("self", "cls")}
    names = {x.attr for x in attributes if not x.attr.startswith("__")} - owned
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and not node.level:
            names.update((node.module or "").split("."))
    return {name for name in names if name.startswith("_")} - KNOWN - OVERRIDDEN


def test_nothing_else_touches_what_is_private():
    private = {path.name: private_names(path) for path in PACKAGE.rglob("*.py")}
    assert [name for name, names in private.items() if names] == ["_compat.py"]


def test_the_loop_finds_its_batches_by_name():
    from spacy.training import loop

    def double(batches):
        for epoch, batch in batches:
            yield epoch, [*batch, *batch]

    original = loop.create_train_batches
    with _compat.wrapped_train_batches(double):
        batches = loop.create_train_batches(None, lambda nlp: [1, 2], lambda x: [x], 1)
        assert [(n, sorted(batch)) for n, batch in batches] == [(0, [1, 1, 2, 2])]
    assert loop.create_train_batches is original
