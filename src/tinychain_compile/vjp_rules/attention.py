"""The derivative of attention. Weights are made again from queries and keys, not kept."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.namespace.attention import attention_weights
from tinychain_compile.operators import Attention, MatMul
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
    weights = attention_weights(op, q, k, mask)
    to_v = weights.emit(MatMul(True, False), g)
    inner = weights * g.emit(MatMul(False, True), v)
    to_scores = (inner - weights * inner.sum(-1, keepdims=True)) * op.scale
    cotangents = (to_scores.matmul(k), to_scores.emit(MatMul(True, False), q), to_v)
    return cotangents if mask is None else (*cotangents, None)


RULES: dict[type[Operator], VJPRule] = {Attention: attention}
