"""How much memory a step needs, and how much there is: said before training begins."""

import os
import sys
import warnings
from pathlib import Path
from typing import Any

from ..errors import Errors, PretrainingError, Warnings
from ..util._compat import attention_of
from .settings import Settings

_GB = 1e9
# A weight, its gradient, and the two moments of Adam, in 32 bits each.
_PER_WEIGHT = 4 * 4
# Of each token each layer keeps so many vectors of the encoder's width for the backward
# pass: those of attention, of the four times wider feed-forward layer, of the norms.
_VECTORS = 17
# Scores of a vocabulary: themselves, their softmax and its gradient.
_SCORES = 3
# More than this much of what there is, and the training would be killed.
_HOPELESS = 1.5
_CGROUP = Path("/sys/fs/cgroup/memory.max")


def check_memory(
    config: Any, n_weights: int, length: int, settings: Settings, device: str
) -> None:
    """Say how much memory training needs, and raise if there is clearly less.

    Without this, the machine kills it in the first step, and the log just stops.

    config (PretrainedConfig): The shape of the encoder.
    n_weights (int): How many weights it and its heads have.
    length (int): How many tokens the longest sequence has.
    device (str): Where it is trained: "cpu", "cuda", ...
    """
    there = memory_of(device)
    needed = memory_needed(config, n_weights, length, settings, device)
    place = {
        "needed": needed / _GB,
        "length": length,
        "batch_size": settings.batch_size,
    }
    if there is None:
        print(f"ℹ {Warnings.MEMORY.format(**place)}.", file=sys.stderr)
        return
    place["there"] = there / _GB
    if needed > _HOPELESS * there:
        raise PretrainingError(Errors.TOO_LITTLE_MEMORY.format(**place))
    if needed > there:
        warnings.warn(Warnings.LITTLE_MEMORY.format(**place), stacklevel=2)
        return
    text = Warnings.MEMORY.format(**place)
    print(f"ℹ {text} of {place['there']:.1f} GB.", file=sys.stderr)


def memory_needed(
    config: Any, n_weights: int, length: int, settings: Settings, device: str
) -> float:
    """Estimate how many bytes training takes at its peak.

    config (PretrainedConfig): The shape of the encoder.
    n_weights (int): How many weights it and its heads have.
    length (int): How many tokens the longest sequence has.
    device (str): Where it is trained.
    RETURNS (float): The bytes, within a third or so.
    """
    size = 4 if settings.precision == "fp32" else 2
    n_tokens = settings.batch_size * length
    width = getattr(config, "hidden_size", 0)
    n_layers = getattr(config, "num_hidden_layers", 0)
    kept = n_tokens * n_layers * width * _VECTORS * size
    is_eager = attention_of(config) == "eager"
    if is_eager or device == "cpu":  # where PyTorch has no other that knows dropout
        n_heads = getattr(config, "num_attention_heads", 0)
        # Scores before and after the softmax, and what dropout left of them.
        kept += 3 * n_tokens * n_layers * n_heads * length * size
    n_scored = settings.share * n_tokens * (2 if settings.sbo else 1)
    scores = n_scored * config.vocab_size * _SCORES * 4
    return float(n_weights * _PER_WEIGHT + kept + scores)


def memory_of(device: str) -> int | None:
    """Find out how much memory a device has.

    device (str): "cpu", "cuda", ...
    RETURNS (Optional[int]): The bytes; None if nobody knows.
    """
    if device == "cuda":
        import torch

        return int(torch.cuda.mem_get_info()[1])
    if device != "cpu":
        return None
    try:
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return None
    return min(found, _limit_of_container() or found)


def _limit_of_container() -> int | None:
    try:
        return int(_CGROUP.read_text("utf8"))
    except (OSError, ValueError):  # there is none, or it says "max"
        return None
