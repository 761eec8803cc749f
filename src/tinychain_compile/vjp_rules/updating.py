"""Derivatives of what updates are made of."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import AdamDirection, Axpy, Lerp
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor


def axpy(
    op: Axpy, g: Tensor, z: Tensor, alpha: Tensor, x: Tensor, y: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """``sum(g * x)``, ``g * alpha`` and ``g``; the first two negative where the product is."""
    pulled = -g if op.is_negative else g
    return (pulled * x).sum(), pulled * alpha, g


def lerp(
    op: Lerp, g: Tensor, z: Tensor, decay: Tensor, old: Tensor, new: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """``sum(g * (old - new))``, ``g * decay`` and ``g * (1 - decay)``."""
    return (g * (old - new)).sum(), g * decay, g * (1.0 - decay)


RULES: dict[type[Operator], VJPRule] = {
    Axpy: axpy,
    Lerp: lerp,
}

WITHOUT_DERIVATIVE: dict[type[Operator], str] = {
    AdamDirection: "it stands in updates only, and no loss contains an update",
}
