"""Named composites of neural networks, elementwise, which a backend may take whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import floating, same


@dataclass(frozen=True, slots=True)
class Relu(Operator):
    """``max(x, 0)``, NaN kept: ``F[s] -> F[s]``."""

    name: ClassVar[str] = "relu"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class LeakyRelu(Operator):
    """``x`` above 0, else ``slope * x``: ``F[s] -> F[s]``.

    Args:
        slope: The derivative below 0.
    """

    name: ClassVar[str] = "leaky_relu"
    slope: float

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class Elu(Operator):
    """``x`` above 0, else ``alpha * (exp(x) - 1)``: ``F[s] -> F[s]``.

    Args:
        alpha: Minus the limit on the left.
    """

    name: ClassVar[str] = "elu"
    alpha: float

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class Gelu(Operator):
    """``x`` times the probability that a standard normal variable is below it: ``F[s] -> F[s]``.

    Source: Hendrycks and Gimpel, Gaussian Error Linear Units, 2016.

    Args:
        approximate: Whether the probability is the paper's approximation by ``tanh``.
    """

    name: ClassVar[str] = "gelu"
    approximate: bool = False

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class Silu(Operator):
    """``x * sigmoid(x)``: ``F[s] -> F[s]``."""

    name: ClassVar[str] = "silu"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class Softplus(Operator):
    """``log(1 + exp(x))``, without overflow: ``F[s] -> F[s]``."""

    name: ClassVar[str] = "softplus"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class ReluGradient(Operator):
    """``g`` where the output of ``relu`` is above 0, else 0: ``F[s], F[s] -> F[s]``."""

    name: ClassVar[str] = "relu_gradient"

    def infer(self, g: TensorType, y: TensorType) -> TensorType:
        return floating(self.name, same(self.name, g, y))


@dataclass(frozen=True, slots=True)
class GeluGradient(Operator):
    """``g`` times the derivative of ``gelu`` at ``x``: ``F[s], F[s] -> F[s]``.

    Args:
        approximate: As for ``gelu``.
    """

    name: ClassVar[str] = "gelu_gradient"
    approximate: bool = False

    def infer(self, g: TensorType, x: TensorType) -> TensorType:
        return floating(self.name, same(self.name, g, x))
