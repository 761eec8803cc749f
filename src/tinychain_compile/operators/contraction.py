"""Products summed over shared axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.errors import DtypeMismatchError, MatMulShapeError, ShapeMismatchError
from tinychain_compile.ir.dimensions import Dimension
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


@dataclass(frozen=True, slots=True)
class Einsum(Operator):
    """A product of tensors whose axes are named by letters, summed over the letters left out.

    ``T[..], T[..] -> T[..]`` as the letters say: ``("mk", "kn") -> "mn"`` is the matrix product.
    No letter stands twice in one operand or in the result; those of the result stand in an operand.

    Args:
        operands: The letters of each operand, one for each axis.
        result: The letters of the result.
    """

    name: ClassVar[str] = "einsum"
    operands: tuple[str, ...]
    result: str

    def infer(self, *types: TensorType) -> TensorType:
        first = numeric(self.name, types[0])
        sizes: dict[str, Dimension] = {}
        for letters, type in zip(self.operands, types, strict=True):
            if type.dtype is not first.dtype:
                raise DtypeMismatchError(
                    self.name, expected="operands of equal dtype", got=f"{first} and {type}"
                )
            if len(set(letters)) != len(letters) or len(letters) != type.rank:
                raise ShapeMismatchError(
                    self.name, expected=f"a different letter for each axis of {type}", got=letters
                )
            for letter, size in zip(letters, type.shape, strict=True):
                if sizes.setdefault(letter, size) != size:
                    raise ShapeMismatchError(
                        self.name,
                        expected=f"one size for the letter {letter!r}",
                        got=f"{sizes[letter]} and {size}",
                    )
        if len(set(self.result)) != len(self.result) or not sizes.keys() >= set(self.result):
            raise ShapeMismatchError(
                self.name, expected="different letters of the operands", got=self.result
            )
        return first.with_shape(tuple(sizes[letter] for letter in self.result))
