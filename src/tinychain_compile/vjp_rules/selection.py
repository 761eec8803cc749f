"""Derivatives of choice by a condition."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Where
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor


def where(
    op: Where, g: Tensor, y: Tensor, condition: Tensor, a: Tensor, b: Tensor
) -> tuple[None, Tensor, Tensor]:
    zero = g.full(0.0)
    return None, xp.where(condition, g, zero), xp.where(condition, zero, g)


RULES: dict[type[Operator], VJPRule] = {Where: where}
