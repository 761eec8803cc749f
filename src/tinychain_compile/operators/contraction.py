"""Products summed over shared axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.errors import DtypeMismatchError, MatMulShapeError
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import numeric


@dataclass(frozen=True, slots=True)
class MatMul(Operator):
    """The matrix product over the last two axes: ``T[b.., m, k], T[b.., k, n] -> T[b.., m, n]``.

    Args:
        transpose_a: Whether the first operand is given as ``T[b.., k, m]``.
        transpose_b: Whether the second operand is given as ``T[b.., n, k]``.
    """

    name: ClassVar[str] = "matmul"
    transpose_a: bool = False
    transpose_b: bool = False

    def infer(self, a: TensorType, b: TensorType) -> TensorType:
        numeric(self.name, a)
        if a.dtype is not b.dtype:
            raise DtypeMismatchError(
                self.name, expected="operands of equal dtype", got=f"{a} and {b}"
            )
        left, right = a.shape, b.shape
        if len(left) < 2 or len(left) != len(right) or left[:-2] != right[:-2]:
            raise MatMulShapeError(
                self.name,
                expected="two matrices, or two equal stacks of matrices",
                got=f"{a} @ {b}",
            )
        *stack, m, k = left
        inner, n = right[-2:]
        if self.transpose_a:
            m, k = k, m
        if self.transpose_b:
            inner, n = n, inner
        if k != inner:
            raise MatMulShapeError(
                self.name,
                expected="equal inner sizes",
                got=f"{k} and {inner} in {a} @ {b}",
                hint="The columns of the first must be as many as the rows of the second.",
            )
        return a.with_shape((*stack, m, n))
