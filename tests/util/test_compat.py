"""What is private of others is there, and does what we rely on."""

import spacy
from spacy.pipeline.textcat_multilabel import MultiLabel_TextCategorizer

from spacy_spanft.util import _compat


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


def test_methods_that_our_classifiers_override_are_there():
    for name in ("_examples_to_truth", "_validate_categories"):
        assert callable(getattr(MultiLabel_TextCategorizer, name))
