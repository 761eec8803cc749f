"""Reading and adding at indices through a one-hot selector. It costs the axis's size per index."""

from __future__ import annotations

from tinychain_compile.ir.dimensions import Dimension
from tinychain_compile.ir.dtypes import BOOL, I32, I64
from tinychain_compile.ir.operator import Operator
from tinychain_compile.namespace import where
from tinychain_compile.operators import Gather, Iota, OneHot, ScatterAdd
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def gather(op: Gather, x: Tensor, indices: Tensor) -> Tensor:
    """``along``: x[p.., d, 1, q..] at i[p.., 1, e, q..], summed over d.

    Else x[p.., d, 1.., q..] at i[1.., 1, s.., 1..], summed over d.
    """
    axis = op.axis
    if x.dtype == BOOL:
        return gather(op, x.astype(I32), indices).astype(BOOL)
    if op.along:
        values, index = x.expand_dims(axis + 1), indices.expand_dims(axis)
    else:
        values = x.expand_dims(tuple(range(axis + 1, axis + 1 + indices.ndim)))
        index = _aligned(indices, axis, x.ndim)
    return _selected(op, values, index, x.shape[axis]).sum(axis)


def scatter_add(op: ScatterAdd, updates: Tensor, indices: Tensor) -> Tensor:
    """``along``: u[p.., 1, e, q..] at i[p.., 1, e, q..], summed over e.

    Else u[p.., 1, s.., q..] at i[1.., 1, s.., 1..], summed over s.
    """
    axis = op.axis
    values = updates.expand_dims(axis)
    if op.along:
        index = indices.expand_dims(axis)
        return _selected(op, values, index, op.size).sum(axis + 1)
    index = _aligned(indices, axis, updates.ndim - indices.ndim + 1)
    summed = tuple(range(axis + 1, axis + 1 + indices.ndim))
    return _selected(op, values, index, op.size).sum(summed)


def _aligned(indices: Tensor, axis: int, rank: int) -> Tensor:
    """Return i[s..] as i[1.., 1, s.., 1..] against a tensor of this rank, indexed on this axis."""
    return indices.reshape((1,) * (axis + 1) + indices.shape + (1,) * (rank - axis - 1))


def _selected(op: Gather | ScatterAdd, values: Tensor, index: Tensor, size: Dimension) -> Tensor:
    """Return the values where their index, counted from 0, is the position on the axis, else 0."""
    if index.dtype.kind == "u":
        index = index.astype(I64)
    index = where(index < 0, index + index.size_literal(size), index)
    shape = tuple(size if axis == op.axis else 1 for axis in range(index.ndim))
    position = index.emit_literal(Iota(shape, op.axis, index.dtype))
    return where(index < position, 0, where(position < index, 0, values))


def one_hot(op: OneHot, indices: Tensor) -> Tensor:
    """1 where the index is the position, else 0."""
    index = indices.expand_dims(indices.ndim)
    if index.dtype.kind == "u":
        index = index.astype(I64)
    shape = (*(1 for _ in indices.shape), op.depth)
    position = index.emit_literal(Iota(shape, indices.ndim, index.dtype))
    one = index.literal(1, op.dtype)
    return where(index < position, 0, where(position < index, 0, one))


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {
    Gather: gather,
    ScatterAdd: scatter_add,
    OneHot: one_hot,
}
