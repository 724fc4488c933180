"""A step of thinc's Adam for all weights of an encoder at once, on a CPU.

thinc goes over each weight several times, on one core; PyTorch's fused kernel goes over
it once, on all. The moments stay in thinc's optimizer, so that the two can take turns.
"""

from collections import defaultdict
from collections.abc import Iterable, MutableMapping
from typing import Any

import numpy as np
import torch
from thinc.api import Optimizer
from torch.optim.adamw import adamw

from .grouped_adam import GroupedAdam
from .groups import Key

Named = Iterable[tuple[str, torch.nn.Parameter]]


def can_fuse(optimizer: Any, module: torch.nn.Module) -> bool:
    """Whether `fused_step` can do a step of an optimizer.

    It can for an Adam of thinc's without averages, with weight decay in place of L2 in
    the gradients, if all weights are plain ones on a CPU.
    """
    if type(optimizer) not in (Optimizer, GroupedAdam):
        return False
    is_adam = not optimizer.use_radam and optimizer.b1 > 0 and optimizer.b2 > 0
    decays = optimizer.L2_is_weight_decay or not optimizer.L2
    return bool(is_adam and decays and optimizer.averages is None) and all(
        p.device.type == "cpu" and p.dtype == torch.float32 and p.is_contiguous()
        for p in module.parameters()
    )


def fused_step(optimizer: Optimizer, owner: int, named: Named) -> None:
    """Update weights that have a gradient.

    optimizer (Optimizer): An optimizer that `can_fuse`.
    owner (int): The id of the shim that holds the weights.
    named (Iterable[tuple[str, Parameter]]): The weights.
    """
    alike: dict[tuple[float, float, int], list[tuple[Key, Any]]] = defaultdict(list)
    for name, parameter in named:
        if parameter.grad is None or not parameter.numel():
            continue
        key = (owner, name)
        optimizer.nr_update[key] += 1
        rate, decay = optimizer.learn_rate, optimizer.L2
        if isinstance(optimizer, GroupedAdam):
            rate, decay = optimizer.rate_and_decay(key)
        alike[rate, decay, optimizer.nr_update[key]].append((key, parameter))
        if optimizer.grad_clip:
            _clip(parameter.grad, optimizer.grad_clip)
    for (rate, decay, n_steps), group in alike.items():
        # thinc's decay comes after the step, and is of what the step has changed.
        left = (1 - rate * decay) or 1e-9  # which divides below
        adamw(
            [parameter.data for _, parameter in group],
            [parameter.grad.contiguous() for _, parameter in group],
            [_moment(optimizer.mom1, *item) for item in group],
            [_moment(optimizer.mom2, *item) for item in group],
            [],
            [torch.tensor(float(n_steps - 1)) for _ in group],
            fused=True,
            amsgrad=False,
            maximize=False,
            beta1=optimizer.b1,
            beta2=optimizer.b2,
            lr=rate * left,
            weight_decay=decay / left,
            # thinc adds it to the root before that is corrected, PyTorch after.
            eps=optimizer.eps / (1 - optimizer.b2**n_steps) ** 0.5,
        )


def _clip(gradient: torch.Tensor, most: float) -> None:
    norm = float(gradient.norm())
    if norm >= most:
        gradient.mul_(most / norm)


def _moment(moments: MutableMapping[Key, Any], key: Key, like: Any) -> torch.Tensor:
    """Return a moment as thinc has it, in the shape of its weight."""
    if key not in moments:
        moments[key] = np.zeros(like.numel(), np.float32)
    return torch.from_numpy(moments[key]).view_as(like)
