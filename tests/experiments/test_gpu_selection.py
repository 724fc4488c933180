"""The GPU that was asked for: what it lacks is named, and each training has its own."""

from importlib.util import find_spec
from types import SimpleNamespace

import pytest
import torch

from spacy_spanft.errors import SpanftError
from spacy_spanft.experiments.matrix import places_of, read_gpus, running
from spacy_spanft.experiments.matrix.plan import Run
from spacy_spanft.util import gpu
from spacy_spanft.util.pipelines import load

if find_spec("cupy"):
    pytest.skip("for machines without CuPy", allow_module_level=True)


def let_there_be(monkeypatch, cuda=None, cupy=False):
    monkeypatch.setattr(gpu.sys, "platform", "linux")
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.version, "hip", None, raising=False)
    monkeypatch.setattr(gpu, "find_spec", lambda name: cupy or None)


@pytest.mark.parametrize(
    ("cuda", "cupy", "expected"),
    [
        ("12.8", False, r"CUDA 12\.8, so install CuPy for it: cupy-cuda12x"),
        ("13.0", False, r"CUDA 13\.0, so install CuPy for it: cupy-cuda13x"),
        (None, True, r"PyTorch is built without CUDA\. Install one with CUDA\."),
        (None, False, r"Install one with CUDA, and CuPy for the same CUDA"),
        ("12.8", True, r"For the CPU, leave out --gpu-id"),
    ],
)
def test_what_is_missing_is_named(monkeypatch, cuda, cupy, expected):
    let_there_be(monkeypatch, cuda, cupy)
    with pytest.raises(SpanftError, match=f"^GPU 0 cannot be used: .*{expected}"):
        load("nonsense", 0)  # the pipeline is not to blame


def test_pytorch_is_asked_too(monkeypatch):
    """With CuPy alone thinc would begin, and fail in the middle."""
    let_there_be(monkeypatch, cupy=True)
    monkeypatch.setattr("thinc.api.require_gpu", lambda gpu_id: True)
    with pytest.raises(SpanftError, match="PyTorch is built without CUDA"):
        gpu.select_gpu(0)
    let_there_be(monkeypatch, "12.8", cupy=True)
    gpu.select_gpu(0)


def test_errors_of_cuda_are_told(monkeypatch):
    def fail(gpu_id):
        raise RuntimeError("cudaErrorInvalidDevice: invalid device ordinal")

    let_there_be(monkeypatch, "12.8", cupy=True)
    monkeypatch.setattr("thinc.api.require_gpu", fail)
    with pytest.raises(SpanftError, match=r"GPU 7 .*: cudaErrorInvalidDevice: invalid"):
        gpu.select_gpu(7)
    gpu.select_gpu(-1)


def test_places():
    assert places_of(read_gpus("-1"), 3) == [-1, -1, -1]
    assert places_of(read_gpus("0,2"), 2) == [0, 2]
    assert places_of(read_gpus("1,1"), 2) == [1, 1]
    assert places_of(4, 1) == [4]
    with pytest.raises(SpanftError, match=r"names fewer GPUs.* --gpu-id 0,1,0$"):
        places_of([0, 1], 3)


@pytest.mark.parametrize("gpu_ids", [[0, 1], [5, 5], -1])
def test_each_training_has_its_own(monkeypatch, tmp_path, gpu_ids):
    """No GPU has more trainings at a time than it was named for."""
    going, done, seen = [], [], []

    class Process:
        sentinel, pid, exitcode = None, None, 0

        def __init__(self, gpu_id):
            self.gpu_id = gpu_id

        def start(self):
            going.append(self)
            seen.append(sorted(process.gpu_id for process in going))

        def is_alive(self):
            return self not in done

    def prepare(one, gpu_id, n_threads, make):
        return running.Job(one, one.folder, Process(gpu_id), gpu_id)

    progress = SimpleNamespace(begin=lambda one: None, finish=lambda one, *found: None)
    monkeypatch.setattr(running, "_prepare", prepare)
    monkeypatch.setattr(running, "_finish", lambda job: None)
    monkeypatch.setattr(running, "_found", lambda folder: (1.0, None))
    # Now the older one ends first, now the younger one.
    ends = iter([0, 1, 1, 0, 0])
    monkeypatch.setattr(
        running,
        "wait",
        lambda _: done.append(going.pop(min(next(ends), len(going) - 1))),
    )
    runs = [Run("t", "a", i, tmp_path / str(i), None, 0, "") for i in range(5)]
    places = places_of(gpu_ids, 2)
    assert running._run_all(runs, progress, places, 2, 1, None) == []
    assert [len(at_work) for at_work in seen] == [1, 2, 2, 2, 2]
    assert all(at_work == sorted(places) for at_work in seen[1:])
