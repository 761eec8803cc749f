"""Derivatives of spread."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Std, Var
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor
from tinychain_compile.vjp_rules.repeating import element_count, repeated
from tinychain_compile.vjp_rules.statements import Kink


def var(op: Var, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g * 2 * (x - mean) / (count - correction)``."""
    return (_spread(op, g.widened() * 2.0, x),)


def std(op: Std, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g * (x - mean) / (y * (count - correction))``, 0 where y is 0."""
    is_zero = y == 0.0
    share = xp.where(is_zero, 0.0, g / xp.where(is_zero, 1.0, y))
    return (_spread(op, share.widened(), x),)


def _spread(op: Var | Std, share: Tensor, x: Tensor) -> Tensor:
    """Return what the distance of each element from the mean is multiplied by, times it."""
    wide = x.widened()
    count = element_count(wide, x, op.axes)
    divisor = count - op.correction if op.correction else count
    centred = wide - wide.mean(op.axes, keepdims=True)
    return (repeated(share / divisor, x, op.axes) * centred).astype(x.dtype)


RULES: dict[type[Operator], VJPRule] = {Var: var, Std: std}

KINKS: dict[type[Operator], tuple[Kink, ...]] = {
    Std: (Kink("std of equal numbers", "0", "JAX gives NaN, PyTorch 0"),),
}
