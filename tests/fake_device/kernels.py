"""thinc's kernels in NumPy, as particular about what they are given as CUDA is."""

import re

import numpy as np

from .device import lent, ndarray, wrapped

_TYPES = {"float": np.float32, "double": np.float64, "int": np.int32}


class RawModule:
    """Kernels of C++, each known by its name and type: "reduce_sum<float>"."""

    def __init__(self, code, options=(), name_expressions=()):
        self._code = code

    def get_function(self, name):
        base, kind = re.fullmatch(r"(\w+)<(.+)>", name).groups()
        pattern = rf"template <typename (\w+)>\s*__global__ void {base}\(([^)]*)\)"
        template, signature = re.search(pattern, self._code).groups()
        types = {**_TYPES, template: _TYPES[kind]}
        parameters = [
            part.replace("const ", "").split() for part in signature.split(",")
        ]

        def launch(grid, block, args):
            pairs = zip(args, parameters, strict=True)
            _KERNELS[base](*(_argument(name, *pair, types) for pair in pairs))

        return launch


def _argument(kernel, arg, words, types):
    """Take an argument as a kernel would: memory is read as it lies, whatever it is."""
    is_pointer = "*" in "".join(words)
    if isinstance(arg, ndarray) != is_pointer:
        raise TypeError(f"{kernel}: {type(arg)} for {' '.join(words)}")
    if not is_pointer:
        return arg
    if arg.dtype != types[words[0].rstrip("*")]:
        raise TypeError(f"{kernel}: {arg.dtype} for {' '.join(words)}")
    if not arg.flags.c_contiguous:
        raise TypeError(f"{kernel}: the memory of {words[-1]} is not contiguous")
    return lent(arg)


def _parts(lengths):
    ends = np.cumsum(lengths)
    return list(zip(ends - lengths, ends, strict=True))


def _reduce_sum(output, X, lengths, B, T, width):
    for i, (a, b) in enumerate(_parts(lengths)):
        output[i] += X[a:b].sum(axis=0)


def _reduce_max(maxes, which, X, lengths, B, T, width):
    for i, (a, b) in enumerate(_parts(lengths)):
        which[i] = X[a:b].argmax(axis=0)
        maxes[i] = X[a:b].max(axis=0)


def _backprop_reduce_mean(dX, d_mean, lengths, B, T, width):
    full = np.maximum(lengths, 1)[:, None].astype(dX.dtype)
    dX[...] = np.repeat(d_mean / full, lengths, axis=0)


def _backprop_reduce_max(dX, d_maxes, which, lengths, B, T, width):
    starts = np.cumsum(lengths) - lengths
    dX[which + starts[:, None], np.arange(width)] = d_maxes


def _maxout(best, which, cands, B, width, P):
    which[...] = cands.argmax(axis=-1)
    best[...] = cands.max(axis=-1)


def _backprop_maxout(dX, dY, which, B, width, P):
    np.put_along_axis(dX, which[..., None], dY[..., None], axis=-1)


# Those that some pipeline of ours needs.
_KERNELS = {
    "reduce_sum": _reduce_sum,
    "reduce_max": _reduce_max,
    "backprop_reduce_mean": _backprop_reduce_mean,
    "backprop_reduce_max": _backprop_reduce_max,
    "maxout": _maxout,
    "backprop_maxout": _backprop_maxout,
}


class ElementwiseKernel:
    """The step of Adam, the only one that thinc has."""

    def __init__(self, inputs, outputs, operation, name):
        assert name == "adam"

    def __call__(self, *args):
        gradient, rate, slow1, slow2, eps, weights, mom1, mom2 = map(lent, args)
        assert {a.dtype for a in (gradient, mom1, mom2)} == {weights.dtype}
        mom1 += slow1 * (gradient - mom1)
        mom2 += slow2 * (gradient * gradient - mom2)
        weights -= rate * mom1 / (np.sqrt(mom2) + eps)


class ReductionKernel:
    """Whether all numbers are in a range, the only one that thinc has."""

    def __init__(self, inputs, outputs, *expressions):
        assert expressions[-1] == "within_range"

    def __call__(self, x, lower, upper):
        return wrapped(np.all((lent(x) >= lower) & (lent(x) < upper)))
