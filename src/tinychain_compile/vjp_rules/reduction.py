"""Derivatives of reductions: the cotangent is repeated over the axes that were reduced."""

from __future__ import annotations

from collections.abc import Callable

from tinychain_compile import namespace as xp
from tinychain_compile.ir.dimensions import size_of
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import (
    Annihilate,
    CumProd,
    Mean,
    Norm,
    ReduceMax,
    ReduceMin,
    ReduceProd,
    ReduceSum,
)
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor
from tinychain_compile.vjp_rules.repeating import element_count, repeated
from tinychain_compile.vjp_rules.statements import Kink


def reduce_sum(op: ReduceSum, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g``, repeated."""
    return (repeated(g, x, op.axes),)


def mean(op: Mean, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g / count``, repeated."""
    wide = g.widened()
    share = (wide / element_count(wide, x, op.axes)).astype(x.dtype)
    return (repeated(share, x, op.axes),)


def reduce_max(op: ReduceMax, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g``, shared equally among the largest."""
    return (_shared(op, g, x, lambda largest: x < largest, y),)


def reduce_min(op: ReduceMin, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g``, shared equally among the smallest."""
    return (_shared(op, g, x, lambda smallest: smallest < x, y),)


def _shared(
    op: ReduceMax | ReduceMin, g: Tensor, x: Tensor, loses: Callable[[Tensor], Tensor], y: Tensor
) -> Tensor:
    """Return the cotangent shared among ties: an element is a tie unless it loses."""
    zero = x.full(0.0)
    ties = xp.where(loses(repeated(y, x, op.axes)), zero, x.full(1.0))
    share = g / ties.sum(op.axes, op.keepdims)
    return xp.where(zero < ties, repeated(share, x, op.axes), zero)


def reduce_prod(op: ReduceProd, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g`` times the product of all others: those before times those after. No division."""
    rest = [axis for axis in range(x.ndim) if axis not in op.axes]
    order = [*rest, *op.axes]
    rows = x.transpose(order)
    shape = rows.shape
    flat = rows.reshape((*shape[: len(rest)], size_of(shape[len(rest) :])))
    last = flat.ndim - 1
    one_before = tuple(1 if axis == last else 0 for axis in range(flat.ndim))
    one_less = tuple(-1 if axis == last else 0 for axis in range(flat.ndim))
    before = flat.emit(CumProd(last)).pad(one_before, one_less, value=1)
    after = flat.emit(CumProd(last, True)).pad(one_less, one_before, value=1)
    others = (before * after).reshape(shape)
    inverse = sorted(range(x.ndim), key=order.__getitem__)
    return (repeated(g, x, op.axes) * others.transpose(inverse),)


def norm(op: Norm, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g * x / y``, 0 where y is 0."""
    is_zero = y == 0.0
    share = xp.where(is_zero, 0.0, g / xp.where(is_zero, 1.0, y))
    spread = repeated(share, x, op.axes)
    return (spread.emit(Annihilate(), spread * x),)


RULES: dict[type[Operator], VJPRule] = {
    ReduceSum: reduce_sum,
    Mean: mean,
    ReduceMax: reduce_max,
    ReduceMin: reduce_min,
    ReduceProd: reduce_prod,
    Norm: norm,
}

KINKS: dict[type[Operator], tuple[Kink, ...]] = {
    ReduceMax: (Kink("max over ties", "shared equally", "JAX alike, PyTorch over all axes alike"),),
    ReduceProd: (
        Kink("prod with zeros", "exact: the product of the others", "one known library is wrong"),
    ),
    Norm: (Kink("np.linalg.norm at the zero vector", "0", "JAX gives NaN, PyTorch 0"),),
}
