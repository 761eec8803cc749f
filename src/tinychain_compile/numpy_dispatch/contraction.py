"""NumPy's products summed over shared axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tinychain_compile import namespace as xp
from tinychain_compile.numpy_dispatch.arguments import refuse_arguments
from tinychain_compile.tensor import Tensor


def _dot(a: Any, b: Any, out: None = None) -> Tensor:
    refuse_arguments("np.dot", {"out": out})
    left = xp.first_tensor(a, b).lift(a)
    right = left.lift(b)
    if not left.ndim or not right.ndim:
        return left * right
    if right.ndim > 2:
        return xp.tensordot(left, right, axes=((-1,), (-2,)))
    return left.matmul(right)


def _einsum(*operands: Any, out: None = None, optimize: object = False, **others: Any) -> Tensor:
    refuse_arguments("np.einsum", {"out": out, **others})
    return xp.einsum(*operands)


def _tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    return xp.tensordot(a, b, axes=axes)


def _outer(a: Any, b: Any, out: None = None) -> Tensor:
    refuse_arguments("np.outer", {"out": out})
    return xp.outer(a, b)


def _cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Tensor:
    if not axisa == axisb == axisc == -1:
        refuse_arguments("np.cross", {"axisa": axisa, "axisb": axisb, "axisc": axisc})
    return xp.cross(a, b, axis=-1 if axis is None else axis)


def _vdot(a: Any, b: Any, /) -> Tensor:
    context = xp.first_tensor(a, b)
    return xp.inner(context.lift(a).ravel(), context.lift(b).ravel())


FUNCTIONS: Mapping[Callable[..., Any], Callable[..., Any]] = {
    np.linalg.matmul: xp.matmul,
    np.linalg.outer: xp.outer,
    np.linalg.tensordot: xp.tensordot,
    np.linalg.vecdot: xp.vecdot,
    np.linalg.cross: xp.cross,
    np.dot: _dot,
    np.vdot: _vdot,
    np.inner: xp.inner,
    np.outer: _outer,
    np.tensordot: _tensordot,
    np.einsum: _einsum,
    np.kron: xp.kron,
    np.cross: _cross,
}
