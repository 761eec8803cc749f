"""Order along one axis. NaN counts as larger than every number, as in NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.errors import ShapeMismatchError
from tinychain_compile.ir.dtypes import I64
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.bases import AlongAxis
from tinychain_compile.operators.type_rules import not_empty, numeric, one_axis, reduced_shape


@dataclass(frozen=True, slots=True)
class ArgMax(AlongAxis):
    """The position of the largest along an axis: ``T[s] -> i64[s without axis]``.

    The first of several; that of the first NaN, if there is one. The axis may not be empty.
    """

    name: ClassVar[str] = "argmax"

    def infer(self, x: TensorType) -> TensorType:
        shape = reduced_shape(self.name, x, (self.axis,), keepdims=False)
        numeric(self.name, not_empty(self.name, x, (self.axis,)))
        return TensorType.of(I64, shape)


@dataclass(frozen=True, slots=True)
class ArgMin(ArgMax):
    """The position of the smallest along an axis: ``T[s] -> i64[s without axis]``.

    The first of several; that of the first NaN, if there is one. The axis may not be empty.
    """

    name: ClassVar[str] = "argmin"


@dataclass(frozen=True, slots=True)
class Sort(AlongAxis):
    """The elements in order along an axis: ``T[s] -> T[s]``.

    Args:
        descending: Whether the largest comes first.
    """

    name: ClassVar[str] = "sort"
    descending: bool = False

    def infer(self, x: TensorType) -> TensorType:
        return numeric(self.name, one_axis(self.name, x, self.axis))


@dataclass(frozen=True, slots=True)
class ArgSort(AlongAxis):
    """The positions that put an axis in order, equal elements as they stood: ``T[s] -> i64[s]``.

    Args:
        descending: Whether the largest comes first.
    """

    name: ClassVar[str] = "argsort"
    descending: bool = False

    def infer(self, x: TensorType) -> TensorType:
        return numeric(self.name, one_axis(self.name, x, self.axis)).with_dtype(I64)


@dataclass(frozen=True, slots=True)
class TopK(AlongAxis):
    """The k largest along an axis, largest first: ``T[p.., d, q..] -> T[p.., k, q..]``.

    Args:
        k: How many.
    """

    name: ClassVar[str] = "top_k"
    k: int

    def infer(self, x: TensorType) -> TensorType:
        size = numeric(self.name, one_axis(self.name, x, self.axis)).shape[self.axis]
        if not isinstance(size, int) or not 0 <= self.k <= size:
            raise ShapeMismatchError(
                self.name,
                expected=f"from 0 to {size} elements of axis {self.axis} of {x}",
                got=str(self.k),
            )
        return x.with_shape((*x.shape[: self.axis], self.k, *x.shape[self.axis + 1 :]))
