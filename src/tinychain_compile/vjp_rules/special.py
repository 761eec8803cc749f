"""Derivatives of functions of statistics."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Erf
from tinychain_compile.protocols import Guard, VJPRule
from tinychain_compile.tensor import Tensor
from tinychain_compile.vjp_rules.statements import always


def erf(op: Erf, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g * 2 / sqrt(pi) * exp(-x ** 2)``."""
    return (g * (xp.exp(-(x * x)) * 1.1283791670955126),)


RULES: dict[type[Operator], VJPRule] = {Erf: erf}

GUARDS: dict[type[Operator], Guard] = {Erf: always}
