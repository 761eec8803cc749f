"""The derivative of attention. Weights are made again from queries and keys, not kept."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Attention, AttentionWeights, MatMul, SoftmaxGradient
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor


def attention(
    op: Attention, g: Tensor, y: Tensor, q: Tensor, k: Tensor, v: Tensor, *mask: Tensor
) -> tuple[Tensor | None, ...]:
    """Back through the product with values, then as for the weights."""
    inner = AttentionWeights(op.scale, op.is_causal)
    weights = q.emit(inner, k, *mask)
    to_v = weights.emit(MatMul(True, False), g)
    to_q, to_k, *nothing = attention_weights(
        inner, g.emit(MatMul(False, True), v), weights, q, k, *mask
    )
    return (to_q, to_k, to_v, *nothing)


def attention_weights(
    op: AttentionWeights, g: Tensor, y: Tensor, q: Tensor, k: Tensor, *mask: Tensor
) -> tuple[Tensor | None, ...]:
    """Back through the softmax and the product of queries and keys."""
    to_scores = g.emit(SoftmaxGradient(y.ndim - 1), y) * op.scale
    nothing = (None,) * len(mask)
    return (to_scores.matmul(k), to_scores.emit(MatMul(True, False), q), *nothing)


RULES: dict[type[Operator], VJPRule] = {
    Attention: attention,
    AttentionWeights: attention_weights,
}
