"""The fake device refuses what a real one refuses, or gets wrong without a word."""

import cupy
import cupyx
import numpy as np
import pytest
from thinc.api import CupyOps

from spacy_spanft.experiments.measuring import peak_memory

HOST = np.ones((2, 3), "f")
REFUSED = {
    "a host array beside it": lambda x: x + HOST,
    "nothing into it": lambda x: x.__setitem__(0, None),
    "arrays of both sides": lambda x: cupy.concatenate([x, HOST]),
    "a NumPy array": np.asarray,
    "adding host values": lambda x: cupyx.scatter_add(x, cupy.array([0]), HOST[:1]),
    "strides for a kernel": lambda x: reduced(x.T),
    "lengths on the host": lambda x: CupyOps().reduce_sum(x, np.array([2], "i")),
}


def reduced(x, dtype="i"):
    return CupyOps().reduce_mean(x, cupy.array([len(x)], dtype=dtype))


@pytest.mark.parametrize("what", REFUSED)
def test_mistakes_with_arrays_of_the_host_are_refused(what):
    with pytest.raises((TypeError, ValueError)):
        REFUSED[what](cupy.array(HOST))


def test_wrong_results_are_those_of_a_real_one():
    """No kernel knows int64 and half precision; memory that nobody wrote is seen."""
    assert reduced(cupy.array(HOST)).get().tolist() == [[1.0] * 3]
    assert reduced(cupy.array(HOST), "int64") is None
    assert reduced(cupy.array(HOST.astype("float16"))) is None
    assert np.isnan(cupy.empty(3, "f").get()).all()
    x = cupy.array(HOST)
    with pytest.raises(AssertionError, match="two values"):
        x[cupy.array([0, 0])] = x
    x[cupy.array([1, 0])] = x


def test_memory_of_both_libraries_counts(monkeypatch):
    """CuPy's own pool beside what PyTorch has allocated."""
    monkeypatch.setattr("torch.cuda.max_memory_allocated", lambda gpu_id: 3_000_000)
    pool = type(cupy.get_default_memory_pool())
    monkeypatch.setattr(pool, "total_bytes", lambda self: 2_000_000)
    assert peak_memory(0) == 5.0
