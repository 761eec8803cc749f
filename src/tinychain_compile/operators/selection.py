"""Elementwise choice by a condition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.errors import DtypeMismatchError, ShapeMismatchError
from tinychain_compile.ir.dtypes import BOOL
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import same


@dataclass(frozen=True, slots=True)
class Where(Operator):
    """``a`` where the condition holds, else ``b``: ``bool[s], T[s], T[s] -> T[s]``."""

    name: ClassVar[str] = "where"

    def infer(self, condition: TensorType, a: TensorType, b: TensorType) -> TensorType:
        if condition.dtype != BOOL:
            raise DtypeMismatchError(self.name, expected="a boolean condition", got=str(condition))
        if condition.shape != a.shape:
            raise ShapeMismatchError(
                self.name, expected=f"a condition of the shape of {a}", got=str(condition)
            )
        return same(self.name, a, b)
