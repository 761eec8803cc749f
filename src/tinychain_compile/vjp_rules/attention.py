"""The derivative of attention. Weights are made again from queries and keys, not kept."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Attention, Iota, MatMul
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor


def attention(
    op: Attention,
    g: Tensor,
    y: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
) -> tuple[Tensor | None, ...]:
    """Back through the product with values, the softmax, and the product of queries and keys."""
    weights = _weights(op, q, k, mask)
    to_v = weights.emit(MatMul(True, False), g)
    inner = weights * g.emit(MatMul(False, True), v)
    to_scores = (inner - weights * inner.sum(-1, keepdims=True)) * op.scale
    cotangents = (to_scores.matmul(k), to_scores.emit(MatMul(True, False), q), to_v)
    return cotangents if mask is None else (*cotangents, None)


def _weights(op: Attention, q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
    """Return how much of each value each query takes; nothing at all if it sees no key."""
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


RULES: dict[type[Operator], VJPRule] = {Attention: attention}
