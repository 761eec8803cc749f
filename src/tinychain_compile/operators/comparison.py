"""Elementwise comparison, and choice by comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.ir.dtypes import BOOL
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import numeric, same


@dataclass(frozen=True, slots=True)
class Less(Operator):
    """``a < b``, false where either is NaN: ``T[s], T[s] -> bool[s]``."""

    name: ClassVar[str] = "less"

    def infer(self, a: TensorType, b: TensorType) -> TensorType:
        return same(self.name, numeric(self.name, a), b).with_dtype(BOOL)


@dataclass(frozen=True, slots=True)
class Maximum(Operator):
    """The larger of two, NaN where either is NaN: ``T[s], T[s] -> T[s]``."""

    name: ClassVar[str] = "maximum"

    def infer(self, a: TensorType, b: TensorType) -> TensorType:
        return same(self.name, numeric(self.name, a), b)


@dataclass(frozen=True, slots=True)
class LessEqual(Operator):
    """``a <= b``, false where either is NaN: ``T[s], T[s] -> bool[s]``."""

    name: ClassVar[str] = "less_equal"

    def infer(self, a: TensorType, b: TensorType) -> TensorType:
        return same(self.name, numeric(self.name, a), b).with_dtype(BOOL)


@dataclass(frozen=True, slots=True)
class Equal(Operator):
    """``a == b``, false where either is NaN: ``T[s], T[s] -> bool[s]``."""

    name: ClassVar[str] = "equal"

    def infer(self, a: TensorType, b: TensorType) -> TensorType:
        return same(self.name, numeric(self.name, a), b).with_dtype(BOOL)


@dataclass(frozen=True, slots=True)
class Minimum(Operator):
    """The smaller of two, NaN where either is NaN: ``T[s], T[s] -> T[s]``."""

    name: ClassVar[str] = "minimum"

    def infer(self, a: TensorType, b: TensorType) -> TensorType:
        return same(self.name, numeric(self.name, a), b)


@dataclass(frozen=True, slots=True)
class Clip(Operator):
    """``x``, but not below ``low`` nor above ``high``: ``T[s], T[s], T[s] -> T[s]``.

    ``high`` where ``low`` is above it; NaN where one of the three is NaN.
    """

    name: ClassVar[str] = "clip"

    def infer(self, x: TensorType, low: TensorType, high: TensorType) -> TensorType:
        return same(self.name, same(self.name, numeric(self.name, x), low), high)
