"""The cost of a pipeline: weights and memory."""

import sys
from pathlib import Path
from typing import Any

from spacy.language import Language

from ..util._compat import torch_module

_MEGA = 1_000_000


def n_parameters(nlp: Language) -> int:
    """Count the weights of a pipeline, those of its transformer included."""
    total = 0
    for _, component in nlp.pipeline:
        model: Any = getattr(component, "model", None)
        for node in model.walk() if hasattr(model, "walk") else ():
            names = [name for name in node.param_names if node.has_param(name)]
            total += sum(node.get_param(name).size for name in names)
            total += sum(
                w.numel() for s in node.shims for w in torch_module(s).parameters()
            )
    return total


def peak_memory(gpu_id: int) -> float | None:
    """Measure the most memory that this process ever had.

    On a GPU thinc lets CuPy allocate through PyTorch once a transformer is loaded; what
    CuPy allocated before is in its own pool, which only grows.

    gpu_id (int): The GPU whose memory counts; -1 for the memory of the process.
    RETURNS (Optional[float]): MB; None where the system does not report it.
    """
    if gpu_id >= 0:
        import cupy
        import torch

        pool = cupy.get_default_memory_pool().total_bytes()
        return float((torch.cuda.max_memory_allocated(gpu_id) + pool) / _MEGA)
    try:
        import resource
    except ImportError:  # Windows
        return None
    status = Path("/proc/self/status")
    if status.exists():  # on Linux, what getrusage says begins with the parent's peak
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(fields["VmHWM"].split()[0]) * 1024 / _MEGA
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak / _MEGA if sys.platform == "darwin" else peak * 1024 / _MEGA)
