"""The GPU that was asked for: what it lacks is named."""

from importlib.util import find_spec

import pytest
import torch

from spacy_spanft.errors import SpanftError
from spacy_spanft.util import gpu
from spacy_spanft.util.pipelines import load

if find_spec("cupy"):
    pytest.skip("for machines without CuPy", allow_module_level=True)


def fail(gpu_id):
    raise RuntimeError("cudaErrorInvalidDevice: invalid device ordinal")


@pytest.mark.parametrize(
    ("cuda", "cupy", "thinc", "expected"),
    [
        ("12.8", False, fail, r"CUDA 12\.8, so install CuPy for it: cupy-cuda12x"),
        # With CuPy alone thinc would begin, and fail in the middle.
        (None, True, lambda gpu_id: True, "PyTorch is built without CUDA"),
        ("12.8", True, fail, "cudaErrorInvalidDevice: invalid"),
        ("12.8", True, lambda gpu_id: True, None),
    ],
)
def test_what_is_missing_is_named(monkeypatch, cuda, cupy, thinc, expected):
    monkeypatch.setattr(gpu.sys, "platform", "linux")
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.version, "hip", None, raising=False)
    monkeypatch.setattr(gpu, "find_spec", lambda name: cupy or None)
    monkeypatch.setattr("thinc.api.require_gpu", thinc)
    if expected is None:
        gpu.select_gpu(0)
        return
    with pytest.raises(SpanftError, match=f"^GPU 0 cannot be used: .*{expected}"):
        load("nonsense", 0)  # the pipeline is not to blame
