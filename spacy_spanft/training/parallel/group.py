"""The processes that train together, which `torchrun` starts."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import torch
from torch import distributed

from ...errors import Errors, SpanftError
from ...util.gpu import CPU

# The first one scores the dev data, for which the others wait.
_LONGEST = timedelta(days=7)
# What torchrun tells each process, or whatever else starts them.
_NEEDED = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
# How many seconds others wait for the first one to say what is wrong.
_PATIENCE = 20
# So many numbers go from process to process at once.
_MOST_NUMBERS = 2**24


class Group:
    """All processes of a training, one of which this is.

    rank (int): Which one this is; 0 is the one that scores and saves.
    size (int): How many there are.
    """

    def __init__(self, gpu_id: int = CPU) -> None:
        """Meet the others.

        gpu_id (int): The GPU of this process; -1 for the CPU.
        """
        if not set(_NEEDED) <= set(os.environ):
            raise SpanftError(Errors.NO_TORCHRUN)
        is_cpu = gpu_id == CPU
        self._device = torch.device("cpu" if is_cpu else f"cuda:{gpu_id}")
        distributed.init_process_group("gloo" if is_cpu else "nccl", timeout=_LONGEST)
        self.rank, self.size = distributed.get_rank(), distributed.get_world_size()

    def close(self) -> None:
        """Part."""
        distributed.destroy_process_group()

    def sum(self, tensors: Sequence[torch.Tensor]) -> None:
        """Put the sum over all processes in the place of tensors.

        tensors (Sequence[Tensor]): As many, and of the same shapes, in each process.
        """
        for some in _buckets(tensors):
            flat = torch.cat([one.reshape(-1) for one in some]).to(self._device)
            distributed.all_reduce(flat)
            parts = flat.split([one.numel() for one in some])
            for one, part in zip(some, parts, strict=True):
                one.copy_(part.view_as(one))

    def copy_first(self, tensors: Sequence[torch.Tensor]) -> None:
        """Put those of the first process in the place of tensors.

        tensors (Sequence[Tensor]): As many, and of the same shapes, in each process.
        """
        for one in tensors:
            found = one.detach().to(self._device, copy=True).contiguous()
            distributed.broadcast(found, 0)
            one.detach().copy_(found)

    def any(self, flags: Sequence[bool]) -> list[bool]:
        """Find out what is true in one process at least.

        flags (Sequence[bool]): What is true in this one.
        RETURNS (list[bool]): What is in any.
        """
        if not flags:
            return []
        found = torch.tensor([int(flag) for flag in flags], device=self._device)
        distributed.all_reduce(found, distributed.ReduceOp.MAX)
        return [bool(flag) for flag in found.tolist()]

    def share(self, value: Any = None) -> Any:
        """Give all processes what the first one has.

        value (Any): What it has, which JSON can hold; of no interest in the others.
        RETURNS (Any): The same in all.
        """
        text = json.dumps(value, default=float).encode() if self.rank == 0 else b""
        size = torch.tensor([len(text)], device=self._device)
        distributed.broadcast(size, 0)
        data = torch.zeros(int(size), dtype=torch.uint8, device=self._device)
        if self.rank == 0:
            data.copy_(torch.frombuffer(bytearray(text), dtype=torch.uint8))
        distributed.broadcast(data, 0)
        return json.loads(bytes(data.cpu().numpy()))


@contextmanager
def said_once() -> Iterator[None]:
    """Let one process of a machine say what all of them find wrong.

    torchrun stops all processes as soon as one has failed. So the first one may fail at
    once, and the others wait to be stopped, which they say nothing about: those that
    are not have found something that it has not, and say so.
    """
    try:
        yield
    except (SpanftError, SystemExit):
        if local_rank():
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
            time.sleep(_PATIENCE)
        raise


def local_rank() -> int:
    """Say which process of its machine this is.

    RETURNS (int): Which, from 0 on.
    """
    return int(os.environ.get("LOCAL_RANK", "0"))


def _buckets(tensors: Sequence[torch.Tensor]) -> list[list[torch.Tensor]]:
    found: list[list[torch.Tensor]] = []
    room = 0
    for one in tensors:
        if one.numel() > room:
            found.append([])
            room = max(_MOST_NUMBERS, one.numel())
        found[-1].append(one)
        room -= one.numel()
    return found
