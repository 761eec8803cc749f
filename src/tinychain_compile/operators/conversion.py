"""Operators that change what a tensor counts as, not what it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.ir.dtypes import DType, as_dtype
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType


@dataclass(frozen=True, slots=True)
class Cast(Operator):
    """The nearest values of another dtype: ``T[s] -> dtype[s]``. To bool: whether not zero.

    Args:
        dtype: The dtype of the result.
    """

    name: ClassVar[str] = "cast"
    dtype: DType

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", as_dtype(self.dtype))

    def infer(self, x: TensorType) -> TensorType:
        return x.with_dtype(self.dtype)


@dataclass(frozen=True, slots=True)
class StopGradient(Operator):
    """The operand itself, with no derivative: ``T[s] -> T[s]``. Gone after differentiation."""

    name: ClassVar[str] = "stop_gradient"
    is_movement: ClassVar[bool] = True

    def infer(self, x: TensorType) -> TensorType:
        return x


@dataclass(frozen=True, slots=True)
class Named(Operator):
    """The operand itself, by a name that capture policies know: ``T[s] -> T[s]``. Gone afterwards.

    Args:
        label: The name.
    """

    name: ClassVar[str] = "named"
    is_movement: ClassVar[bool] = True
    label: str

    def infer(self, x: TensorType) -> TensorType:
        return x
