"""Attention: a mean of values, weighted by how well queries and keys agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.errors import DtypeMismatchError, ShapeMismatchError
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import boolean, floating


@dataclass(frozen=True, slots=True)
class Attention(Operator):
    """``softmax(q @ k.T * scale) @ v``, where the mask allows it.

    ``F[b.., t, d], F[b.., s, d], F[b.., s, e] -> F[b.., t, e]``; a fourth operand, bool[b.., t, s],
    says which keys each query sees. A query that sees none gets zeros. Source: Vaswani et al.,
    Attention Is All You Need, 2017.

    Args:
        scale: What agreement is multiplied by.
        is_causal: Whether query i sees keys 0 to i alone.
    """

    name: ClassVar[str] = "attention"
    scale: float
    is_causal: bool = False

    def infer(
        self, q: TensorType, k: TensorType, v: TensorType, mask: TensorType | None = None
    ) -> TensorType:
        weights = _weights(self.name, q, k, mask)
        if v.dtype is not q.dtype:
            raise DtypeMismatchError(
                self.name, expected="operands of equal dtype", got=f"{q}, {k} and {v}"
            )
        if v.rank != q.rank or v.shape[:-1] != k.shape[:-1]:
            raise ShapeMismatchError(
                self.name,
                expected="queries [b.., t, d], keys [b.., s, d] and values [b.., s, e]",
                got=f"{q}, {k} and {v}",
            )
        return q.with_shape((*weights.shape[:-1], v.shape[-1]))


@dataclass(frozen=True, slots=True)
class AttentionWeights(Operator):
    """``softmax(q @ k.T * scale)``, where the mask allows it: how much each query takes of a value.

    ``F[b.., t, d], F[b.., s, d] -> F[b.., t, s]``; a third operand, bool[b.., t, s], is the mask.

    Args:
        scale: What agreement is multiplied by.
        is_causal: Whether query i sees keys 0 to i alone.
    """

    name: ClassVar[str] = "attention_weights"
    scale: float
    is_causal: bool = False

    def infer(self, q: TensorType, k: TensorType, mask: TensorType | None = None) -> TensorType:
        return _weights(self.name, q, k, mask)


def _weights(name: str, q: TensorType, k: TensorType, mask: TensorType | None) -> TensorType:
    """Return the type of a number for each query and key."""
    floating(name, q)
    if k.dtype is not q.dtype:
        raise DtypeMismatchError(name, expected="operands of equal dtype", got=f"{q} and {k}")
    if not q.rank == k.rank >= 2 or q.shape[:-2] != k.shape[:-2] or q.shape[-1] != k.shape[-1]:
        raise ShapeMismatchError(
            name, expected="queries [b.., t, d] and keys [b.., s, d]", got=f"{q} and {k}"
        )
    seen = (*q.shape[:-1], k.shape[-2])
    if mask is not None and boolean(f"mask of {name}", mask).shape != seen:
        raise ShapeMismatchError(f"mask of {name}", expected=f"the shape {seen}", got=str(mask))
    return q.with_shape(seen)
