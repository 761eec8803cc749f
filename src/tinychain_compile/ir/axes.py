"""Axes and shapes as users write them: negative axes, broadcasting."""

from __future__ import annotations

from operator import index
from typing import SupportsIndex, TypeAlias, cast

from tinychain_compile.errors import BroadcastShapeError, ReductionError, ShapeMismatchError
from tinychain_compile.ir.dimensions import Dimension, Shape
from tinychain_compile.ir.types import TensorType

Axes: TypeAlias = int | tuple[int, ...] | list[int] | None
"""One axis, several, or all; negative ones count from the end."""


def broadcast_shapes(left: Shape, right: Shape) -> Shape:
    """Return the shape two shapes broadcast to.

    Raises:
        BroadcastShapeError: Two sizes differ and neither is 1.
    """
    if left == right or not right:
        return left
    if not left:
        return right
    rank = max(len(left), len(right))
    padded_left = (1,) * (rank - len(left)) + left
    padded_right = (1,) * (rank - len(right)) + right
    shape: list[Dimension] = []
    for a, b in zip(padded_left, padded_right, strict=True):
        if a != b and a != 1 and b != 1:
            raise BroadcastShapeError(
                "broadcast",
                expected="sizes, aligned at the last axis, that are equal or 1",
                got=f"{left} and {right}",
                hint="Add an axis of size 1 with x[:, None], or check the order of the axes.",
            )
        shape.append(b if a == 1 else a)
    return tuple(shape)


def normalize_axis(
    axis: object,
    of: TensorType,
    error: type[ShapeMismatchError] = ReductionError,
    rank: int | None = None,
) -> int:
    """Return an axis counted from 0.

    Raises:
        ShapeMismatchError: The axis is out of range; of the class that was given.
    """
    rank = of.rank if rank is None else rank
    try:
        number = index(cast(SupportsIndex, axis))
    except TypeError:
        raise error("axis", expected="an integer", got=repr(axis)) from None
    if not -rank <= number < rank:
        raise error("axis", expected=f"one from {-rank} to {rank - 1} for {of}", got=str(number))
    return number % rank


def normalize_axes(axis: Axes, of: TensorType) -> tuple[int, ...]:
    """Return axes ascending, counted from 0.

    Raises:
        ReductionError: An axis is out of range or repeated.
    """
    if axis is None:
        return tuple(range(of.rank))
    if not isinstance(axis, (tuple, list)):
        return (normalize_axis(axis, of),)
    axes = [normalize_axis(a, of) for a in axis]
    if len(set(axes)) != len(axes):
        raise ReductionError("axis", expected="each axis once", got=repr(axis))
    return tuple(sorted(axes))
