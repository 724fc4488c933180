"""The GPU that was asked for: what it lacks is named."""

from importlib.util import find_spec

import pytest
import torch

from spacy_spanft.errors import SpanftError
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
        (None, True, r"PyTorch is built without CUDA\. Install one with CUDA\."),
        ("12.8", True, r"For the CPU, leave out --gpu-id"),
    ],
)
def test_what_is_missing_is_named(monkeypatch, cuda, cupy, expected):
    let_there_be(monkeypatch, cuda, cupy)
    with pytest.raises(SpanftError, match=f"^GPU 0 cannot be used: .*{expected}"):
        load("nonsense", 0)  # the pipeline is not to blame


def test_what_thinc_and_cuda_say_of_it(monkeypatch):
    let_there_be(monkeypatch, cupy=True)
    # With CuPy alone thinc would begin, and fail in the middle.
    monkeypatch.setattr("thinc.api.require_gpu", lambda gpu_id: True)
    with pytest.raises(SpanftError, match="PyTorch is built without CUDA"):
        gpu.select_gpu(0)
    let_there_be(monkeypatch, "12.8", cupy=True)
    gpu.select_gpu(0)

    def fail(gpu_id):
        raise RuntimeError("cudaErrorInvalidDevice: invalid device ordinal")

    monkeypatch.setattr("thinc.api.require_gpu", fail)
    with pytest.raises(SpanftError, match=r"GPU 7 .*: cudaErrorInvalidDevice: invalid"):
        gpu.select_gpu(7)
    gpu.select_gpu(-1)
