"""What an index means: ``x[1:, None, ..., i]`` as slices, reversals, new axes and positions.

Pure: from a key and a shape to a plan, which the tensor carries out.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index as as_index
from typing import Any, NamedTuple, SupportsIndex, cast

import numpy as np

from tinychain_compile.errors import (
    IndexOutOfRangeError,
    ShapeMismatchError,
    UnsupportedFunctionError,
)
from tinychain_compile.ir.dimensions import Dimension, Shape
from tinychain_compile.ir.dtypes import BOOL

_NEW = object()
"""Stands for a new axis among the axes of a plan."""


class IndexPlan(NamedTuple):
    """How to carry out an index.

    Attributes:
        start: Of the slice along each axis of the operand, counted from 0.
        stop: Of the slice along each axis.
        step: Of the slice along each axis, from 1.
        reversed_axes: The axes to reverse after slicing.
        shape: The shape after axes of integers are gone and new ones stand.
        positions: Axes of ``shape``, ascending, and the integer array or tensor that indexes each.
    """

    start: tuple[int, ...]
    stop: Shape
    step: tuple[int, ...]
    reversed_axes: tuple[int, ...]
    shape: Shape
    positions: tuple[tuple[int, Any], ...]


def plan_index(key: object, shape: Shape, is_tensor: Callable[[object], bool]) -> IndexPlan:
    """Return what a key means for a tensor of this shape.

    Args:
        key: What stands in the brackets.
        shape: The tensor's shape.
        is_tensor: Tells traced tensors from everything else.

    Raises:
        ShapeMismatchError: Too many indices, or one out of range.
        UnsupportedFunctionError: A mask, or something that is no index.
    """
    keys = _expanded(key, shape, is_tensor)
    start: list[int] = []
    stop: list[Dimension] = []
    step: list[int] = []
    reversed_axes: list[int] = []
    result: list[Dimension] = []
    positions: list[tuple[int, Any]] = []
    for item in keys:
        if item is _NEW:
            result.append(1)
            continue
        axis = len(start)
        size = shape[axis]
        if isinstance(item, slice):
            first, last, stride, is_reversed, length = _slice(cast(Any, item), size, axis)
            if is_reversed:
                reversed_axes.append(axis)
            result.append(length)
        elif is_tensor(item) or isinstance(item, (list, np.ndarray)):
            first, last, stride = 0, size, 1
            positions.append((len(result), _positions(item, size, axis, is_tensor)))
            result.append(size)
        else:
            first = _position(item, size, axis)
            last, stride = first + 1, 1
        start.append(first)
        stop.append(last)
        step.append(stride)
    return IndexPlan(
        tuple(start),
        tuple(stop),
        tuple(step),
        tuple(reversed_axes),
        tuple(result),
        tuple(positions),
    )


def _expanded(key: object, shape: Shape, is_tensor: Callable[[object], bool]) -> list[object]:
    """Return the key with an entry for each axis: the ellipsis and what is left out written out."""
    given = list(cast(tuple[object, ...], key)) if isinstance(key, tuple) else [key]
    dots = [i for i, item in enumerate(given) if item is Ellipsis]
    used = sum(1 for item in given if item is not None and item is not Ellipsis)
    if len(dots) > 1 or used > len(shape):
        raise IndexOutOfRangeError(
            "index",
            expected=f"at most {len(shape)} indices and one ellipsis for the shape {shape}",
            got=f"{used} indices and {len(dots)} ellipses",
        )
    rest: list[object] = [slice(None)] * (len(shape) - used)
    place = dots[0] if dots else len(given)
    keys = [*given[:place], *rest, *given[place + 1 :]]
    keys = [_NEW if item is None else item for item in keys]
    return _with_paired_integers(keys, is_tensor)


def _with_paired_integers(keys: list[object], is_tensor: Callable[[object], bool]) -> list[object]:
    """Return integers as arrays where NumPy pairs them with arrays that stand apart from them."""

    def is_array(item: object) -> bool:
        return is_tensor(item) or isinstance(item, (list, np.ndarray))

    places = [i for i, item in enumerate(keys) if item is not _NEW and not isinstance(item, slice)]
    if not any(map(is_array, keys)) or places[-1] - places[0] + 1 == len(places):
        return keys
    return [
        np.asarray(item) if i in places and not is_array(item) else item
        for i, item in enumerate(keys)
    ]


def _slice(item: slice, size: Dimension, axis: int) -> tuple[int, Dimension, int, bool, Dimension]:
    """Return start, stop and step from 1, whether to reverse, and the length."""
    for bound in (item.start, item.stop, item.step):
        if bound is not None and not hasattr(bound, "__index__"):
            raise ShapeMismatchError(
                "index", expected="slices between integers", got=f"{item} on axis {axis}"
            )
    if item.step == 0:
        raise ShapeMismatchError("index", expected="a step that is not 0", got=f"{item}")
    if isinstance(size, int):
        first, last, stride = item.indices(size)
        length = len(range(first, last, stride))
        if stride > 0:
            return first, max(first, last), stride, False, length
        lowest = first + stride * (length - 1)
        return (lowest, first + 1, -stride, True, length) if length else (0, 0, 1, False, 0)
    first = 0 if item.start is None else as_index(item.start)
    if first >= 0 and item.stop is None and item.step in (None, 1):
        return first, size, 1, False, size + -first
    if item == slice(None, None, -1):
        return 0, size, 1, True, size
    if (
        first >= 0
        and item.stop is not None
        and as_index(item.stop) >= first
        and (item.step is None or item.step > 0)
    ):
        stride = 1 if item.step is None else as_index(item.step)
        last = as_index(item.stop)
        return first, last, stride, False, -((first - last) // stride)
    raise ShapeMismatchError(
        "index",
        expected=f"a slice counted from the start, since axis {axis} has the symbolic size {size}",
        got=str(item),
        hint="Reverse the axis with x[::-1] first, or declare its size.",
    )


def _position(item: object, size: Dimension, axis: int) -> int:
    """Return an integer index counted from 0."""
    if isinstance(item, (bool, np.bool_)):
        raise _mask_error(repr(cast(object, item)))
    try:
        number = as_index(cast(SupportsIndex, item))
    except TypeError:
        raise UnsupportedFunctionError(
            "indexing",
            expected="integers, slices, None, ... and integer arrays",
            got=repr(item),
            hint="Use np.take(x, indices, axis) or np.take_along_axis(x, indices, axis).",
        ) from None
    if not isinstance(size, int):
        if number >= 0:
            return number
        raise ShapeMismatchError(
            "index",
            expected=f"a position counted from the start, since axis {axis} has the symbolic size "
            f"{size}",
            got=str(number),
            hint="Reverse the axis with x[::-1] first.",
        )
    _check_range(number, number, size, axis)
    return number % size


def _positions(item: Any, size: Dimension, axis: int, is_tensor: Callable[[object], bool]) -> Any:
    """Return integer positions; those that are known now are checked and counted from 0."""
    if is_tensor(item):
        if item.dtype == BOOL:
            raise _mask_error(repr(item))
        return item
    array = np.asarray(item)
    if array.size == 0 and isinstance(item, list):
        array = array.astype(np.int64)
    if array.dtype == BOOL:
        raise _mask_error("a boolean array")
    if array.dtype.kind not in "iu":
        raise UnsupportedFunctionError(
            "indexing", expected="an array of integers", got=f"one of {array.dtype}"
        )
    if isinstance(size, int) and array.size:
        _check_range(int(array.min()), int(array.max()), size, axis)
        array = np.where(array < 0, array + size, array)
    return array


def _check_range(smallest: int, largest: int, size: int, axis: int) -> None:
    if not -size <= smallest <= largest < size:
        wrong = smallest if smallest < -size else largest
        raise IndexOutOfRangeError(
            "index",
            expected=f"a position from {-size} to {size - 1} on axis {axis}, of size {size}",
            got=str(wrong),
        )


def _mask_error(got: str) -> UnsupportedFunctionError:
    return UnsupportedFunctionError(
        "indexing with a boolean mask",
        expected="an index whose result has a shape that does not depend on elements",
        got=got,
        hint="Choose with np.where(mask, x, 0.0), and sum that.",
    )
