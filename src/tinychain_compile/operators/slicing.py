"""Parts of a tensor, put together and apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.errors import DtypeMismatchError, ShapeMismatchError
from tinychain_compile.ir.dimensions import Dimension, Shape
from tinychain_compile.ir.dtypes import dtype_name
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import can_hold, one_axis


@dataclass(frozen=True, slots=True)
class Slice(Operator):
    """``x[start:stop:step]`` along every axis: ``T[s] -> T[ceil((stop - start) / step)]``.

    Args:
        start: The first position of each axis, counted from 0; may be symbolic if the step is 1.
        stop: The position that each axis stops before; likewise.
        step: The distance between positions, from 1.
    """

    name: ClassVar[str] = "slice"
    start: Shape
    stop: Shape
    step: tuple[int, ...]

    def infer(self, x: TensorType) -> TensorType:
        if not len(self.start) == len(self.stop) == len(self.step) == x.rank:
            raise ShapeMismatchError(
                self.name, expected=f"a start, stop and step for each axis of {x}", got=repr(self)
            )
        sizes = zip(x.shape, self.start, self.stop, self.step, strict=True)
        return x.with_shape(tuple(self._size(x, *row) for row in sizes))

    def _size(
        self, x: TensorType, size: Dimension, start: Dimension, stop: Dimension, step: int
    ) -> Dimension:
        if isinstance(start, int) and isinstance(stop, int):
            if 0 <= start <= stop and step >= 1 and not (isinstance(size, int) and stop > size):
                return -((start - stop) // step)
        elif step == 1:
            return stop + start * -1
        raise ShapeMismatchError(
            self.name, expected=f"positions within {x}", got=f"{start}:{stop}:{step}"
        )


@dataclass(frozen=True, slots=True)
class Pad(Operator):
    """Elements around and between those of ``x``: ``T[s] -> T[low + s + gaps + high]``.

    Args:
        low: How many before the first, for each axis; a negative number cuts off as many.
        high: How many after the last, for each axis; a negative number cuts off as many.
        interior: How many between neighbours, for each axis.
        value: What they are.
    """

    name: ClassVar[str] = "pad"
    low: Shape
    high: Shape
    interior: tuple[int, ...]
    value: float = 0

    def infer(self, x: TensorType) -> TensorType:
        rows = (self.low, self.high, self.interior)
        if any(len(row) != x.rank for row in rows) or any(i < 0 for i in self.interior):
            raise ShapeMismatchError(
                self.name, expected=f"a low, high and interior for each axis of {x}", got=repr(self)
            )
        if not can_hold(x.dtype, self.value):
            raise DtypeMismatchError(
                self.name,
                expected=f"a value that {dtype_name(x.dtype)} can hold",
                got=repr(self.value),
            )
        sizes = zip(x.shape, *rows, strict=True)
        shape = tuple(padded_size(*row) for row in sizes)
        if any(isinstance(size, int) and size < 0 for size in shape):
            raise ShapeMismatchError(
                self.name, expected=f"to cut off no more than there is of {x}", got=repr(self)
            )
        return x.with_shape(shape)


def padded_size(size: Dimension, low: Dimension, high: Dimension, interior: int) -> Dimension:
    """Return the size of an axis after padding."""
    gaps = 0 if size == 0 or not interior else (size + -1) * interior
    return size + gaps + low + high


@dataclass(frozen=True, slots=True)
class Concat(Operator):
    """Tensors one after another: ``T[p.., a, q..], T[p.., b, q..] -> T[p.., a + b, q..]``.

    Takes one operand or more.

    Args:
        axis: The axis.
    """

    name: ClassVar[str] = "concat"
    axis: int

    def infer(self, x: TensorType, *others: TensorType) -> TensorType:
        axis = self.axis
        total = one_axis(self.name, x, axis).shape[axis]
        for other in others:
            if other.dtype is not x.dtype:
                raise DtypeMismatchError(
                    self.name, expected="operands of equal dtype", got=f"{x} and {other}"
                )
            if (
                other.rank != x.rank
                or other.shape[:axis] != x.shape[:axis]
                or other.shape[axis + 1 :] != x.shape[axis + 1 :]
            ):
                raise ShapeMismatchError(
                    self.name,
                    expected=f"shapes that are equal except on axis {axis}",
                    got=f"{x} and {other}",
                )
            total = total + other.shape[axis]
        return x.with_shape((*x.shape[:axis], total, *x.shape[axis + 1 :]))


@dataclass(frozen=True, slots=True)
class Reverse(Operator):
    """The elements in opposite order along axes: ``T[s] -> T[s]``.

    Args:
        axes: The axes, ascending, without repeats.
    """

    name: ClassVar[str] = "reverse"
    is_movement: ClassVar[bool] = True
    axes: tuple[int, ...]

    def infer(self, x: TensorType) -> TensorType:
        for axis in self.axes:
            one_axis(self.name, x, axis)
        return x
