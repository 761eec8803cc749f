"""Derivatives of comparisons (there are none) and of choice by comparison."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.namespace import where
from tinychain_compile.operators import Less, Maximum
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor


def maximum(op: Maximum, g: Tensor, y: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """The whole cotangent to the larger; half to each on a tie."""
    half = g * 0.5
    zero = g.full(0.0)
    a_wins, b_wins = b < a, a < b
    return where(a_wins, g, where(b_wins, zero, half)), where(b_wins, g, where(a_wins, zero, half))


RULES: dict[type[Operator], VJPRule] = {Maximum: maximum}

WITHOUT_DERIVATIVE: dict[type[Operator], str] = {
    Less: "a comparison is constant wherever it is smooth"
}
