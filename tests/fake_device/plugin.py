"""The plugin of pytest that puts the fake device where CuPy would be."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np

from . import kernels
from .device import WAIT, lent, ndarray, note, on_device, unwritten, uploaded, wrapped

# What CuPy has from NumPy, and computes alike.
_SAME = """
    abs absolute add all any arange argmax argsort ascontiguousarray broadcast_to clip
    concatenate copyto cumsum divide dot einsum exp expand_dims full greater hstack
    isfinite isnan log log1p matmul max maximum mean min minimum multiply negative ones
    ones_like power prod repeat sign sqrt square squeeze stack subtract sum take tanh
    tile transpose var vstack where zeros zeros_like
"""


def install():
    assert "thinc" not in sys.modules, "too late: thinc has looked for CuPy already"
    runtime = SimpleNamespace(CUDARuntimeError=RuntimeError, getDeviceCount=lambda: 1)
    cuda = _module("cupy.cuda", runtime=runtime, Stream=_Stream, Device=_Device)
    cuda.is_available = lambda: True
    cuda.device = _module("cupy.cuda.device", Device=_Device)
    cuda.stream = _module("cupy.cuda.stream", Stream=_Stream)
    cuda.get_current_stream = lambda: _Stream.null
    cuda.MemoryPool, cuda.set_allocator = _MemoryPool, lambda allocator: None
    random = _module("cupy.random", seed=lambda seed: None)
    for name in ("uniform", "normal", "random"):  # the same numbers as on the CPU
        setattr(random, name, on_device(getattr(np.random, name)))
    cupy = _module("cupy", cuda=cuda, random=random, __version__="14.0.1")
    for name in _SAME.split():
        setattr(cupy, name, on_device(getattr(np, name)))
    for name in ("float16", "float32", "float64", "int32", "int64", "uint64", "bool_"):
        setattr(cupy, name, getattr(np, name))
    for kind in (kernels.RawModule, kernels.ElementwiseKernel, kernels.ReductionKernel):
        setattr(cupy, kind.__name__, kind)
    cupy.ndarray = ndarray
    cupy.array = _array
    cupy.asnumpy = lambda array: array.get() if isinstance(array, ndarray) else array
    cupy.asarray = lambda value, dtype=None: _array(value, dtype, copy=False)
    cupy.empty = lambda shape, dtype=float: wrapped(unwritten(np.empty(shape, dtype)))
    cupy.empty_like = lambda like, dtype=None: cupy.empty(like.shape, like.dtype)
    cupy.from_dlpack = _from_dlpack
    # Where to cut stays on the host: what there is of it decides how many arrays.
    cupy.split = lambda array, at: list(map(wrapped, np.split(lent(array), at)))
    cupy.save = lambda file, array: np.save(file, cupy.asnumpy(array))
    cupy.get_array_module = lambda *args: (
        cupy if any(isinstance(arg, ndarray) for arg in args) else np
    )
    cupy.get_default_memory_pool = _MemoryPool
    cupy.cublas = _module("cupy.cublas", nrm2=on_device(np.linalg.norm))
    _module("cupyx", scatter_add=ndarray.scatter_add)


def pytest_configure(config):
    """Let PyTorch's tensors be on the device wherever thinc computes there."""
    import thinc.util
    import torch
    from thinc.api import get_current_ops

    # What asks for it has imported it by its name already, from several modules.
    thinc.util.get_torch_default_device.__code__ = _device.__code__
    torch.Tensor.is_cuda = property(lambda tensor: get_current_ops().name == "cupy")
    torch.cuda.current_device = lambda: 0
    torch.cuda.synchronize = lambda device=None: None


def _device():
    return torch.device("cpu")  # noqa: F821  # of the module whose function it becomes


def _module(name, **members):
    module = sys.modules[name] = ModuleType(name)
    vars(module).update(members)
    return module


def _array(value, dtype=None, copy=True):
    if not isinstance(value, ndarray):
        return uploaded(value, dtype)
    if copy:
        return wrapped(np.array(lent(value), dtype))
    return value.astype(dtype or value.dtype, copy=False)


def _from_dlpack(capsule):
    from torch.utils.dlpack import from_dlpack

    return wrapped(from_dlpack(capsule).numpy())


class _MemoryPool:
    malloc = None  # this memory is NumPy's

    def __init__(self, allocator=None):
        pass

    def free_all_blocks(self):
        pass

    def total_bytes(self):
        return 0


class _Device:
    def __init__(self, number=0):
        self.id = number

    def use(self):
        pass


class _Stream:
    def __init__(self, null=False, non_blocking=False):
        pass

    def synchronize(self):
        note(WAIT, "a stream")


_Stream.null = _Stream()
install()
