"""Products summed over shared axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.errors import DtypeMismatchError, MatMulShapeError
from tinychain_compile.ir.dimensions import Shape
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
        if a.dtype != b.dtype:
            raise DtypeMismatchError(
                self.name, expected="operands of equal dtype", got=f"{a} and {b}"
            )
        if a.rank < 2 or a.rank != b.rank or a.shape[:-2] != b.shape[:-2]:
            raise MatMulShapeError(
                self.name,
                expected="two matrices, or two equal stacks of matrices",
                got=f"{a} @ {b}",
            )
        m, k = matrix_axes(a.shape, self.transpose_a)
        inner, n = matrix_axes(b.shape, self.transpose_b)
        if k != inner:
            raise MatMulShapeError(
                self.name,
                expected="equal inner sizes",
                got=f"{k} and {inner} in {a} @ {b}",
                hint="The columns of the first must be as many as the rows of the second.",
            )
        return a.with_shape((*a.shape[:-2], m, n))


def matrix_axes(shape: Shape, is_transposed: bool) -> Shape:
    """Return rows and columns of a stack of matrices as the product sees them."""
    return shape[:-3:-1] if is_transposed else shape[-2:]
