"""Named composites of neural networks, which a backend may take whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import floating, reduced_shape


@dataclass(frozen=True, slots=True)
class Relu(Operator):
    """``max(x, 0)``, NaN kept: ``F[s] -> F[s]``."""

    name: ClassVar[str] = "relu"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class LogSoftmax(Operator):
    """``x - log(sum(exp(x)))`` over one axis, without overflow: ``F[s] -> F[s]``.

    Args:
        axis: The axis that sums to one after ``exp``.
    """

    name: ClassVar[str] = "log_softmax"
    axis: int

    def infer(self, x: TensorType) -> TensorType:
        reduced_shape(self.name, x, (self.axis,), keepdims=True)
        return floating(self.name, x)
