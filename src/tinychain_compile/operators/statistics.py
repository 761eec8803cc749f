"""Spread over axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.bases import Reduction
from tinychain_compile.operators.type_rules import floating


@dataclass(frozen=True, slots=True)
class Var(Reduction):
    """The variance over axes: ``F[s] -> F[s without axes]``.

    The squared distances from the mean are summed and divided by ``count - correction``.

    Args:
        correction: 0 for all there is, 1 for a sample (Bessel's correction).
    """

    name: ClassVar[str] = "var"
    correction: float = 0

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, self.reduced(x))


@dataclass(frozen=True, slots=True)
class Std(Var):
    """The standard deviation over axes, the square root of ``var``: ``F[s] -> F[s without axes]``.

    Args:
        correction: 0 for all there is, 1 for a sample (Bessel's correction).
    """

    name: ClassVar[str] = "std"
