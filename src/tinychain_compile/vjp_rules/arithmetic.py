"""Derivatives of elementwise arithmetic."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Abs, Add, Div, IntegerPow, Mul, Neg, Pow, Sign, Sub
from tinychain_compile.protocols import Guard, VJPRule
from tinychain_compile.tensor import Tensor
from tinychain_compile.vjp_rules.statements import (
    Kink,
    always,
    by_the_divisor,
    by_the_other,
)


def neg(op: Neg, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``-g``."""
    return (-g,)


def add(op: Add, g: Tensor, y: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """``g``; ``g``."""
    return g, g


def sub(op: Sub, g: Tensor, y: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """``g``; ``-g``."""
    return g, -g


def mul(op: Mul, g: Tensor, y: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """``g * b``; ``g * a``."""
    return g * b, g * a


def div(op: Div, g: Tensor, y: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """``g / b``; ``-(g / b) * y``."""
    quotient = g / b
    return quotient, -(quotient * y)


def integer_pow(op: IntegerPow, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g * n * x ** (n - 1)``; 0 for n = 0."""
    n = op.exponent
    if n == 0:
        return (g.full(0.0),)
    return (g if n == 1 else g * (x ** (n - 1) * n),)


def abs(op: Abs, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g`` above 0, ``-g`` below, 0 at 0."""
    zero = g.full(0.0)
    return (xp.where(zero < x, g, xp.where(x < zero, -g, zero)),)


def pow(op: Pow, g: Tensor, y: Tensor, base: Tensor, exponent: Tensor) -> tuple[Tensor, Tensor]:
    """``g * exponent * base ** (exponent - 1)``, 0 for exponent 0; ``g * y * log(base)``."""
    slope = exponent * base ** (exponent - 1.0)
    to_base = g * xp.where(exponent == 0.0, 0.0, slope)
    is_zero = base == 0.0
    to_exponent = g * xp.where(is_zero, 0.0, y * xp.log(xp.where(is_zero, 1.0, base)))
    return to_base, to_exponent


RULES: dict[type[Operator], VJPRule] = {
    Neg: neg,
    Add: add,
    Sub: sub,
    Mul: mul,
    Div: div,
    IntegerPow: integer_pow,
    Abs: abs,
    Pow: pow,
}

WITHOUT_DERIVATIVE: dict[type[Operator], str] = {Sign: "it is constant wherever it is smooth"}

GUARDS: dict[type[Operator], Guard] = {
    Mul: by_the_other,
    Div: by_the_divisor,
    IntegerPow: always,
    Pow: always,
}

KINKS: dict[type[Operator], tuple[Kink, ...]] = {
    Abs: (Kink("abs at 0", "0", "JAX 1, PyTorch 0"),),
    Pow: (
        Kink("x ** 0 at 0, by x", "0", "JAX and PyTorch 0"),
        Kink("0 ** y, by y", "0", "JAX 0, PyTorch 0"),
    ),
    Div: (
        Kink("1 / (1 + exp(-x)) at -800", "0", "JAX and PyTorch give NaN"),
        Kink("where(x != 0, a / x, 0) at x = 0", "0", "JAX and PyTorch give NaN"),
    ),
}
