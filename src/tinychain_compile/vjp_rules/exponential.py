"""Derivatives of exponentials, roots and hyperbolic functions."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Exp, Log, Sqrt, Tanh
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor


def exp(op: Exp, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    return (g * y,)


def log(op: Log, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    return (g / x,)


def sqrt(op: Sqrt, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    return (g * 0.5 / y,)


def tanh(op: Tanh, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    return (g * (1.0 - y * y),)


RULES: dict[type[Operator], VJPRule] = {Exp: exp, Log: log, Sqrt: sqrt, Tanh: tanh}
