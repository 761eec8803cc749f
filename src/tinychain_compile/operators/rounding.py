"""Elementwise rounding to whole numbers, and whether a number is finite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.ir.dtypes import BOOL
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import floating


@dataclass(frozen=True, slots=True)
class Floor(Operator):
    """The largest whole number that is not larger: ``F[s] -> F[s]``."""

    name: ClassVar[str] = "floor"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class Ceil(Operator):
    """The smallest whole number that is not smaller: ``F[s] -> F[s]``."""

    name: ClassVar[str] = "ceil"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class Round(Operator):
    """The nearest whole number, the even one of two: ``F[s] -> F[s]``."""

    name: ClassVar[str] = "round"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class IsFinite(Operator):
    """Whether neither infinite nor NaN: ``F[s] -> bool[s]``."""

    name: ClassVar[str] = "is_finite"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x).with_dtype(BOOL)
