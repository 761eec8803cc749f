"""Fusion hooks for tests."""

from __future__ import annotations

from typing import Any

from tinychain_compile import FusionContext, FusionResult
from tinychain_compile.operators import Mul, Sub


class MultiplySubtract:
    """Takes ``a - b * c`` where the product stands directly before the subtraction."""

    lookahead = 2

    def fuse(self, context: FusionContext) -> FusionResult | None:
        if len(context.candidates) < 2:
            return None
        product, difference = context.candidates
        if type(product.operator) is not Mul or type(difference.operator) is not Sub:
            return None
        minuend, subtrahend = difference.input_value_ids
        if subtrahend != product.output_value_id:
            return None
        a, b, c = (context.value_of(i) for i in (minuend, *product.input_value_ids))
        return FusionResult(f"{a} - {b} * {c}", (product.node_id, difference.node_id))


class ClaimAll:
    """Takes the whole window."""

    lookahead = 100

    def fuse(self, context: FusionContext) -> FusionResult:
        return FusionResult("all", tuple(c.node_id for c in context.candidates))


class _Hook:
    def __init__(self, answer: Any, lookahead: Any) -> None:
        self.answer, self.lookahead = answer, lookahead

    def fuse(self, context: FusionContext) -> Any:
        return self.answer(context) if callable(self.answer) else self.answer


def hook_returning(answer: Any, lookahead: Any = 4) -> Any:
    """Return a hook that gives this answer, or what this function of the context gives."""
    return _Hook(answer, lookahead)
