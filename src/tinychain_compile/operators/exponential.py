"""Elementwise exponentials, roots and hyperbolic functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import floating, same


@dataclass(frozen=True, slots=True)
class Exp(Operator):
    """``e ** x``: ``F[s] -> F[s]``."""

    name: ClassVar[str] = "exp"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class Log(Operator):
    """The natural logarithm: ``F[s] -> F[s]``."""

    name: ClassVar[str] = "log"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class Sqrt(Operator):
    """The square root: ``F[s] -> F[s]``."""

    name: ClassVar[str] = "sqrt"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class Tanh(Operator):
    """The hyperbolic tangent: ``F[s] -> F[s]``."""

    name: ClassVar[str] = "tanh"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class Log1p(Operator):
    """``log(1 + x)``, exact near 0: ``F[s] -> F[s]``."""

    name: ClassVar[str] = "log1p"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class Expm1(Operator):
    """``e ** x - 1``, exact near 0: ``F[s] -> F[s]``."""

    name: ClassVar[str] = "expm1"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class Rsqrt(Operator):
    """``1 / sqrt(x)``: ``F[s] -> F[s]``."""

    name: ClassVar[str] = "rsqrt"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class Sigmoid(Operator):
    """``1 / (1 + exp(-x))``, without overflow at either end: ``F[s] -> F[s]``."""

    name: ClassVar[str] = "sigmoid"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class TanhGradient(Operator):
    """``g * (1 - y ** 2)``, ``y`` the output of ``tanh``: ``F[s], F[s] -> F[s]``."""

    name: ClassVar[str] = "tanh_gradient"

    def infer(self, g: TensorType, y: TensorType) -> TensorType:
        return floating(self.name, same(self.name, g, y))


@dataclass(frozen=True, slots=True)
class SigmoidGradient(Operator):
    """``g * y * (1 - y)``, ``y`` the output of ``sigmoid``: ``F[s], F[s] -> F[s]``."""

    name: ClassVar[str] = "sigmoid_gradient"

    def infer(self, g: TensorType, y: TensorType) -> TensorType:
        return floating(self.name, same(self.name, g, y))
