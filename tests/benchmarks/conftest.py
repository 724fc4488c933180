"""Small data of all tasks, and a small encoder."""

import pytest

from benchmarks.fewlabels.tasks import TASKS

from .. import tiny

TOKENS = {
    "WNUT17": "the\tO\nunited\tB-person\nstates\tI-person\n\n" * 30,
    "WikiGold": "Rome I-LOC\nis O\n\nno O\n\n" * 15,
}


def table_of(name, n_texts):
    header = ["sentence"] if n_texts == 1 else ["sentence1", "sentence2"]
    lines = ["\t".join([*header, "label"])]
    for i in range(30):
        text = f"the united states saw a blue moon {i}"
        label = i % 5 if name == "STS-B" else i % 2
        lines.append("\t".join([*[text] * n_texts, str(label)]))
    return "\n".join(lines) + "\n"


@pytest.fixture
def data(tmp_path):
    texts = {}
    for name, task in TASKS.items():
        n_texts = {"sentence": 1, "sentence1": 2}.get(task.text)
        for file in filter(None, (task.train, task.dev)):
            texts[file] = table_of(name, n_texts) if n_texts else TOKENS[name]
    for name, text in texts.items():
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf8")
    return tmp_path / "data"


@pytest.fixture
def encoder(tmp_path):
    return tiny.save_bert(tmp_path / "encoder")
