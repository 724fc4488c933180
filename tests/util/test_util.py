"""Values in messages, extras, and threads."""

import sys
from configparser import ConfigParser
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from spacy_spanft.errors import SpanftError, listed, shown
from spacy_spanft.util import EXTRAS, require
from spacy_spanft.util.threads import map_ahead

SETUP = Path(__file__).parents[2] / "setup.cfg"


def test_values_are_shown_as_repr_does_until_they_are_long():
    for value in ("it's", ["a", 1.5], {"a": ("b",)}, "half \ud800"):
        assert shown(value) == repr(value)
    long = shown("a" + 1000 * "x" + "b")
    assert (long[:3], long[-2:], len(long)) == ("'ax", "b'", 200)
    assert len(shown([1000 * "x"] * 1000)) == 200
    assert listed([]) == "none"
    assert listed({"a": 1, "b": 2}) == "'a', 'b'"
    assert listed(range(2012)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2,002 more"


def test_the_extras_are_those_of_the_package():
    parser = ConfigParser()
    parser.read(SETUP)
    extras = parser["options.extras_require"]
    for name, extra in EXTRAS.items():
        assert f"\n{name}>=" in extras[extra]
        assert f"\n{name}>" not in parser["options"]["install_requires"]
    assert extras["all"].strip() == "spacy-spanft[experiments,pretrain]"


@pytest.mark.parametrize("name", EXTRAS)
def test_a_missing_package_is_named_with_its_extra(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name.replace("-", "_"), None)
    expected = rf'This needs {name}, .*: pip install "spacy-spanft\[{EXTRAS[name]}\]"'
    with pytest.raises(SpanftError, match=expected):
        require("This", name)


@pytest.mark.parametrize("n_threads", [1, 5])
def test_results_of_threads_come_in_order_and_few_are_ahead(n_threads):
    begun, done = [], []

    def numbers():
        for number in range(20):
            begun.append(number)
            yield number

    for result in map_ahead(lambda n: n * n, numbers(), n_threads):
        done.append(result)
        assert len(begun) <= len(done) + n_threads
    assert done == [n * n for n in range(20)]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_error_in_a_thread_is_raised_after_the_results_before_it(n_threads):
    results = map_ahead(lambda number: 1 / (3 - number), range(100), n_threads)
    assert [next(results) for _ in range(3)] == [1 / 3, 1 / 2, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


ENDLESS = """
from time import sleep
from spacy_spanft.util.threads import map_ahead

def work(seconds):
    print("begun", flush=True)
    sleep(seconds)

list(map_ahead(work, [600, 600], 2, in_processes=True))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="others start processes anew")
def test_processes_end_with_a_killed_parent():
    with Popen([sys.executable, "-c", ENDLESS], stdout=PIPE) as process:
        process.stdout.readline()
        process.kill()
        process.communicate(timeout=60)  # its workers hold its output
