"""A value that is sent with many tasks is unpickled once."""

import pickle

from spacy_spanft.util.shared import Shared

calls = []


class Slow:
    def __setstate__(self, state):
        calls.append(state)
        self.__dict__.update(state)


def test_shared():
    value = Slow()
    value.words = ["new", "york"]
    shared = Shared(value)
    assert shared.value is value
    sent = [pickle.dumps((shared, number)) for number in range(3)]
    found = [pickle.loads(data) for data in sent]
    assert [number for _, number in found] == [0, 1, 2]
    assert found[0][0] is found[2][0]
    assert found[0][0].value.words == ["new", "york"]
    assert len(calls) == 1
    # Another value is told from it, and goes on to others.
    again = pickle.loads(pickle.dumps(Shared([1])))
    assert again.value == [1]
    assert pickle.loads(pickle.dumps(again)).value == [1]
