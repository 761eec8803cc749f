"""Attributes that several operators share. A base has no name: only operators are used."""

from __future__ import annotations

from dataclasses import dataclass

from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import reduced_shape


@dataclass(frozen=True, slots=True)
class Reduction(Operator):
    """Reduces over axes.

    Args:
        axes: The axes reduced over, ascending, from 0, without repeats.
        keepdims: Whether they stay, with size 1.
    """

    axes: tuple[int, ...]
    keepdims: bool = False

    def reduced(self, x: TensorType) -> TensorType:
        """Return the type after the reduction, in the operand's dtype."""
        return x.with_shape(reduced_shape(self.name, x, self.axes, self.keepdims))


@dataclass(frozen=True, slots=True)
class AlongAxis(Operator):
    """Works along one axis.

    Args:
        axis: The axis, from 0.
    """

    axis: int
