"""Elementwise choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.errors import DtypeMismatchError, ShapeMismatchError
from tinychain_compile.ir.dtypes import BOOL
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import floating, same


@dataclass(frozen=True, slots=True)
class Where(Operator):
    """``a`` where the condition holds, else ``b``: ``bool[s], T[s], T[s] -> T[s]``."""

    name: ClassVar[str] = "where"

    def infer(self, condition: TensorType, a: TensorType, b: TensorType) -> TensorType:
        if condition.dtype != BOOL:
            raise DtypeMismatchError(self.name, expected="a boolean condition", got=str(condition))
        if condition.shape != a.shape:
            raise ShapeMismatchError(
                self.name, expected=f"a condition of the shape of {a}", got=str(condition)
            )
        return same(self.name, a, b)


@dataclass(frozen=True, slots=True)
class Annihilate(Operator):
    """The product itself, but the factor where that is 0: ``F[s], F[s] -> F[s]``.

    Operands are a factor, and its product with another one that may be infinite or NaN. Where the
    factor is 0 so is the result, whatever the other one is.
    """

    name: ClassVar[str] = "annihilate"

    def infer(self, factor: TensorType, product: TensorType) -> TensorType:
        return same(self.name, floating(self.name, factor), product)


@dataclass(frozen=True, slots=True)
class MulNoNan(Operator):
    """``factor * x``, but the factor where that is 0: ``F[s], F[s] -> F[s]``.

    Where the factor is 0 so is the result, whether ``x`` is finite or not; named as in TensorFlow.
    """

    name: ClassVar[str] = "mul_no_nan"

    def infer(self, factor: TensorType, x: TensorType) -> TensorType:
        return same(self.name, floating(self.name, factor), x)
