"""Derivatives of comparisons (there are none) and of choice by comparison."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.namespace import where
from tinychain_compile.operators import Clip, Equal, Less, LessEqual, Maximum, Minimum
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor
from tinychain_compile.vjp_rules.statements import Kink


def maximum(op: Maximum, g: Tensor, y: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """``g`` to the larger, nothing to the other; half to each on a tie."""
    return _chosen(g, b < a, a < b)


def minimum(op: Minimum, g: Tensor, y: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """``g`` to the smaller, nothing to the other; half to each on a tie."""
    return _chosen(g, a < b, b < a)


def _chosen(g: Tensor, a_wins: Tensor, b_wins: Tensor) -> tuple[Tensor, Tensor]:
    half = g * 0.5
    zero = g.full(0.0)
    return where(a_wins, g, where(b_wins, zero, half)), where(b_wins, g, where(a_wins, zero, half))


def clip(
    op: Clip, g: Tensor, y: Tensor, x: Tensor, low: Tensor, high: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """``g`` to x from bound to bound, bounds included; outside, to the bound that holds."""
    zero = g.full(0.0)
    is_high, is_low, is_crossed = high < x, x < low, high < low
    to_x = where(is_high, zero, where(is_low, zero, g))
    to_low = where(is_low, where(is_crossed, zero, g), zero)
    to_high = where(is_high, g, where(is_crossed, g, zero))
    return to_x, to_low, to_high


RULES: dict[type[Operator], VJPRule] = {Maximum: maximum, Minimum: minimum, Clip: clip}

WITHOUT_DERIVATIVE: dict[type[Operator], str] = dict.fromkeys(
    (Less, LessEqual, Equal), "a comparison is constant wherever it is smooth"
)

KINKS: dict[type[Operator], tuple[Kink, ...]] = {
    Maximum: (Kink("maximum(x, 0) at 0", "one half", "JAX and PyTorch alike"),),
    Minimum: (Kink("minimum of equal numbers", "half to each", "JAX and PyTorch alike"),),
    Clip: (Kink("clip on its bounds", "1: the bounds are included", "JAX one half, PyTorch 1"),),
}
