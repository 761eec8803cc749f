"""Reductions over axes, which are given ascending, from 0, without repeats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import floating, not_empty, numeric, reduced_shape


@dataclass(frozen=True, slots=True)
class ReduceSum(Operator):
    """The sum over axes: ``T[s] -> T[s without axes]``, in the operand's dtype.

    Args:
        axes: The axes summed over.
        keepdims: Whether they stay, with size 1.
    """

    name: ClassVar[str] = "reduce_sum"
    axes: tuple[int, ...]
    keepdims: bool = False

    def infer(self, x: TensorType) -> TensorType:
        shape = reduced_shape(self.name, x, self.axes, self.keepdims)
        return numeric(self.name, x).with_shape(shape)


@dataclass(frozen=True, slots=True)
class ReduceMax(Operator):
    """The largest over axes, NaN where one is NaN: ``T[s] -> T[s without axes]``.

    Args:
        axes: The axes reduced over; none of them may be empty.
        keepdims: Whether they stay, with size 1.
    """

    name: ClassVar[str] = "reduce_max"
    axes: tuple[int, ...]
    keepdims: bool = False

    def infer(self, x: TensorType) -> TensorType:
        shape = reduced_shape(self.name, x, self.axes, self.keepdims)
        return numeric(self.name, not_empty(self.name, x, self.axes)).with_shape(shape)


@dataclass(frozen=True, slots=True)
class Mean(Operator):
    """The mean over axes: ``F[s] -> F[s without axes]``, NaN over nothing.

    Args:
        axes: The axes averaged over.
        keepdims: Whether they stay, with size 1.
    """

    name: ClassVar[str] = "mean"
    axes: tuple[int, ...]
    keepdims: bool = False

    def infer(self, x: TensorType) -> TensorType:
        shape = reduced_shape(self.name, x, self.axes, self.keepdims)
        return floating(self.name, x).with_shape(shape)


@dataclass(frozen=True, slots=True)
class ReduceMin(Operator):
    """The smallest over axes, NaN where one is NaN: ``T[s] -> T[s without axes]``.

    Args:
        axes: The axes reduced over; none of them may be empty.
        keepdims: Whether they stay, with size 1.
    """

    name: ClassVar[str] = "reduce_min"
    axes: tuple[int, ...]
    keepdims: bool = False

    def infer(self, x: TensorType) -> TensorType:
        shape = reduced_shape(self.name, x, self.axes, self.keepdims)
        return numeric(self.name, not_empty(self.name, x, self.axes)).with_shape(shape)


@dataclass(frozen=True, slots=True)
class ReduceProd(Operator):
    """The product over axes, 1 over nothing: ``T[s] -> T[s without axes]``.

    Args:
        axes: The axes multiplied over.
        keepdims: Whether they stay, with size 1.
    """

    name: ClassVar[str] = "reduce_prod"
    axes: tuple[int, ...]
    keepdims: bool = False

    def infer(self, x: TensorType) -> TensorType:
        shape = reduced_shape(self.name, x, self.axes, self.keepdims)
        return numeric(self.name, x).with_shape(shape)


@dataclass(frozen=True, slots=True)
class Norm(Operator):
    """The square root of the sum of squares over axes: ``F[s] -> F[s without axes]``.

    Args:
        axes: The axes summed over.
        keepdims: Whether they stay, with size 1.
    """

    name: ClassVar[str] = "norm"
    axes: tuple[int, ...]
    keepdims: bool = False

    def infer(self, x: TensorType) -> TensorType:
        shape = reduced_shape(self.name, x, self.axes, self.keepdims)
        return floating(self.name, x).with_shape(shape)
