"""Ragged sequences and matrix products, without waiting for a GPU or for threads."""

from collections.abc import Callable
from typing import Any

import numpy as np
from thinc.api import Model, NumpyOps
from thinc.types import Floats2d, Ints1d, Ragged

from ..alignment import Ints

# Rows to rows, and sequences to a row each; what they return, with the callback.
Layer = Model[Floats2d, Floats2d]
Pooling = Model[Ragged, Floats2d]
Applied = tuple[Floats2d, Callable[[Floats2d], Floats2d]]
Pooled = tuple[Floats2d, Callable[[Floats2d], Ragged]]


class Sequences(Ragged):
    """A Ragged that has its lengths on the host as well.

    They come from there. Asking a GPU for them would wait for all of its work so far.
    """

    on_host: Ints

    def __init__(self, data: Any, lengths: Ints1d, on_host: Ints) -> None:
        """Make sequences; on the CPU, both lengths may be the same array."""
        super().__init__(data, lengths)
        self.on_host = on_host

    def with_rows(self, data: Any) -> "Sequences":
        """Return sequences of the same lengths with other rows."""
        return Sequences(data, self.lengths, self.on_host)


def known(ops: Any, X: Ragged) -> Sequences:
    """Return sequences with their lengths on the host, copied there if need be."""
    if isinstance(X, Sequences):
        return X
    return Sequences(X.dataXd, X.lengths, ops.to_numpy(X.lengths))


def upload(ops: Any, *parts: Any) -> list[Any]:
    """Copy arrays of integers to the device of the model, in one trip, as int32."""
    if len(parts) == 1 or ops.xp is np:
        return list(map(ops.asarray1i, parts))
    whole = ops.asarray1i(np.concatenate(parts))
    ends = np.cumsum([len(part) for part in parts])
    return [whole[b - len(a) : b] for a, b in zip(parts, ends.tolist(), strict=True)]


def matmul(left: Any, right: Any) -> Any:
    """Multiply two matrices, (n, k) and (k, m).

    On the CPU, PyTorch does it on NumPy's own memory: the threads of NumPy's BLAS would
    compete with those of the encoder. It saves a tenth of a training step.
    """
    if not isinstance(left, np.ndarray):
        return left @ right
    import torch

    # PyTorch takes no read-only memory.
    first = torch.from_numpy(np.require(left, requirements="W"))
    second = torch.from_numpy(np.require(right, requirements="W"))
    with torch.no_grad():
        return torch.matmul(first, second).numpy()


class TorchOps(NumpyOps):
    """NumpyOps whose matrix products are those of PyTorch.

    thinc's take three times as long on some CPUs, and a step of `spancat` twice.
    """

    def gemm(
        self,
        x: Any,
        y: Any,
        out: Any = None,
        trans1: bool = False,
        trans2: bool = False,
    ) -> Any:
        """Multiply two matrices, either of which may be transposed first."""
        x, y = self.as_contig(x), self.as_contig(y)  # no negative strides
        product = matmul(x.T if trans1 else x, y.T if trans2 else y)
        if out is None:
            return product
        out[:] = product
        return out


def with_nonempty(pooling: Pooling) -> Pooling:
    """Wrap a pooling so that it never sees an empty sequence, which becomes zeros."""
    return Model(
        f"with_nonempty({pooling.name})",
        forward_nonempty,
        init=init_nonempty,
        layers=[pooling],
        dims={"nO": None, "nI": None},
    )


def forward_nonempty(model: Pooling, X: Ragged, is_train: bool) -> Pooled:
    """Apply the pooling to what is not empty."""
    pooling: Pooling = model.layers[0]
    sequences = known(model.ops, X)
    rows: Any = sequences.dataXd
    sizes = sequences.on_host
    is_full = sizes > 0
    if not is_full.any():
        width = pooling.maybe_get_dim("nO") or rows.shape[1]
        nothing = model.ops.alloc2f(len(sizes), width, dtype=rows.dtype)
        return nothing, lambda dY: sequences
    if is_full.all():
        return pooling(sequences, is_train)  # type: ignore[return-value]
    # Numbers, not a mask, whose number of rows a GPU would have to count each time.
    full, lengths = upload(model.ops, np.flatnonzero(is_full), sizes[is_full])
    filled = Sequences(rows, lengths, sizes[is_full])
    pooled, backprop_pooling = pooling(filled, is_train)
    Y = model.ops.alloc2f(len(sizes), pooled.shape[1], dtype=pooled.dtype)
    Y[full] = pooled

    def backprop(dY: Floats2d) -> Ragged:
        return sequences.with_rows(backprop_pooling(dY[full]).dataXd)

    return Y, backprop


def init_nonempty(model: Pooling, X: Ragged | None = None, Y: Any = None) -> None:
    """Initialize the pooling."""
    if X is not None:
        X = Ragged(X.dataXd, X.lengths[X.lengths > 0])
    model.layers[0].initialize(X=X, Y=Y)
