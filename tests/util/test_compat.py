"""What is private of others: it is there, does what we rely on, and is named once."""

import ast
from pathlib import Path
from pkgutil import resolve_name

import pytest
import spacy

import spacy_spanft
from spacy_spanft.util import _compat

PACKAGE = Path(spacy_spanft.__file__).parent
# Public in spite of their names, or of Python itself.
KNOWN = {"_replace", "_asdict", "_fields", "_field_defaults", "_exit", "_"}
# Methods that our subclasses override, by class.
TEXTCAT = "spacy.pipeline.textcat_multilabel.MultiLabel_TextCategorizer"
OVERRIDDEN = {TEXTCAT: ["_examples_to_truth", "_validate_categories"]}


def test_what_spacy_package_requires_and_writes():
    nlp = spacy.blank("en", meta={"requirements": ["nltk>=3.9"]})
    nlp.add_pipe("span_segmenter")
    required, ours = _compat.third_party_requirements(nlp)
    assert required == "nltk>=3.9"
    assert ours.startswith("spacy-spanft>=")
    assert _compat.readme_of_spacy(nlp.meta).startswith("| Feature |")


def test_code_is_imported(tmp_path):
    (tmp_path / "code.py").write_text("import spacy\nspacy.__spanft_test__ = 1\n")
    _compat.spacy_cli().import_code(tmp_path / "code.py")
    assert vars(spacy).pop("__spanft_test__") == 1


@pytest.mark.parametrize("path", OVERRIDDEN)
def test_what_we_override_is_there(path):
    parent = resolve_name(path)
    assert all(callable(getattr(parent, name)) for name in OVERRIDDEN[path])


def private_names(path):
    nodes = list(ast.walk(ast.parse(path.read_text("utf8"))))
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    owned = {x.attr for x in attributes if ast.unparse(x.value) in ("self", "cls")}
    names = {x.attr for x in attributes if not x.attr.startswith("__")} - owned
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and not node.level:
            names.update((node.module or "").split("."))
    return {name for name in names if name.startswith("_")} - KNOWN.union(
        *OVERRIDDEN.values()
    )


def test_nothing_else_touches_what_is_private():
    private = {path.name: private_names(path) for path in PACKAGE.rglob("*.py")}
    assert [name for name, names in private.items() if names] == ["_compat.py"]
