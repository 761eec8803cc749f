"""Reductions in terms of sums and largest elements."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.errors import ShapeMismatchError
from tinychain_compile.ir.dimensions import size_of
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Mean, Norm, ReduceMin, ReduceProd
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def mean(op: Mean, x: Tensor) -> Tensor:
    """``sum / count``; short dtypes are summed in f32."""
    wide = x.widened()
    count = wide.size_literal(size_of(x.shape[axis] for axis in op.axes))
    return (wide.sum(op.axes, op.keepdims) / count).astype(x.dtype)


def reduce_min(op: ReduceMin, x: Tensor) -> Tensor:
    """``-max(-x)``; for integers the complement, which never overflows, in the place of minus."""
    if x.type.is_floating:
        return -(-x).max(op.axes, op.keepdims)
    most = 2 ** (8 * x.dtype.itemsize) - 1 if x.dtype.kind == "u" else -1
    complement = x.full(most) - x
    largest = complement.max(op.axes, op.keepdims)
    return largest.full(most) - largest


def reduce_prod(op: ReduceProd, x: Tensor) -> Tensor:
    """Halves multiplied by each other until one element is left: log2(n) products."""
    kept = tuple(1 if axis in op.axes else size for axis, size in enumerate(x.shape))
    rest = [axis for axis in range(x.ndim) if axis not in op.axes]
    rows = x.transpose([*rest, *op.axes])
    size = size_of(x.shape[axis] for axis in op.axes)
    if not isinstance(size, int):
        raise ShapeMismatchError(
            "decomposition of reduce_prod", expected="axes of known size", got=str(x.type)
        )
    rows = rows.reshape((*(x.shape[axis] for axis in rest), size))
    last = rows.ndim - 1
    if size == 0:
        rows = x.literal(1, x.dtype).broadcast_to((*rows.shape[:-1], 1))
        size = 1
    while size > 1:
        if size % 2:
            rows = rows.pad((0,) * rows.ndim, (*(0,) * last, 1), value=1)
            size += 1
        size //= 2
        rows = rows.slice_axis(last, 0, size) * rows.slice_axis(last, size, 2 * size)
    product = rows.reshape(rows.shape[:-1])
    return product.reshape(kept) if op.keepdims else product


def norm(op: Norm, x: Tensor) -> Tensor:
    """``sqrt(sum(x * x))``."""
    wide = x.widened()
    return xp.sqrt((wide * wide).sum(op.axes, op.keepdims)).astype(x.dtype)


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {
    Mean: mean,
    ReduceMin: reduce_min,
    ReduceProd: reduce_prod,
    Norm: norm,
}
