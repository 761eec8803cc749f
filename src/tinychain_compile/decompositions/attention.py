"""Attention in terms of two products and a softmax."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Attention, AttentionWeights, Iota, MatMul
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def attention(op: Attention, q: Tensor, k: Tensor, v: Tensor, *mask: Tensor) -> Tensor:
    """The mean of values, each by its weight."""
    return q.emit(AttentionWeights(op.scale, op.is_causal), k, *mask).emit(MatMul(), v)


def attention_weights(
    op: AttentionWeights, q: Tensor, k: Tensor, mask: Tensor | None = None
) -> Tensor:
    """``softmax(q @ k.T * scale)``, keys that a query does not see at minus infinity."""
    scores = q.emit(MatMul(False, True), k) * op.scale
    seen = mask
    if op.is_causal:
        plane = scores.shape[-2:]
        query, key = (q.emit_literal(Iota(plane, axis)) for axis in (0, 1))
        past = key <= query
        seen = past if seen is None else seen & past
    if seen is not None:
        scores = xp.where(seen, scores, -float("inf"))
    largest = scores.max(-1, keepdims=True)
    if mask is not None:
        largest = xp.where(largest == -float("inf"), 0.0, largest)
    powers = xp.exp(scores - largest)
    total = powers.sum(-1, keepdims=True)
    if mask is not None:
        total = xp.where(total == 0.0, 1.0, total)
    return powers / total


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {
    Attention: attention,
    AttentionWeights: attention_weights,
}
