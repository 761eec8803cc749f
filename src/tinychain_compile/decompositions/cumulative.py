"""Running totals through a triangle: as many copies of the axis as it has elements."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import CumProd, CumSum, Iota
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def cumsum(op: CumSum, x: Tensor) -> Tensor:
    """The sum over all elements, those behind each place 0."""
    return _triangle(op, x, 0).sum(op.axis)


def cumprod(op: CumProd, x: Tensor) -> Tensor:
    """The product over all elements, those behind each place 1."""
    return xp.prod(_triangle(op, x, 1), axis=op.axis)


def _triangle(op: CumSum | CumProd, x: Tensor, neutral: int) -> Tensor:
    """Return x[p.., j, 1, q..] at the place i of a new axis after j, if j counts there."""
    axis, size = op.axis, x.shape[op.axis]
    wide = x.expand_dims(axis + 1)
    shape = tuple(size if i in (axis, axis + 1) else 1 for i in range(wide.ndim))
    place, total = (x.emit_literal(Iota(shape, i)) for i in (axis, axis + 1))
    counts = total <= place if op.reverse else place <= total
    return xp.where(counts, wide, neutral)


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {CumSum: cumsum, CumProd: cumprod}
