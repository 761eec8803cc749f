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
        floating(self.name, q)
        if not q.dtype is k.dtype is v.dtype:
            raise DtypeMismatchError(
                self.name, expected="operands of equal dtype", got=f"{q}, {k} and {v}"
            )
        if (
            not q.rank == k.rank == v.rank >= 2
            or not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]
            or q.shape[-1] != k.shape[-1]
            or k.shape[-2] != v.shape[-2]
        ):
            raise ShapeMismatchError(
                self.name,
                expected="queries [b.., t, d], keys [b.., s, d] and values [b.., s, e]",
                got=f"{q}, {k} and {v}",
            )
        seen = (*q.shape[:-1], k.shape[-2])
        if mask is not None and boolean(f"mask of {self.name}", mask).shape != seen:
            raise ShapeMismatchError(
                f"mask of {self.name}", expected=f"the shape {seen}", got=str(mask)
            )
        return q.with_shape((*q.shape[:-1], v.shape[-1]))
