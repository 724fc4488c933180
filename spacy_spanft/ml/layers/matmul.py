"""Matrix products that share their threads with the encoder."""

from typing import Any

import numpy as np


def matmul(left: Any, right: Any) -> Any:
    """Multiply two matrices.

    On the CPU PyTorch does it, on NumPy's own memory: it has threads at work for the
    transformer already, and those of NumPy's BLAS would stand in their way. On two
    cores that makes a training step over six layers a tenth shorter.

    left (Floats2d): (n, k).
    right (Floats2d): (k, m).
    RETURNS (Floats2d): (n, m).
    """
    if not isinstance(left, np.ndarray):
        return left @ right
    import torch

    with torch.no_grad():
        return torch.matmul(_share(left), _share(right)).numpy()


def _share(array: Any) -> Any:
    import torch

    # PyTorch knows neither read-only memory nor steps backward.
    return torch.from_numpy(np.require(array, requirements="W"))
