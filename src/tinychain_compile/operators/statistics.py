"""Spread over axes, which are given ascending, from 0, without repeats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import floating, reduced_shape


@dataclass(frozen=True, slots=True)
class Var(Operator):
    """The variance over axes: ``F[s] -> F[s without axes]``.

    The squared distances from the mean are summed and divided by ``count - correction``.

    Args:
        axes: The axes reduced over.
        keepdims: Whether they stay, with size 1.
        correction: 0 for all there is, 1 for a sample (Bessel's correction).
    """

    name: ClassVar[str] = "var"
    axes: tuple[int, ...]
    keepdims: bool = False
    correction: float = 0

    def infer(self, x: TensorType) -> TensorType:
        shape = reduced_shape(self.name, x, self.axes, self.keepdims)
        return floating(self.name, x).with_shape(shape)


@dataclass(frozen=True, slots=True)
class Std(Operator):
    """The standard deviation over axes: ``F[s] -> F[s without axes]``.

    The squared distances from the mean are summed and divided by ``count - correction``.

    Args:
        axes: The axes reduced over.
        keepdims: Whether they stay, with size 1.
        correction: 0 for all there is, 1 for a sample (Bessel's correction).
    """

    name: ClassVar[str] = "std"
    axes: tuple[int, ...]
    keepdims: bool = False
    correction: float = 0

    def infer(self, x: TensorType) -> TensorType:
        shape = reduced_shape(self.name, x, self.axes, self.keepdims)
        return floating(self.name, x).with_shape(shape)
