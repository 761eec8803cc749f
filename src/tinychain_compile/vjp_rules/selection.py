"""Derivatives of choice by a condition."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Annihilate, MulNoNan, Where
from tinychain_compile.protocols import Guard, VJPRule
from tinychain_compile.tensor import Tensor
from tinychain_compile.vjp_rules.statements import Kink, by_the_other


def where(
    op: Where, g: Tensor, y: Tensor, condition: Tensor, a: Tensor, b: Tensor
) -> tuple[None, Tensor, Tensor]:
    """``where(c, g, 0)``; ``where(c, 0, g)``."""
    zero = g.full(0.0)
    return None, xp.where(condition, g, zero), xp.where(condition, zero, g)


def annihilate(
    op: Annihilate, g: Tensor, y: Tensor, factor: Tensor, product: Tensor
) -> tuple[None, Tensor]:
    """``g`` to the product, which it is wherever that is a number."""
    return None, g


def mul_no_nan(
    op: MulNoNan, g: Tensor, y: Tensor, factor: Tensor, x: Tensor
) -> tuple[Tensor, Tensor]:
    """``g * x``; ``g * factor``, as of the product."""
    return g * x, g * factor


RULES: dict[type[Operator], VJPRule] = {
    Where: where,
    Annihilate: annihilate,
    MulNoNan: mul_no_nan,
}

GUARDS: dict[type[Operator], Guard] = {MulNoNan: by_the_other}

KINKS: dict[type[Operator], tuple[Kink, ...]] = {
    Where: (
        Kink(
            "a branch that is not chosen is singular: where(x < 1, x, sqrt(x)) at 0",
            "the true finite derivative, 1",
            "JAX and PyTorch give NaN",
        ),
    ),
}
