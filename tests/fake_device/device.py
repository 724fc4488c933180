"""The array of the fake device, which refuses to be NumPy's, and its transfers."""

import sys
import warnings
from collections import Counter
from contextlib import contextmanager
from operator import attrgetter
from types import SimpleNamespace

import numpy as np

UPLOAD, WAIT = "upload", "wait"  # as the host does for each download
# Whose transfers are not ours, though we may have called them.
_OTHERS = ("/spacy_transformers/", "/thinc/optimizers", "/thinc/shims/")
_SCALARS = (bool, int, float, complex, np.generic)
# Warned of since CuPy 13.5.1.
_DLPACK = (
    "This function is deprecated and will be removed in a future release. Use the "
    "cupy.from_dlpack() array constructor instead."
)
_entries: list[tuple[str, str, str]] = []


def note(kind, why):
    """Write down a transfer, and in which module of ours it was."""
    _entries.append((kind, _owner(), why))


@contextmanager
def watched():
    """Count what is transferred in a block: by kind, module, and what needs it."""
    transfers = Counter()
    begin = len(_entries)
    yield transfers
    transfers.update(_entries[begin:])
    del _entries[begin:]


def ours(transfers):
    """Count the uploads, and the downloads and waits, that are due to our code."""
    kinds = Counter()
    for (kind, owner, _), n in transfers.items():
        kinds[kind] += n if owner else 0
    return kinds[UPLOAD], kinds[WAIT]


def _owner():
    """Name the innermost module of this package that is at work; "" for others."""
    frame = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename.replace("\\", "/")
        if any(other in file for other in _OTHERS):
            return ""
        if "/spacy_spanft/" in file:
            return file.rpartition("/spacy_spanft/")[2]
        frame = frame.f_back
    return ""


class ndarray:
    """As cupy.ndarray, as far as thinc, spaCy and this package use it."""

    __slots__ = ("__weakref__", "_memory")
    __hash__ = None

    def __init__(self, shape, dtype=float, order="C"):
        self._memory = unwritten(np.empty(shape, dtype))

    # What CuPy refuses. It lets NumPy's functions work on its arrays, but who calls one
    # has not thought of where the array is, so these are refused as well.

    def __array__(self, *args, **kwargs):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if method == "__call__" and any(isinstance(x, np.generic) for x in inputs):
            return on_device(ufunc)(*inputs, **kwargs)  # NumPy's scalar, an operator
        raise TypeError(f"np.{ufunc.__name__} of an array on the device")

    def __array_function__(self, function, types, args, kwargs):
        raise TypeError(f"np.{function.__name__} of an array on the device")

    T = property(lambda self: wrapped(self._memory.T))
    data = property(lambda self: SimpleNamespace(ptr=self._memory.ctypes.data))

    def __len__(self):
        return len(self._memory)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index):
        return wrapped(self._memory[_index(index)])

    def __setitem__(self, index, value):
        if value is None:  # which NumPy takes for NaN
            raise TypeError(f"Unsupported type {type(value)}")
        at, value = _index(index), lent(value)
        if isinstance(at, np.ndarray) and at.dtype != bool and np.ndim(value):
            # Which of the values is written depends on which thread is the last.
            assert len(np.unique(at)) == at.size, "two values for one place"
        self._memory[at] = value

    def scatter_add(self, index, value):
        np.add.at(self._memory, _index(index), lent(value))

    def set(self, array, stream=None):
        note(UPLOAD, "set")
        self._memory[...] = array

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        same = not copy and self.dtype == np.dtype(dtype)
        return self if same else wrapped(self._memory.astype(dtype))

    def toDlpack(self):
        import torch
        from torch.utils.dlpack import to_dlpack

        warnings.warn(_DLPACK, np.exceptions.VisibleDeprecationWarning, stacklevel=2)
        return to_dlpack(torch.from_numpy(self._memory))


def unwritten(memory):
    """Fill memory with what no computation gets over unseen."""
    memory.fill(np.nan if memory.dtype.kind == "f" else 2**30 % 251)
    return memory


def uploaded(value, dtype=None, why="array"):
    """Copy something of the host to the device."""
    memory = np.array(value, dtype=dtype)
    if memory.dtype == object:
        raise ValueError("Unsupported dtype object")
    note(UPLOAD, why)
    return wrapped(memory)


def wrapped(value):
    """Return what NumPy has computed as what is on the device."""
    if isinstance(value, tuple):
        return tuple(map(wrapped, value))
    array = object.__new__(ndarray)
    array._memory = np.asarray(value)
    return array


def lent(value):
    """Return the memory of arrays of the device; those of the host are refused."""
    if isinstance(value, ndarray):
        return value._memory
    if isinstance(value, list | tuple):
        return type(value)(map(lent, value))
    if hasattr(value, "__array__") and not isinstance(value, _SCALARS):
        raise TypeError(f"Unsupported type {type(value)}")
    return value


def on_device(function):
    """Make a function of NumPy's one of CuPy's."""

    def call(*args, out=None, **kwargs):
        args, kwargs = lent(args), {name: lent(kwargs[name]) for name in kwargs}
        out = out[0] if isinstance(out, tuple) else out
        if out is None:
            return wrapped(function(*args, **kwargs))
        if not isinstance(out, ndarray):
            raise TypeError("Output arguments type must be cupy.ndarray")
        function(*args, out=out._memory, **kwargs)
        return out

    return call


def _index(index):
    """Turn an index into one of NumPy's, and write down what it costs."""
    if isinstance(index, tuple):
        return tuple(map(_index, index))
    if isinstance(index, np.ndarray | list):
        # CuPy takes it, and uploads it each time.
        index = uploaded(index, int if len(index) == 0 else None, "an index")
    if not isinstance(index, ndarray):
        return index
    if index.dtype == bool:
        note(WAIT, "how many a mask keeps")
    return index._memory


_OPERATORS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "pow": np.power}
_OPERATORS |= {"truediv": np.true_divide, "floordiv": np.floor_divide}
_OPERATORS |= {"mod": np.remainder, "matmul": np.matmul}
_OPERATORS |= {"and": np.bitwise_and, "or": np.bitwise_or}
_OTHER_OPERATORS = {"lt": np.less, "le": np.less_equal, "gt": np.greater}
_OTHER_OPERATORS |= {"ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal}
_OTHER_OPERATORS |= {"neg": np.negative, "abs": np.abs, "invert": np.invert}
_METHODS = "sum mean var max min all any argmax cumsum dot ravel squeeze repeat reshape"
_METHODS += " transpose copy flatten fill"
# thinc's Ragged is cut at numbers of the device.
_TO_HOST = {"get": np.copy, "item": np.ndarray.item, "tolist": np.ndarray.tolist}
_TO_HOST |= {"__bool__": bool, "__int__": int, "__index__": int, "__float__": float}


def _define(name, call):
    setattr(ndarray, f"__{name}__", lambda *args: call(*args))
    if name in _OPERATORS:
        setattr(ndarray, f"__r{name}__", lambda a, b: call(b, a))
        setattr(ndarray, f"__i{name}__", lambda a, b: call(a, b, out=a))


def _download(name, convert):
    def method(self, **ignored):
        note(WAIT, name)
        return convert(self._memory)

    setattr(ndarray, name, method)


for _name in ("shape", "dtype", "ndim", "size", "flags"):
    setattr(ndarray, _name, property(attrgetter(f"_memory.{_name}")))
for _name, _function in {**_OPERATORS, **_OTHER_OPERATORS}.items():
    _define(_name, on_device(_function))
for _name in _METHODS.split():
    setattr(ndarray, _name, on_device(getattr(np.ndarray, _name)))
for _name, _convert in _TO_HOST.items():
    _download(_name, _convert)
