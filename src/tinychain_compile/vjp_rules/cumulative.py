"""Derivatives of running totals."""

from __future__ import annotations

from tinychain_compile.errors import ShapeMismatchError
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import CumProd, CumSum
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor


def cumsum(op: CumSum, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """The sum of ``g`` from the other end."""
    return (g.emit(CumSum(op.axis, not op.reverse)),)


def cumprod(op: CumProd, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """Back through a product by doubling distances, which divides by nothing.

    After the step of distance d each element is the product of the last 2 d: log2(n) steps.
    """
    axis = op.axis
    size = x.shape[axis]
    if not isinstance(size, int):
        raise ShapeMismatchError(
            "derivative of cumprod", expected="an axis of known size", got=str(x.type)
        )
    forwards = -1 if op.reverse else 1
    levels: list[tuple[int, Tensor]] = []
    level, distance = x, 1
    while distance < size:
        levels.append((distance, level))
        level = level * _shifted(level, axis, forwards * distance, 1)
        distance *= 2
    for distance, level in reversed(levels):
        by = forwards * distance
        to_other = _shifted(g * level, axis, -by, 0)
        g = g * _shifted(level, axis, by, 1) + to_other
    return (g,)


def _shifted(x: Tensor, axis: int, by: int, value: int) -> Tensor:
    """Return each element moved on by some places; those that enter are the value."""
    low = tuple(by if i == axis else 0 for i in range(x.ndim))
    high = tuple(-by if i == axis else 0 for i in range(x.ndim))
    return x.pad(low, high, value=value)


RULES: dict[type[Operator], VJPRule] = {CumSum: cumsum, CumProd: cumprod}
