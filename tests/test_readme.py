"""Every snippet of the README runs, and says what the README says."""

import io
import json
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from thinc.api import Config

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf8")
SNIPPETS = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
CONFIG = """
configs:
- config_name: wikitext-103-raw-v1
  data_files: data.jsonl
"""


def snippets(language):
    return [code for name, code in SNIPPETS if name == language]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What the snippets find in the current folder."""
    monkeypatch.chdir(tmp_path)
    line = "New York City is one of the largest cities in the United States.\n"
    (tmp_path / "corpus.txt").write_text(line * 15, encoding="utf8")
    hub = tmp_path / "wikitext"  # of the same format as on the hub
    hub.mkdir()
    (hub / "README.md").write_text(f"---{CONFIG}---\n", encoding="utf8")
    rows = [json.dumps({"text": f" {line}"}) + "\n"] * 12
    (hub / "data.jsonl").write_text("".join(rows), encoding="utf8")
    return tmp_path


def test_python_snippets(folder):
    names = {}
    for code in snippets("python"):
        output = io.StringIO()
        with redirect_stdout(output):
            exec(code, names)
        for expected in re.findall(r"^# (\[.*)$", code, re.MULTILINE):
            assert expected in output.getvalue()


def test_commands(folder):
    commands = [line for code in snippets("bash") for line in code.splitlines()]
    ours = [line for line in commands if line.startswith("python -m spacy spanft")]
    # The configs are trained in test_project.py, with a transformer made on the spot.
    train = "python -m spacy train configs/textcat_spanft.cfg"
    others = {line for line in set(commands) - set(ours) if not line.startswith(train)}
    assert others == {"make demo", "pip install ."}
    for line in ours:
        command = [sys.executable, *shlex.split(line)[1:]]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
    assert (folder / "page.html").exists()
    assert (folder / "wikitext.tsv.gz").exists()


def test_config(folder):
    import spacy

    from spacy_spanft import NgramDictionary

    NgramDictionary({"new york": 1}).to_disk(folder / "ngrams.tsv.gz")
    code, model = snippets("ini")
    nlp = spacy.util.load_model_from_config(Config().from_str(code), auto_fill=True)
    nlp.initialize()
    doc = nlp("in New York")
    assert [span.text for span in doc.spans["ngrams"]] == ["New York"]
    assert nlp.config["training"]["annotating_components"] == ["span_segmenter"]
    pytest.importorskip("spacy_transformers")
    above = "[components]\n\n[components.textcat]\n\n"
    settings = Config().from_str(above + model)["components"]["textcat"]
    assert nlp.add_pipe("textcat", config=settings).model.attrs["multi_label"] is False


def test_demo_prints_what_it_says():
    makefile = (ROOT / "Makefile").read_text(encoding="utf8")
    texts = re.findall(r'^\t\t"(.*?)"', makefile, re.MULTILINE)
    command = [sys.executable, "-m", "spacy", "spanft", "segment", *texts]
    done = subprocess.run(command, capture_output=True, text=True)
    (expected,) = (code for code in snippets("text") if code.startswith("["))
    assert done.stdout.startswith(expected)
