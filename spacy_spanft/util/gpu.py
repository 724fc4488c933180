"""The GPU that was asked for, or what it lacks."""

import sys
from importlib.util import find_spec
from textwrap import shorten

from ..errors import Errors, SpanftError, check_setting

CPU = -1
_LONGEST = 200


def select_gpu(gpu_id: int) -> None:
    """Compute on a GPU from now on, or say why that is not possible.

    gpu_id (int): The GPU; -1 for the CPU, which needs nothing.
    """
    if gpu_id == CPU:
        return
    expected = f"the number of a GPU, or {CPU} for the CPU"
    check_setting("--gpu-id", gpu_id, gpu_id > CPU, expected)
    from thinc.api import require_gpu

    try:
        require_gpu(gpu_id)
    except (ValueError, RuntimeError) as error:  # the latter is CUDA's
        raise SpanftError(why_not(gpu_id, str(error))) from error
    # thinc asks for CuPy alone, and fails in the middle of a training.
    if sys.platform != "darwin" and cuda_of_torch() is None:
        raise SpanftError(why_not(gpu_id, ""))


def why_not(gpu_id: int, reason: str) -> str:
    """Say what a GPU lacks, and what to install.

    reason (str): What thinc or CUDA says of it.
    RETURNS (str): A message.
    """
    cuda, has_cupy = cuda_of_torch(), find_spec("cupy") is not None
    if sys.platform == "darwin" or (cuda and has_cupy):
        found = f"{shorten(reason, _LONGEST).rstrip('.')}."
    elif cuda:
        package = f"cupy-cuda{cuda.partition('.')[0]}x"
        found = Errors.NO_CUPY.format(cuda=cuda, package=package)
    else:
        found = Errors.NO_CUDA if has_cupy else Errors.NO_CUPY_NO_CUDA
    return Errors.NO_GPU.format(gpu_id=gpu_id, reason=found)


def cuda_of_torch() -> str | None:
    """Find out for which CUDA, or ROCm, PyTorch was built.

    RETURNS (Optional[str]): The version; None for a build that knows the CPU only.
    """
    import torch

    found: str | None = torch.version.cuda or torch.version.hip
    return found
