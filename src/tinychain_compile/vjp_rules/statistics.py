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
    return (repeated(g * 2.0 / _divisor(op, x), x, op.axes) * _centred(op, x),)


def std(op: Std, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g * (x - mean) / (y * (count - correction))``, 0 where y is 0."""
    is_zero = y == 0.0
    share = xp.where(is_zero, 0.0, g / xp.where(is_zero, 1.0, y))
    return (repeated(share / _divisor(op, x), x, op.axes) * _centred(op, x),)


def _centred(op: Var | Std, x: Tensor) -> Tensor:
    return x - x.mean(op.axes, keepdims=True)


def _divisor(op: Var | Std, x: Tensor) -> Tensor:
    count = element_count(x, op.axes)
    return count - op.correction if op.correction else count


RULES: dict[type[Operator], VJPRule] = {Var: var, Std: std}

KINKS: dict[type[Operator], tuple[Kink, ...]] = {
    Std: (Kink("std of equal numbers", "0", "JAX gives NaN, PyTorch 0"),),
}
