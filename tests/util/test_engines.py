"""The same tasks in this process, in others and on Ray: same results, same order."""

import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from itertools import count
from unittest import mock

import pytest

from spacy_spanft.errors import CorpusError, SpanftError
from spacy_spanft.util import engines
from spacy_spanft.util.engines import InProcess, LocalProcesses, open_engine
from spacy_spanft.util.processes import light_context

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray")
has_kill = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")


@pytest.fixture(scope="module")
def ray_engine():
    with open_engine("ray", 2) as engine:
        yield engine


@pytest.fixture(
    params=["here", "processes", "light", pytest.param("ray", marks=needs_ray)]
)
def engine(request):
    if request.param == "ray":
        yield request.getfixturevalue("ray_engine")
        return
    how = {"n_workers": 1 + (request.param != "here")}
    with open_engine("local", **how, is_light=request.param == "light") as engine:
        yield engine


def add(left, right):
    time.sleep(0.01 * (left == 0))  # the first one is done last
    return left + right


def fail(value):
    raise CorpusError(f"bad {value}")


def die_once(folder, name):
    """Kill the worker that does this, unless one was killed here before."""
    if name in ("2", "5") and not (folder / name).exists():
        (folder / name).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return name


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def test_results_come_in_the_order_of_the_tasks(engine):
    assert list(engine.run(add, [(i, 10 * i) for i in range(9)])) == [
        11 * i for i in range(9)
    ]
    assert list(engine.run(add, [])) == []


def test_no_more_tasks_are_read_than_are_in_flight(engine):
    numbers = count()
    results = engine.run(add, ((n, 0) for n in numbers))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    assert next(numbers) <= 3 + engine.n_in_flight


def test_two_runs_at_a_time_do_not_mix(engine):
    one = engine.run(add, [(i, 0) for i in range(6)])
    two = engine.run(add, [(i, 100) for i in range(6)])
    assert [next(pair) for _ in range(6) for pair in (one, two)] == [
        i + more for i in range(6) for more in (0, 100)
    ]


def test_what_a_task_raises_is_raised_here(engine):
    with pytest.raises(CorpusError, match=r"^bad 7$"):
        list(engine.run(fail, [(7,)]))
    # It can be used again.
    assert list(engine.run(add, [(1, 1)])) == [2]


@has_kill
@pytest.mark.parametrize("kind", ["light", pytest.param("ray", marks=needs_ray)])
def test_the_tasks_of_a_killed_worker_are_done_again(kind, tmp_path, request):
    names = [(tmp_path, str(i)) for i in range(9)]
    if kind == "ray":
        found = list(request.getfixturevalue("ray_engine").run(die_once, names))
    else:
        with open_engine("local", 2, is_light=True) as engine:
            found = list(engine.run(die_once, names))
    assert found == [name for _, name in names]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2", "5"]


@has_kill
@pytest.mark.parametrize("kind", ["light", pytest.param("ray", marks=needs_ray)])
def test_a_task_that_always_kills_its_worker_is_given_up(kind, monkeypatch, request):
    if kind == "ray":
        monkeypatch.setattr("spacy_spanft.util.ray_engine.MOST_TIMES", 2)
        with pytest.raises(SpanftError, match="lost 2 times over the same task"):
            list(request.getfixturevalue("ray_engine").run(die, [()]))
        return
    monkeypatch.setattr(engines, "MOST_TIMES", 2)
    with (
        pytest.raises(SpanftError, match="lost 2 times over the same task"),
        open_engine("local", 2, is_light=True) as engine,
    ):
        list(engine.run(die, [()]))


IMPORTED = "[name for name, one in __import__('sys').modules.items() if one]"


@has_kill
def test_a_worker_that_its_broken_pool_forgot_is_not_waited_for(tmp_path):
    """Python 3.11 waits for it, and for ever: it was started while the pool broke."""
    with LocalProcesses(2, is_light=True) as engine:
        results = engine.run(die_once, [(tmp_path, str(n)) for n in range(6)])
        found = [next(results)]
        forgotten = light_context().Process(target=time.sleep, args=(600,))
        forgotten.start()
        pool = engine._pool
        kept = pool.shutdown

        def shutdown(**settings):
            assert not forgotten.is_alive()
            kept(**settings)

        with mock.patch.object(pool, "shutdown", side_effect=shutdown) as ended:
            found += results
        ended.assert_called_once_with(cancel_futures=True)
    assert found == [str(n) for n in range(6)]


def test_light_workers_import_what_they_need_and_no_pytorch():
    with LocalProcesses(2, is_light=True) as engine:
        found = next(engine.run(eval, [(IMPORTED,)]))
        assert "spacy_spanft.util.engines" in found
        assert not {"spacy", "torch", "numpy"} & set(found)
        tasks = [(f"__import__('spacy.tokenizer') and {IMPORTED}",)]
        found = next(engine.run(eval, tasks))
        assert {"spacy", "thinc", "numpy"} < set(found)
        assert "torch" not in found


def test_leaving_early_waits_for_nothing():
    begin = time.monotonic()
    with open_engine("local", 2, is_light=True) as engine:
        results = engine.run(time.sleep, [(seconds,) for seconds in (0, 600, 600)])
        next(results)
    assert time.monotonic() - begin < 60


# It prints the workers, and then they wait.
DRIVER = """
import os, sys, time
from spacy_spanft.util.engines import open_engine

def main():
    with open_engine(sys.argv[1], 2, is_light=True) as engine:
        tasks = [("__import__('os').getpid()",)] * 2
        print(*engine.run(eval, tasks), flush=True)
        list(engine.run(time.sleep, [(600,)] * 4))

main()
"""


@has_kill
@pytest.mark.parametrize(
    "name", ["local", pytest.param("ray", marks=[needs_ray, pytest.mark.slow])]
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_driver(name, number):
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, name],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C reaches all of a session, and nobody else
        preexec_fn=hear_ctrl_c,
    )
    workers = [int(pid) for pid in driver.stdout.readline().split()]
    assert len(workers) == 2, driver.communicate()
    if number == signal.SIGINT:
        os.killpg(driver.pid, number)
    else:
        driver.send_signal(number)
    # The workers have the same streams: they end when the last of them does.
    _, stderr = driver.communicate(timeout=60)
    deadline = time.monotonic() + 30
    while any(map(is_alive, workers)):
        assert time.monotonic() < deadline, workers
        time.sleep(0.1)
    assert stderr.count("Traceback") == (number == signal.SIGINT), stderr


def hear_ctrl_c():
    """Whatever runs in the background of a shell does not hear it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_one_local_worker_needs_no_process():
    assert isinstance(open_engine("local", 1), InProcess)
    assert next(open_engine().run(os.getpid, [()])) == os.getpid()


def test_wrong_settings_are_named():
    with pytest.raises(SpanftError, match="engine is 'spark', but must be 'local' or"):
        open_engine("spark")
    with pytest.raises(SpanftError, match="n_workers is 0, but must be 1 or more"):
        open_engine("local", 0)
    with pytest.raises(SpanftError, match=r"'host:1' would be .*--engine ray"):
        open_engine("local", 2, address="host:1")


@needs_ray
@pytest.mark.parametrize("address", ["127.0.0.1:1", "nonsense"])
def test_a_cluster_that_is_not_there(address, monkeypatch):
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    with pytest.raises(SpanftError, match=f"no Ray cluster at '{address}'.*--address"):
        open_engine("ray", 2, address=address)


@needs_ray
def test_ray_that_does_not_start(monkeypatch):
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    error = OSError("no room for sockets")
    monkeypatch.setattr("ray.init", mock.Mock(side_effect=error))
    with pytest.raises(SpanftError, match=r"cannot be started .*: no room for sockets"):
        open_engine("ray", 2)


def test_ray_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SpanftError, match=r'install "spacy-spanft\[ray\]"'):
        open_engine("ray", 2)
