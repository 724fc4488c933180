"""The array of the fake device: memory of NumPy that refuses to be NumPy's."""

import warnings

import numpy as np

from .ledger import DOWNLOAD, UPLOAD, note

_SCALARS = (bool, int, float, complex, np.generic)
# Warned of since CuPy 13.5.1.
_DLPACK = (
    "This function is deprecated and will be removed in a future release. Use the "
    "cupy.from_dlpack() array constructor instead."
)


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

    def __repr__(self):
        return f"on the device: {self._memory!r}"

    # From the host

    def set(self, array, stream=None):
        note(UPLOAD, "set")
        self._memory[...] = array

    # What it is

    shape = property(lambda self: self._memory.shape)
    dtype = property(lambda self: self._memory.dtype)
    ndim = property(lambda self: self._memory.ndim)
    size = property(lambda self: self._memory.size)
    T = property(lambda self: wrapped(self._memory.T))
    data = property(lambda self: _Pointer(self._memory))
    flags = property(lambda self: self._memory.flags)

    def __len__(self):
        return len(self._memory)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index):
        return wrapped(self._memory[_index(index)])

    def __setitem__(self, index, value):
        if value is None:  # which NumPy takes for NaN
            raise TypeError(f"Unsupported type {type(value)}")
        place, value = _index(index), lent(value)
        if isinstance(place, np.ndarray) and place.dtype != bool and np.ndim(value):
            # Which of the values is written depends on which thread is the last.
            assert len(np.unique(place)) == place.size, "two values for one place"
        self._memory[place] = value

    def scatter_add(self, index, value):
        np.add.at(self._memory, _index(index), lent(value))

    # What it can do

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        same = not copy and self.dtype == np.dtype(dtype)
        return self if same else wrapped(self._memory.astype(dtype))

    def reshape(self, *shape):
        return wrapped(self._memory.reshape(*shape))

    def transpose(self, *axes):
        return wrapped(self._memory.transpose(*axes))

    def copy(self, order="C"):
        return wrapped(self._memory.copy(order))

    def flatten(self):
        return wrapped(self._memory.flatten())

    def fill(self, value):
        self._memory.fill(lent(value))

    def nonzero(self):
        note(DOWNLOAD, "how many are not zero")
        return wrapped(self._memory.nonzero())

    def toDlpack(self):
        import torch
        from torch.utils.dlpack import to_dlpack

        warnings.warn(_DLPACK, np.exceptions.VisibleDeprecationWarning, stacklevel=2)
        return to_dlpack(torch.from_numpy(self._memory))


class _Pointer:
    def __init__(self, memory):
        self.ptr = memory.ctypes.data


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
    """Give what NumPy has computed as what is on the device."""
    if isinstance(value, tuple):
        return tuple(map(wrapped, value))
    array = object.__new__(ndarray)
    array._memory = np.asarray(value)
    return array


def lent(value):
    """Give NumPy the memory of arrays of the device; those of the host are refused."""
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
        note(DOWNLOAD, "how many a mask keeps")
    return index._memory


_OPERATORS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "pow": np.power}
_OPERATORS |= {"truediv": np.true_divide, "floordiv": np.floor_divide}
_OPERATORS |= {"mod": np.remainder, "matmul": np.matmul}
_OPERATORS |= {"and": np.bitwise_and, "or": np.bitwise_or}
_COMPARISONS = {"lt": np.less, "le": np.less_equal, "gt": np.greater}
_COMPARISONS |= {"ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal}
_METHODS = "sum mean var max min all any argmax cumsum dot ravel squeeze repeat"
# thinc's Ragged is cut at numbers of the device.
_TO_HOST = {"get": np.copy, "item": np.ndarray.item, "tolist": np.ndarray.tolist}
_TO_HOST |= {"__bool__": bool, "__int__": int, "__index__": int, "__float__": float}


def _define(name, function):
    call = on_device(function)
    setattr(ndarray, f"__{name}__", lambda a, b: call(a, b))
    if name in _OPERATORS:
        setattr(ndarray, f"__r{name}__", lambda a, b: call(b, a))
        setattr(ndarray, f"__i{name}__", lambda a, b: call(a, b, out=a))


def _download(name, convert):
    def method(self, **ignored):
        note(DOWNLOAD, name)
        return convert(self._memory)

    setattr(ndarray, name, method)


for _name, _function in {**_OPERATORS, **_COMPARISONS}.items():
    _define(_name, _function)
ndarray.__neg__, ndarray.__abs__ = on_device(np.negative), on_device(np.abs)
ndarray.__invert__ = on_device(np.invert)
for _name in _METHODS.split():
    setattr(ndarray, _name, on_device(getattr(np, _name)))
for _name, _convert in _TO_HOST.items():
    _download(_name, _convert)
