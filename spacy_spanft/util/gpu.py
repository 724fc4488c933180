"""The GPU that was asked for."""

import sys
from importlib.util import find_spec
from textwrap import shorten

from ..errors import SpanftError

CPU = -1


def select_gpu(gpu_id: int) -> None:
    """Compute on a GPU from now on, or raise with what is missing; -1 is the CPU."""
    from thinc.api import require_cpu, require_gpu

    if gpu_id == CPU:
        require_cpu()
        return
    try:
        require_gpu(gpu_id)
    except (ValueError, RuntimeError) as error:  # the latter is CUDA's
        raise SpanftError(why_not(gpu_id, str(error))) from error
    # thinc asks for CuPy alone, and fails in the middle of a training.
    if sys.platform != "darwin" and cuda_of_torch() is None:
        raise SpanftError(why_not(gpu_id, ""))


def why_not(gpu_id: int, reason: str) -> str:
    """Return why a GPU cannot be used, and what to install, from what thinc raised."""
    cuda, has_cupy = cuda_of_torch(), find_spec("cupy") is not None
    if sys.platform == "darwin" or (cuda and has_cupy):
        reason = f"{shorten(reason, 200).rstrip('.')}."
    elif cuda:
        package = f"cupy-cuda{cuda.partition('.')[0]}x"
        reason = f"PyTorch uses CUDA {cuda}, so install CuPy for it: {package}."
    else:
        also = "" if has_cupy else ", and CuPy for the same CUDA"
        reason = f"PyTorch is built without CUDA. Install one with CUDA{also}."
    return (
        f"GPU {gpu_id} cannot be used: {reason} For the CPU, leave out --gpu-id (in "
        "the project, --vars.gpu_id)."
    )


def cuda_of_torch() -> str | None:
    """Return the version of CUDA, or ROCm, that PyTorch was built for, if any."""
    import torch

    version: str | None = torch.version.cuda or torch.version.hip
    return version
