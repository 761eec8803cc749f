"""The weights of attention, which its value and its derivative both are made of."""

from __future__ import annotations

from tinychain_compile.namespace.elementwise import exp, where
from tinychain_compile.operators import Attention, Iota, MatMul
from tinychain_compile.tensor import Tensor


def attention_weights(op: Attention, q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
    """Return how much of each value each query takes; nothing at all if it sees no key."""
    scores = q.emit(MatMul(False, True), k) * op.scale
    seen = mask
    if op.is_causal:
        plane = scores.shape[-2:]
        query, key = (q.emit_literal(Iota(plane, axis)) for axis in (0, 1))
        past = key <= query
        seen = past if seen is None else seen & past
    if seen is not None:
        scores = where(seen, scores, -float("inf"))
    largest = scores.max(-1, keepdims=True)
    if mask is not None:
        largest = where(largest == -float("inf"), 0.0, largest)
    powers = exp(scores - largest)
    total = powers.sum(-1, keepdims=True)
    if mask is not None:
        total = where(total == 0.0, 1.0, total)
    return powers / total
