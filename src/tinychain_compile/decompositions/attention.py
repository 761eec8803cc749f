"""Attention in terms of two products and a softmax."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.namespace.attention import attention_weights
from tinychain_compile.operators import Attention, MatMul
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def attention(op: Attention, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """``softmax(q @ k.T * scale) @ v``, keys that a query does not see at minus infinity."""
    return attention_weights(op, q, k, mask).emit(MatMul(), v)


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {Attention: attention}
