"""Reductions over axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.bases import Reduction
from tinychain_compile.operators.type_rules import floating, not_empty, numeric


@dataclass(frozen=True, slots=True)
class ReduceSum(Reduction):
    """The sum over axes: ``T[s] -> T[s without axes]``, in the operand's dtype."""

    name: ClassVar[str] = "reduce_sum"

    def infer(self, x: TensorType) -> TensorType:
        return numeric(self.name, self.reduced(x))


@dataclass(frozen=True, slots=True)
class ReduceMax(Reduction):
    """The largest over axes, NaN where one is NaN: ``T[s] -> T[s without axes]``.

    None of the axes may be empty.
    """

    name: ClassVar[str] = "reduce_max"

    def infer(self, x: TensorType) -> TensorType:
        reduced = self.reduced(numeric(self.name, x))
        not_empty(self.name, x, self.axes)
        return reduced


@dataclass(frozen=True, slots=True)
class ReduceMin(Reduction):
    """The smallest over axes, NaN where one is NaN: ``T[s] -> T[s without axes]``.

    None of the axes may be empty.
    """

    name: ClassVar[str] = "reduce_min"

    def infer(self, x: TensorType) -> TensorType:
        reduced = self.reduced(numeric(self.name, x))
        not_empty(self.name, x, self.axes)
        return reduced


@dataclass(frozen=True, slots=True)
class ReduceProd(Reduction):
    """The product over axes, 1 over nothing: ``T[s] -> T[s without axes]``."""

    name: ClassVar[str] = "reduce_prod"

    def infer(self, x: TensorType) -> TensorType:
        return numeric(self.name, self.reduced(x))


@dataclass(frozen=True, slots=True)
class Mean(Reduction):
    """The mean over axes: ``F[s] -> F[s without axes]``, NaN over nothing."""

    name: ClassVar[str] = "mean"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, self.reduced(x))


@dataclass(frozen=True, slots=True)
class Norm(Reduction):
    """The square root of the sum of squares over axes: ``F[s] -> F[s without axes]``."""

    name: ClassVar[str] = "norm"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, self.reduced(x))
