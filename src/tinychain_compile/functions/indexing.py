"""Reading at integer positions, and writing positions as vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinychain_compile import namespace as xp
from tinychain_compile.operators import OneHot
from tinychain_compile.tensor import Tensor


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


def one_hot(indices: Any, depth: int, dtype: Any = np.float64) -> Any:
    """Return 1 at the position that an integer gives along a new last axis, else 0.

    Shapes:
        ``I[s] -> dtype[s, depth]``
    """
    if isinstance(indices, Tensor):
        return indices.emit(OneHot(depth, dtype))
    return (np.asarray(indices)[..., None] == np.arange(depth)).astype(dtype)


def top_k(x: Any, k: int, axis: int = -1) -> tuple[Any, Any]:
    """Return the k largest along an axis, largest first, and their positions.

    Shapes:
        ``T[p.., d, q..] -> T[p.., k, q..], i64[p.., k, q..]``
    """
    if isinstance(x, Tensor):
        return xp.top_k(x, k, axis=axis)
    positions = np.take(descending_order(np.asarray(x), axis), np.arange(k), axis=axis)
    return np.take_along_axis(x, positions, axis=axis), positions


def descending_order(x: Any, axis: int) -> Any:
    """Return the positions that put an axis in descending order, equal elements as they stood."""
    backwards = np.flip(x, axis=axis)
    order = np.argsort(backwards, axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(order, axis=axis)
