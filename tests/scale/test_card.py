"""Model cards say what the files of a pipeline say."""

import io
import re
from contextlib import redirect_stdout

from huggingface_hub import ModelCard

from spacy_spanft.scale.saved_pipeline import read_saved

from ..commands import run
from .conftest import save

PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
PAIRS = {"nlp": {"tokenizer": {"@tokenizers": "spacy-spanft.PairTokenizer.v1"}}}


def printed(card, model):
    code = PYTHON.search(card)[1].replace('"en_pipeline"', repr(str(model)))
    output = io.StringIO()
    with redirect_stdout(output):
        exec(code, {})
    return output.getvalue()


def test_what_spacy_package_requires(encoded):
    saved = read_saved(str(encoded))
    saved.meta["requirements"] = ["nltk>=3.9"]
    required, ours, *_, spacys = saved.requirements
    assert required == "nltk>=3.9"
    assert ours.startswith("spacy-spanft>=")
    assert spacys.startswith("spacy>=")


def test_a_classifier_over_spans(encoded):
    card = run("spanft", "card", encoded).stdout
    data = ModelCard(card).data
    assert data.tags == ["spacy", "text-classification"]
    assert (data.language, data.library_name) == ("en", "spacy")
    assert data.base_model is None  # a folder on this machine
    (result,) = data.eval_results
    assert (result.metric_name, result.metric_value) == ("cats_macro_f", 0.5)
    assert result.dataset_name == "data.spacy"
    for row in ("cats_macro_f | 0.5000", "n-grams | 5", "license | not recorded"):
        assert f"| {row} |" in card
    assert "| textcat | textcat | A, B |" in card
    assert re.search(r"^\w+: bert, a local folder\.$", card, re.MULTILINE)
    assert "/home/me" not in card
    assert "{'A': " in printed(card, encoded)


def test_pairs_and_tokens(tmp_path):
    components = [("textcat_multilabel", {}), ("tagger", {})]
    about = {"config": PAIRS, "license": "CC BY-SA 4.0"}
    model = save(tmp_path / "model", *components, **about)
    card = run("spanft", "card", model).stdout
    kinds = ["text-classification", "token-classification"]
    assert ModelCard(card).data.tags == ["spacy", *kinds]
    assert ModelCard(card).data.license == "cc-by-sa-4.0"
    output = printed(card, model)
    assert "{'A': " in output
    assert "[('The', 'A')" in output


def test_the_default_dictionary_is_licensed_and_files_are_kept(tmp_path):
    model = save(tmp_path / "model", ("span_segmenter", {}))
    path = tmp_path / "README.md"
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
