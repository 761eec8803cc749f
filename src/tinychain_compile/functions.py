"""What NumPy lacks: arrays in, arrays out; traced tensors in, one named operator out.

So a loss that uses these still runs under plain NumPy.
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

import numpy as np

from tinychain_compile import namespace as xp
from tinychain_compile.ir.axes import normalize_axis
from tinychain_compile.operators import LogSoftmax, Relu, StopGradient
from tinychain_compile.tensor import Tensor

__all__ = ["log_softmax", "relu", "stop_gradient", "take"]

ArrayLike = TypeVar("ArrayLike")
"""A traced tensor or a NumPy array; the result is of the same kind."""


def relu(x: ArrayLike) -> ArrayLike:
    """Return ``max(x, 0)``; its derivative at 0 is 0.

    Shapes:
        ``F[s] -> F[s]``
    """
    if isinstance(x, Tensor):
        return x.as_floating().emit(Relu())
    return cast(ArrayLike, np.maximum(cast(Any, x), 0))


def log_softmax(x: ArrayLike, axis: int = -1) -> ArrayLike:
    """Return ``x - log(sum(exp(x)))`` over one axis, without overflow.

    Args:
        x: Scores.
        axis: The axis that sums to one after ``exp``.

    Shapes:
        ``F[s] -> F[s]``
    """
    if isinstance(x, Tensor):
        return x.as_floating().emit(LogSoftmax(normalize_axis(axis, x.type)))
    array = np.asarray(x)
    shifted = array - np.max(array, axis=axis, keepdims=True)
    return cast(ArrayLike, shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True)))


def stop_gradient(x: ArrayLike) -> ArrayLike:
    """Return ``x``, through which no derivative passes.

    Shapes:
        ``T[s] -> T[s]``
    """
    return x.emit(StopGradient()) if isinstance(x, Tensor) else x


def take(x: Any, indices: Any, axis: int = 0) -> Any:
    """Return slices of ``x`` at integer indices along one axis; negative ones count from the end.

    NumPy's own ``np.take`` does not ask its indices how to take, so it cannot read an array at
    traced indices; this can.

    Shapes:
        ``T[p.., d, q..], I[s..] -> T[p.., s.., q..]``
    """
    if isinstance(x, Tensor) or isinstance(indices, Tensor):
        return xp.take(x, indices, axis=axis)
    return np.take(x, indices, axis=axis)
