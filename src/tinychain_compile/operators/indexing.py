"""Reading and adding at positions that a tensor of integers gives.

A negative index counts from the end, as in NumPy. An index out of range is an error in a backend
that checks, and reads 0 (adds nothing) in one that decomposes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.errors import ShapeMismatchError
from tinychain_compile.ir.dimensions import Dimension, Shape
from tinychain_compile.ir.dtypes import DType, as_dtype
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import integer, numeric


@dataclass(frozen=True, slots=True)
class Gather(Operator):
    """Elements of ``x`` at indices along one axis.

    Not ``along``: whole slices, ``T[p.., d, q..], I[s..] -> T[p.., s.., q..]`` (NumPy's ``take``).
    ``along``: one element for each index, ``T[p.., d, q..], I[p.., e, q..] -> T[p.., e, q..]``
    (NumPy's ``take_along_axis``).

    Args:
        axis: The axis indexed.
        along: Whether indices pair up with the other axes.
    """

    name: ClassVar[str] = "gather"
    axis: int
    along: bool = False

    def infer(self, x: TensorType, indices: TensorType) -> TensorType:
        return x.with_shape(_indexed_shape(self.name, x, indices, self.axis, self.along))


@dataclass(frozen=True, slots=True)
class ScatterAdd(Operator):
    """Zeros, with updates added at indices along one axis; the transpose of ``gather``.

    ``T[shape of the gather's result], I[..] -> T[shape of the gather's operand]``; repeated indices
    add up.

    Args:
        axis: The axis indexed.
        size: The size of that axis in the result.
        along: Whether indices pair up with the other axes.
    """

    name: ClassVar[str] = "scatter_add"
    axis: int
    size: Dimension
    along: bool = False

    def infer(self, updates: TensorType, indices: TensorType) -> TensorType:
        replaced = 1 if self.along else indices.rank
        rest = updates.shape[self.axis + replaced :]
        result = updates.with_shape((*updates.shape[: self.axis], self.size, *rest))
        shape = _indexed_shape(self.name, result, indices, self.axis, self.along)
        if shape != updates.shape:
            raise ShapeMismatchError(
                self.name, expected=f"updates of shape {shape}", got=str(updates)
            )
        return numeric(self.name, result)


@dataclass(frozen=True, slots=True)
class OneHot(Operator):
    """1 at the position that an integer gives along a new last axis, else 0: ``I[s] -> T[s, d]``.

    All 0 where the integer is negative or too large.

    Args:
        depth: The size of the new axis.
        dtype: The dtype of the result.
    """

    name: ClassVar[str] = "one_hot"
    depth: int
    dtype: DType

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", as_dtype(self.dtype))

    def infer(self, indices: TensorType) -> TensorType:
        shape = (*integer(self.name, indices).shape, self.depth)
        return numeric(self.name, TensorType.of(self.dtype, shape))


def _indexed_shape(name: str, x: TensorType, indices: TensorType, axis: int, along: bool) -> Shape:
    integer(f"{name} indices", indices)
    if not 0 <= axis < x.rank:
        raise ShapeMismatchError(name, expected=f"an axis of {x}", got=str(axis))
    if x.shape[axis] == 0 and indices.size != 0:
        raise ShapeMismatchError(name, expected="an axis that is not empty", got=str(x))
    if not along:
        return (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    others = (*x.shape[:axis], *x.shape[axis + 1 :])
    if (*indices.shape[:axis], *indices.shape[axis + 1 :]) != others or indices.rank != x.rank:
        raise ShapeMismatchError(
            name, expected=f"indices that match {x} except on axis {axis}", got=str(indices)
        )
    return indices.shape
