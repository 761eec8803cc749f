"""Checks that many operators' type rules share."""

from __future__ import annotations

import numpy as np

from tinychain_compile.errors import DtypeMismatchError, ReductionError, ShapeMismatchError
from tinychain_compile.ir.dimensions import Shape
from tinychain_compile.ir.dtypes import BOOL, FLOATING, INTEGER, DType
from tinychain_compile.ir.types import TensorType


def floating(name: str, operand: TensorType) -> TensorType:
    """Return the type of a floating operand."""
    if operand.dtype not in FLOATING:
        raise DtypeMismatchError(
            name,
            expected="a floating tensor",
            got=str(operand),
            hint="Convert it with .astype(...) first.",
        )
    return operand


def numeric(name: str, operand: TensorType) -> TensorType:
    """Return the type of an operand that is not boolean."""
    if operand.dtype is BOOL:
        raise DtypeMismatchError(
            name,
            expected="a numeric tensor",
            got=str(operand),
            hint="Convert it with .astype(...) first.",
        )
    return operand


def boolean(name: str, operand: TensorType) -> TensorType:
    """Return the type of a boolean operand."""
    if operand.dtype is not BOOL:
        raise DtypeMismatchError(
            name,
            expected="a boolean tensor",
            got=str(operand),
            hint="Compare it first, as in x != 0.",
        )
    return operand


def integer(name: str, operand: TensorType) -> TensorType:
    """Return the type of an integer operand."""
    if operand.dtype not in INTEGER:
        raise DtypeMismatchError(name, expected="an integer tensor", got=str(operand))
    return operand


def same(name: str, left: TensorType, right: TensorType) -> TensorType:
    """Return the one type of two operands."""
    if left is not right and left != right:
        error = DtypeMismatchError if left.shape == right.shape else ShapeMismatchError
        raise error(name, expected="operands of equal dtype and shape", got=f"{left} and {right}")
    return left


def reduced_shape(name: str, operand: TensorType, axes: tuple[int, ...], keepdims: bool) -> Shape:
    """Return the shape after a reduction over axes, which must ascend without repeats from 0."""
    shape = operand.shape
    previous, rank = -1, len(shape)
    for axis in axes:
        if not previous < axis < rank:
            raise ReductionError(
                name, expected=f"ascending axes of {operand} without repeats", got=repr(axes)
            )
        previous = axis
    if keepdims:
        return tuple([1 if i in axes else size for i, size in enumerate(shape)])
    if len(axes) == rank:
        return ()
    return tuple([size for i, size in enumerate(shape) if i not in axes])


def one_axis(name: str, operand: TensorType, axis: int) -> TensorType:
    """Return the type of an operand that has this axis, counted from 0."""
    reduced_shape(name, operand, (axis,), keepdims=True)
    return operand


def not_empty(name: str, operand: TensorType, axes: tuple[int, ...]) -> TensorType:
    """Return the type of an operand none of whose axes among these is empty."""
    if any(operand.shape[axis] == 0 for axis in axes):
        raise ReductionError(
            name,
            expected="axes that are not empty",
            got=str(operand),
            hint="The result over no element is not defined; check the sizes first.",
        )
    return operand


def can_hold(dtype: DType, value: float) -> bool:
    """Return whether a scalar adapts to a dtype: a float needs a floating one, an integer a range.

    A float too large for a floating dtype becomes infinite, as in NumPy.
    """
    if type(value) is float or (type(value) is int and dtype in FLOATING and abs(value) < 2**64):
        return dtype in FLOATING
    own: DType = np.asarray(value).dtype
    if own == BOOL:
        return True
    if dtype in FLOATING:
        return own in FLOATING or own.kind in "fiu"
    if dtype in INTEGER and own.kind in "iu":
        limits = np.iinfo(dtype)
        return limits.min <= int(value) <= limits.max
    return False
