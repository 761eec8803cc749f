"""Elementwise functions of statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import floating


@dataclass(frozen=True, slots=True)
class Erf(Operator):
    """The error function: ``F[s] -> F[s]``.

    ``2 / sqrt(pi)`` times the integral of ``exp(-t ** 2)`` from 0 to x.
    """

    name: ClassVar[str] = "erf"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, x)
