"""Derivatives of elementwise arithmetic."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Add, Div, IntegerPow, Mul, Neg, Sub
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor


def neg(op: Neg, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    return (-g,)


def add(op: Add, g: Tensor, y: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    return g, g


def sub(op: Sub, g: Tensor, y: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    return g, -g


def mul(op: Mul, g: Tensor, y: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    return g * b, g * a


def div(op: Div, g: Tensor, y: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    quotient = g / b
    return quotient, -(quotient * y)


def integer_pow(op: IntegerPow, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor | None]:
    n = op.exponent
    if n == 0:
        return (g.full(0.0),)
    return (g if n == 1 else g * (x ** (n - 1) * n),)


RULES: dict[type[Operator], VJPRule] = {
    Neg: neg,
    Add: add,
    Sub: sub,
    Mul: mul,
    Div: div,
    IntegerPow: integer_pow,
}
