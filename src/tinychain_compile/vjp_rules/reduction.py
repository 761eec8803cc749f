"""Derivatives of reductions: the cotangent is repeated over the axes that were reduced."""

from __future__ import annotations

from tinychain_compile.ir.dimensions import size_of
from tinychain_compile.ir.operator import Operator
from tinychain_compile.namespace import where
from tinychain_compile.operators import Mean, ReduceMax, ReduceSum
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor


def reduce_sum(op: ReduceSum, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    return (_repeated(g, x, op.axes),)


def mean(op: Mean, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    count = size_of(x.shape[axis] for axis in op.axes)
    return (_repeated(g / g.size_literal(count), x, op.axes),)


def reduce_max(op: ReduceMax, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """Shared equally among ties: an element is a tie if it is not less than the largest."""
    zero = x.full(0.0)
    ties = where(x < _repeated(y, x, op.axes), zero, x.full(1.0))
    share = g / ties.sum(op.axes, op.keepdims)
    return (where(zero < ties, _repeated(share, x, op.axes), zero),)


def _repeated(reduced: Tensor, x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return what a reduction gave, repeated to the shape of its operand.

    Leading axes that are gone need no axis of size 1 in their place: broadcasting adds them.
    """
    if axes == tuple(range(len(axes))) and reduced.ndim == x.ndim - len(axes):
        return reduced.broadcast_to(x.shape)
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
    return reduced.reshape(kept).broadcast_to(x.shape)


RULES: dict[type[Operator], VJPRule] = {ReduceSum: reduce_sum, Mean: mean, ReduceMax: reduce_max}
