"""Operators without operands: values that are known when compiling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tinychain_compile.errors import ShapeMismatchError
from tinychain_compile.ir.dimensions import Dimension, Shape
from tinychain_compile.ir.dtypes import I64, Array, DType, as_dtype
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Operator):
    """An array written into the program.

    Args:
        value: The array, any dtype and shape; copied and made read-only.
    """

    name: ClassVar[str] = "constant"
    is_literal: ClassVar[bool] = True
    value: Array

    def __post_init__(self) -> None:
        value = self.value
        own = np.array(value, dtype=as_dtype(value.dtype), order="C", copy=True)
        own.setflags(write=False)
        object.__setattr__(self, "value", own)

    @staticmethod
    def scalar(value: float, dtype: DType) -> Constant:
        """Return the literal of one number in a canonical dtype."""
        made = Constant.__new__(Constant)
        array = np.array(value, dtype)
        array.setflags(write=False)
        object.__setattr__(made, "value", array)
        return made

    def infer(self) -> TensorType:
        return TensorType.of(as_dtype(self.value.dtype), self.value.shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    @property
    def _content(self) -> tuple[DType, tuple[int, ...], bytes]:
        return self.value.dtype, self.value.shape, self.value.tobytes()


@dataclass(frozen=True, slots=True)
class Iota(Operator):
    """The position along one axis: ``result[..., i, ...] = i``.

    Args:
        shape: The shape of the result.
        axis: The axis counted along.
        dtype: The dtype of the result.
    """

    name: ClassVar[str] = "iota"
    is_literal: ClassVar[bool] = True
    shape: Shape
    axis: int
    dtype: DType = I64

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", as_dtype(self.dtype))

    def infer(self) -> TensorType:
        if not 0 <= self.axis < len(self.shape):
            raise ShapeMismatchError(
                "iota", expected=f"an axis of {self.shape}", got=str(self.axis)
            )
        return TensorType.of(self.dtype, self.shape)


@dataclass(frozen=True, slots=True)
class DimensionSize(Operator):
    """A size as a number: a scalar that is known once the symbols are.

    Args:
        dimension: The size, an expression of symbols.
        dtype: The dtype of the result.
    """

    name: ClassVar[str] = "dimension_size"
    is_literal: ClassVar[bool] = True
    dimension: Dimension
    dtype: DType

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", as_dtype(self.dtype))

    def infer(self) -> TensorType:
        return TensorType.of(self.dtype, ())
