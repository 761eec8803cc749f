"""Checks that many operators' type rules share."""

from __future__ import annotations

from tinychain_compile.errors import DtypeMismatchError, ReductionError, ShapeMismatchError
from tinychain_compile.ir.dimensions import Shape
from tinychain_compile.ir.dtypes import BOOL, FLOATING, INTEGER
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
    if operand.dtype == BOOL:
        raise DtypeMismatchError(
            name,
            expected="a numeric tensor",
            got=str(operand),
            hint="Convert it with .astype(...) first.",
        )
    return operand


def integer(name: str, operand: TensorType) -> TensorType:
    """Return the type of an integer operand."""
    if operand.dtype not in INTEGER:
        raise DtypeMismatchError(name, expected="an integer tensor", got=str(operand))
    return operand


def same(name: str, left: TensorType, right: TensorType) -> TensorType:
    """Return the one type of two operands."""
    if left != right:
        error = DtypeMismatchError if left.shape == right.shape else ShapeMismatchError
        raise error(name, expected="operands of equal dtype and shape", got=f"{left} and {right}")
    return left


def reduced_shape(name: str, operand: TensorType, axes: tuple[int, ...], keepdims: bool) -> Shape:
    """Return the shape after a reduction over axes, which must ascend without repeats from 0."""
    if any(not 0 <= axis < operand.rank for axis in axes) or list(axes) != sorted(set(axes)):
        raise ReductionError(
            name, expected=f"ascending axes of {operand} without repeats", got=repr(axes)
        )
    if keepdims:
        return tuple(1 if i in axes else d for i, d in enumerate(operand.shape))
    return tuple(d for i, d in enumerate(operand.shape) if i not in axes)
