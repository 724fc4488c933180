"""The GPUs that were asked for."""

import sys
from importlib.util import find_spec
from textwrap import shorten

from ..errors import SpanftError

CPU = -1


def read_gpus(text: str) -> list[int]:
    """Read the numbers of GPUs: "0,1"; "0,0" to share one; "-1" for the CPU."""
    try:
        gpu_ids = [int(number) for number in text.split(",")]
    except ValueError:
        gpu_ids = []
    if gpu_ids == [CPU] or (gpu_ids and min(gpu_ids) >= 0):
        return gpu_ids
    raise SpanftError(
        f"--gpu-id is {text!r}, but must be a number, several (0,1), or -1 for the CPU."
    )


def select_gpu(gpu_id: int) -> None:
    """Compute on a GPU from now on, or raise with what is missing; -1 is the CPU."""
    from thinc.api import require_cpu, require_gpu

    if gpu_id == CPU:
        require_cpu()
        return
    import torch

    cuda = torch.version.cuda or torch.version.hip
    is_right = bool(cuda) or sys.platform == "darwin"
    has_cupy, cause = find_spec("cupy") is not None, None
    try:
        require_gpu(gpu_id)
        if is_right:  # thinc asks for CuPy alone, and fails in the middle of a training
            return
    except (ValueError, RuntimeError) as error:  # the latter is CUDA's
        cause = error
    if not is_right:
        also = "" if has_cupy else ", and CuPy for the same CUDA"
        reason = f"PyTorch is built without CUDA. Install one with CUDA{also}."
    elif cuda and not has_cupy:
        package = f"cupy-cuda{cuda.partition('.')[0]}x"
        reason = f"PyTorch uses CUDA {cuda}, so install CuPy for it: {package}."
    else:
        reason = f"{shorten(str(cause), 200).rstrip('.')}."
    raise SpanftError(
        f"GPU {gpu_id} cannot be used: {reason} For the CPU, leave out --gpu-id (in "
        "the project, --vars.gpu_id)."
    ) from cause
