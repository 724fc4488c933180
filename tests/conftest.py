import os
import shutil

# All is tiny here: threads would only wait for each other, minutes on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Nothing is asked of the network.
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import pytest


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the slow tests too")
    parser.addoption("--gpu", action="store_true", help="run the tests on a GPU too")


def pytest_configure(config):
    from hypothesis import settings

    # The same few examples each time; --slow draws others, and more.
    fixed = {"deadline": None, "derandomize": True}
    settings.register_profile("default", max_examples=20, **fixed)
    settings.register_profile("slow", deadline=None, max_examples=100)
    settings.register_profile("thorough", deadline=None, max_examples=1000)
    profile = "slow" if config.getoption("--slow") else "default"
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", profile))


def pytest_collection_modifyitems(config, items):
    # What takes longest comes first: last, everything else would wait for it.
    items.sort(key=lambda item: not item.nodeid.startswith("tests/project/"))
    for option in ("slow", "gpu"):
        if config.getoption(f"--{option}"):
            continue
        skip = pytest.mark.skip(reason=f"run it with --{option}")
        for item in items:
            # Its keywords have the names of all folders above it as well.
            if item.get_closest_marker(option):
                item.add_marker(skip)


@pytest.fixture(scope="session")
def nlp():
    """A blank English pipeline that no test changes."""
    import spacy

    return spacy.blank("en")


@pytest.fixture(scope="session")
def bert(tmp_path_factory):
    """A tiny BERT that no test changes."""
    from .tiny import save_bert

    return save_bert(tmp_path_factory.mktemp("bert") / "bert")


@pytest.fixture
def dictionary():
    from spacy_spanft import NgramDictionary

    counts = {"new york": 30, "new york city": 12, "united states": 25}
    counts |= {"the united states of america": 7, "united airlines": 5}
    return NgramDictionary(counts)


@pytest.fixture
def corpus(tmp_path):
    lines = [f"The New York Times of the United States wrote {i}." for i in range(12)]
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf8")
    return path


@pytest.fixture(scope="session")
def written_place(tmp_path_factory):
    from .experiments.matrix_place import write_place

    folder = tmp_path_factory.mktemp("matrix")
    write_place(folder)
    return folder


@pytest.fixture
def place(written_place, tmp_path, monkeypatch):
    shutil.copytree(written_place, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path
