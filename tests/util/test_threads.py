import threading

import pytest

from spacy_spanft.util.threads import map_threaded


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_results_come_in_order_and_few_are_ahead(n_threads):
    begun = []

    def numbers():
        for number in range(20):
            begun.append(number)
            yield number

    done = []
    for result in map_threaded(lambda n: n * n, numbers(), n_threads):
        done.append(result)
        assert len(begun) <= len(done) + n_threads
    assert done == [n * n for n in range(20)]


def test_calls_are_in_several_threads():
    both = threading.Barrier(2, timeout=10)  # one thread alone would never pass it
    assert list(map_threaded(lambda _: both.wait() >= 0, range(4), 2)) == [True] * 4


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_error_comes_out(n_threads):
    def fail(number):
        if number == 3:
            raise ValueError("three")
        return number

    found = map_threaded(fail, range(100), n_threads)
    assert [next(found) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="three"):
        next(found)
