"""Attention: a mean of values, weighted by how well queries and keys agree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinychain_compile.errors import ShapeMismatchError
from tinychain_compile.functions.arrays import floating_array, tensors_of_one_dtype
from tinychain_compile.ir.dtypes import Array
from tinychain_compile.operators import Attention, AttentionWeights


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    mask: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> Any:
    """Return ``softmax(q @ k.T * scale) @ v``, where mask and causality allow it.

    Args:
        q: Queries.
        k: Keys.
        v: Values, one for each key.
        mask: Which keys each query sees; broadcasts. A query that sees none gets zeros.
        is_causal: Whether query i sees keys 0 to i alone.
        scale: What agreement is multiplied by; by default ``1 / sqrt(d)``.

    Shapes:
        ``F[b.., t, d], F[b.., s, d], F[b.., s, e] -> F[b.., t, e]``, the mask ``bool[b.., t, s]``

    Source:
        Vaswani et al., Attention Is All You Need, 2017.
    """
    operator = Attention(_default_scale(q) if scale is None else scale, is_causal)
    tensors = tensors_of_one_dtype(q, k, v)
    if not tensors:
        arrays = [floating_array(x) for x in (q, k, v)]
        return attention_of_arrays(arrays[0], arrays[1], arrays[2], mask, operator=operator)
    queries, keys, values = tensors
    if mask is None:
        return queries.emit(operator, keys, values)
    seen = queries.lift(mask).broadcast_to((*queries.shape[:-1], keys.shape[-2]))
    return queries.emit(operator, keys, values, seen)


def _default_scale(q: Any) -> float:
    width: object = np.shape(q)[-1]
    if not isinstance(width, int):
        raise ShapeMismatchError(
            "attention", expected="queries of known width, or a scale", got=str(width)
        )
    return 1.0 / math.sqrt(width)


def attention_of_arrays(
    q: Array, k: Array, v: Array, mask: Any = None, *, operator: Attention
) -> Array:
    """Return the attention of arrays."""
    result: Array = np.matmul(weights_of_arrays(q, k, mask, operator=operator), v)
    return result.astype(q.dtype, copy=False)


def weights_of_arrays(
    q: Array, k: Array, mask: Any = None, *, operator: Attention | AttentionWeights
) -> Array:
    """Return the weights of attention."""
    scores = np.matmul(q, k.swapaxes(-1, -2)) * operator.scale
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    if operator.is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=np.bool_), scores, -np.inf)
    largest = np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(largest == -np.inf, 0, largest))
    total = np.sum(weights, axis=-1, keepdims=True)
    shares: Array = weights / np.where(total == 0, 1, total)
    return shares
