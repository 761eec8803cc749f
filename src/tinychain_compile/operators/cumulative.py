"""Running totals along one axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.bases import AlongAxis
from tinychain_compile.operators.type_rules import numeric, one_axis


@dataclass(frozen=True, slots=True)
class CumSum(AlongAxis):
    """The sum of all elements up to each one, itself included: ``T[s] -> T[s]``.

    Args:
        reverse: Whether to start from the end.
    """

    name: ClassVar[str] = "cumsum"
    reverse: bool = False

    def infer(self, x: TensorType) -> TensorType:
        return numeric(self.name, one_axis(self.name, x, self.axis))


@dataclass(frozen=True, slots=True)
class CumProd(CumSum):
    """The product of all elements up to each one, itself included: ``T[s] -> T[s]``.

    Args:
        reverse: Whether to start from the end.
    """

    name: ClassVar[str] = "cumprod"
