"""Running totals along one axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import numeric, one_axis


@dataclass(frozen=True, slots=True)
class CumSum(Operator):
    """The sum of all elements up to each one, itself included: ``T[s] -> T[s]``.

    Args:
        axis: The axis.
        reverse: Whether to start from the end.
    """

    name: ClassVar[str] = "cumsum"
    axis: int
    reverse: bool = False

    def infer(self, x: TensorType) -> TensorType:
        return numeric(self.name, one_axis(self.name, x, self.axis))


@dataclass(frozen=True, slots=True)
class CumProd(Operator):
    """The product of all elements up to each one, itself included: ``T[s] -> T[s]``.

    Args:
        axis: The axis.
        reverse: Whether to start from the end.
    """

    name: ClassVar[str] = "cumprod"
    axis: int
    reverse: bool = False

    def infer(self, x: TensorType) -> TensorType:
        return numeric(self.name, one_axis(self.name, x, self.axis))
