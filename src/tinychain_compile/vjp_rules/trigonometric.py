"""Derivatives of trigonometric functions."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Atan2, Cos, Sin
from tinychain_compile.protocols import Guard, VJPRule
from tinychain_compile.tensor import Tensor
from tinychain_compile.vjp_rules.statements import Kink, always


def sin(op: Sin, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g * cos(x)``."""
    return (g * xp.cos(x),)


def cos(op: Cos, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``-g * sin(x)``."""
    return (-(g * xp.sin(x)),)


def atan2(op: Atan2, g: Tensor, angle: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """``g * x / (x ** 2 + y ** 2)``; ``-g * y / (x ** 2 + y ** 2)``, without overflow."""
    larger = xp.maximum(xp.abs(x), xp.abs(y))
    a, b = x / larger, y / larger
    share = g / (larger * (a * a + b * b))
    return share * a, -(share * b)


RULES: dict[type[Operator], VJPRule] = {Sin: sin, Cos: cos, Atan2: atan2}

GUARDS: dict[type[Operator], Guard] = dict.fromkeys(RULES, always)

KINKS: dict[type[Operator], tuple[Kink, ...]] = {
    Atan2: (Kink("where(mask, atan2(y, x), 0) at (0, 0)", "0", "JAX and PyTorch give NaN"),),
}
