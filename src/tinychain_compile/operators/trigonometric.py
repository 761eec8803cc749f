"""Elementwise trigonometric functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import floating, same


@dataclass(frozen=True, slots=True)
class Sin(Operator):
    """The sine of an angle in radians: ``F[s] -> F[s]``."""

    name: ClassVar[str] = "sin"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class Cos(Operator):
    """The cosine of an angle in radians: ``F[s] -> F[s]``."""

    name: ClassVar[str] = "cos"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class Atan2(Operator):
    """The angle in radians of the point (x, y), from -pi to pi: ``F[s], F[s] -> F[s]``."""

    name: ClassVar[str] = "atan2"

    def infer(self, y: TensorType, x: TensorType) -> TensorType:
        return same(self.name, floating(self.name, y), x)
