"""Elementwise logic on conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import boolean, same


@dataclass(frozen=True, slots=True)
class Not(Operator):
    """Whether the condition does not hold: ``bool[s] -> bool[s]``."""

    name: ClassVar[str] = "not"

    def infer(self, x: TensorType) -> TensorType:
        return boolean(self.name, x)


@dataclass(frozen=True, slots=True)
class And(Operator):
    """Whether both hold: ``bool[s], bool[s] -> bool[s]``."""

    name: ClassVar[str] = "and"

    def infer(self, a: TensorType, b: TensorType) -> TensorType:
        return same(self.name, boolean(self.name, a), b)


@dataclass(frozen=True, slots=True)
class Or(Operator):
    """Whether one holds at least: ``bool[s], bool[s] -> bool[s]``."""

    name: ClassVar[str] = "or"

    def infer(self, a: TensorType, b: TensorType) -> TensorType:
        return same(self.name, boolean(self.name, a), b)
