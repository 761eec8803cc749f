"""Functions that move elements: shapes, orders, parts, and what is put together of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import index as as_index
from typing import cast

import numpy as np

from tinychain_compile.errors import ShapeMismatchError
from tinychain_compile.ir.axes import Axes, broadcast_shapes, normalize_axes, normalize_axis
from tinychain_compile.ir.dimensions import Dimension, Shape
from tinychain_compile.ir.dtypes import BOOL, I64, promote
from tinychain_compile.namespace.elementwise import where
from tinychain_compile.namespace.operands import Operand, first_tensor
from tinychain_compile.operators import Concat, Gather, Iota, Reverse
from tinychain_compile.tensor import Tensor, is_scalar


def reshape(x: Operand, /, shape: Shape | Dimension, *, copy: bool | None = None) -> Tensor:
    """Return the same elements in another shape, of which one size may be -1."""
    del copy
    return first_tensor(x).reshape(shape)


def permute_dims(x: Operand, /, axes: tuple[int, ...]) -> Tensor:
    """Return the axes in another order."""
    return first_tensor(x).transpose(axes)


def matrix_transpose(x: Operand, /) -> Tensor:
    """Return the last two axes exchanged."""
    return first_tensor(x).mT


def moveaxis(x: Operand, source: Axes, destination: Axes, /) -> Tensor:
    """Return axes moved to other places, the rest in order."""
    z = first_tensor(x)
    from_axes, to_axes = (
        [normalize_axis(a, z.type) for a in (axis if isinstance(axis, (tuple, list)) else [axis])]
        for axis in (source, destination)
    )
    if len(from_axes) != len(to_axes) or len(set(from_axes)) != len(from_axes):
        raise ShapeMismatchError(
            "moveaxis",
            expected="as many different sources as destinations",
            got=f"{source} and {destination}",
        )
    order = [axis for axis in range(z.ndim) if axis not in from_axes]
    for place, axis in sorted(zip(to_axes, from_axes, strict=True)):
        order.insert(place, axis)
    return z.transpose(order)


def broadcast_to(x: Operand, /, shape: Shape) -> Tensor:
    """Return ``x`` repeated to a shape."""
    return first_tensor(x).broadcast_to(tuple(shape))


def broadcast_arrays(*arrays: Operand) -> list[Tensor]:
    """Return all operands repeated to one shape."""
    context = first_tensor(*arrays)
    tensors = [context.lift(x) for x in arrays]
    shape: Shape = ()
    for tensor in tensors:
        shape = broadcast_shapes(shape, tensor.shape)
    return [tensor.broadcast_to(shape) for tensor in tensors]


def expand_dims(x: Operand, /, *, axis: int | tuple[int, ...] = 0) -> Tensor:
    """Return new axes of size 1 at these positions of the result."""
    return first_tensor(x).expand_dims(axis)


def squeeze(x: Operand, /, axis: Axes) -> Tensor:
    """Return ``x`` without these axes, all of size 1."""
    return first_tensor(x).squeeze(axis)


# Put together, taken apart.


def concat(arrays: Sequence[Operand], /, *, axis: int | None = 0) -> Tensor:
    """Return tensors one after another along an axis; all elements in one row if it is None."""
    tensors = _of_one_dtype("concat", arrays)
    if axis is None:
        tensors, axis = [tensor.ravel() for tensor in tensors], 0
    number = normalize_axis(axis, tensors[0].type)
    first, *others = tensors
    return first.emit(Concat(number), *others) if others else first


def stack(arrays: Sequence[Operand], /, *, axis: int = 0) -> Tensor:
    """Return tensors of one shape side by side along a new axis."""
    tensors = _of_one_dtype("stack", arrays)
    shapes = {tensor.shape for tensor in tensors}
    if len(shapes) != 1:
        raise ShapeMismatchError(
            "stack", expected="tensors of one shape", got=", ".join(map(str, shapes))
        )
    number = normalize_axis(axis, tensors[0].type, rank=tensors[0].ndim + 1)
    return concat([tensor.expand_dims(number) for tensor in tensors], axis=number)


def _of_one_dtype(name: str, arrays: object) -> list[Tensor]:
    if isinstance(arrays, Tensor):
        return list(arrays)
    given = list(cast(Sequence[Operand], arrays))
    if not given:
        raise ShapeMismatchError(name, expected="at least one tensor", got="an empty sequence")
    context = first_tensor(*given)
    dtype = context.dtype
    for x in given:
        if not is_scalar(x):
            dtype = promote(dtype, context.lift(x).dtype)
    return [
        context.literal(x, dtype) if is_scalar(x) else context.lift(x).astype(dtype) for x in given
    ]


def unstack(x: Operand, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """Return the parts along an axis, which must have a known size."""
    z = first_tensor(x)
    return tuple(moveaxis(z, axis, 0))


def split(x: Operand, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Tensor]:
    """Return an axis cut into equal parts, or cut before these positions."""
    z = first_tensor(x)
    number = normalize_axis(axis, z.type)
    size = z.shape[number]
    if not isinstance(size, int):
        raise ShapeMismatchError("split", expected="an axis of known size", got=str(z.type))
    if isinstance(indices_or_sections, int):
        if indices_or_sections < 1 or size % indices_or_sections:
            raise ShapeMismatchError(
                "split", expected=f"a divisor of {size}", got=str(indices_or_sections)
            )
        width = size // indices_or_sections
        bounds = list(range(0, size + 1, width)) if width else [0] * (indices_or_sections + 1)
    else:
        cuts = [slice(as_index(cut)).indices(size)[1] for cut in indices_or_sections]
        bounds = [0, *cuts, size]
    return [z.slice_axis(number, start, max(start, stop)) for start, stop in pairwise(bounds)]


# Order.


def flip(x: Operand, /, *, axis: Axes = None) -> Tensor:
    """Return the elements in opposite order along axes."""
    z = first_tensor(x)
    axes = normalize_axes(axis, z.type)
    return z.emit(Reverse(axes)) if axes else z


def roll(x: Operand, /, shift: int | tuple[int, ...], *, axis: Axes = None) -> Tensor:
    """Return the elements moved on by ``shift``, those that leave coming in on the other side."""
    z = first_tensor(x)
    if axis is None:
        return roll(z.ravel(), shift, axis=0).reshape(z.shape)
    axes = [
        normalize_axis(a, z.type) for a in (axis if isinstance(axis, (tuple, list)) else [axis])
    ]
    shifts = list(shift) if isinstance(shift, tuple) else [shift] * len(axes)
    for number, by in zip(axes, shifts, strict=True):
        size = z.shape[number]
        if not isinstance(size, int):
            raise ShapeMismatchError("roll", expected="an axis of known size", got=str(z.type))
        cut = size - by % size if size else 0
        if 0 < cut < size:
            tail, head = z.slice_axis(number, cut, size), z.slice_axis(number, 0, cut)
            z = tail.emit(Concat(number), head)
    return z


def repeat(x: Operand, repeats: object, /, *, axis: int | None = None) -> Tensor:
    """Return each element ``repeats`` times, one after another."""
    z = first_tensor(x)
    if not isinstance(repeats, int):
        z.refuse("repeat with a number for each element", "Use np.take with an array of positions.")
    if axis is None:
        z, axis = z.ravel(), 0
    number = normalize_axis(axis, z.type)
    wide = z.expand_dims(number + 1)
    wide = wide.broadcast_to((*z.shape[: number + 1], repeats, *z.shape[number + 1 :]))
    return wide.reshape((*z.shape[:number], z.shape[number] * repeats, *z.shape[number + 1 :]))


def tile(x: Operand, repetitions: int | tuple[int, ...], /) -> Tensor:
    """Return the whole tensor repeated along each axis."""
    z = first_tensor(x)
    counts = repetitions if isinstance(repetitions, tuple) else (repetitions,)
    rank = max(z.ndim, len(counts))
    counts = (1,) * (rank - len(counts)) + counts
    shape = (1,) * (rank - z.ndim) + z.shape
    wide = z.reshape(tuple(part for size in shape for part in (1, size)))
    wide = wide.broadcast_to(tuple(d for pair in zip(counts, shape, strict=True) for d in pair))
    return wide.reshape(tuple(size * n for size, n in zip(shape, counts, strict=True)))


def pad(x: Operand, pad_width: object, *, constant_values: float = 0) -> Tensor:
    """Return the tensor with numbers before and after each axis.

    ``pad_width`` is one number, a pair, or a pair for each axis.
    """
    z = first_tensor(x)
    widths = np.broadcast_to(np.asarray(pad_width), (z.ndim, 2)).tolist()
    if any(width < 0 for pair in widths for width in pair):
        raise ShapeMismatchError("pad", expected="widths from 0", got=repr(pad_width))
    value = constant_values if z.type.is_floating else int(constant_values)
    low, high = [pair[0] for pair in widths], [pair[1] for pair in widths]
    return z.pad(low, high, value=value)


# Triangles.


def tril(x: Operand, /, *, k: int = 0) -> Tensor:
    """Return the elements on and below a diagonal of the last two axes, 0 above it."""
    return _triangle(first_tensor(x), k, is_lower=True)


def triu(x: Operand, /, *, k: int = 0) -> Tensor:
    """Return the elements on and above a diagonal of the last two axes, 0 below it."""
    return _triangle(first_tensor(x), k, is_lower=False)


def _triangle(z: Tensor, k: int, *, is_lower: bool) -> Tensor:
    if z.ndim < 2:
        raise ShapeMismatchError("triangle", expected="a matrix or a stack", got=str(z.type))
    matrix = z.shape[-2:]
    rows, columns = (z.emit_literal(Iota(matrix, axis)) for axis in (0, 1))
    keep = columns - k <= rows if is_lower else rows <= columns - k
    return where(keep, z, False if z.dtype is BOOL else 0)


# Indexing.


def take(x: Operand, indices: Operand, /, *, axis: int | None = None) -> Tensor:
    """Return whole slices of ``x`` at integer indices along one axis."""
    context = first_tensor(x, indices)
    table = context.lift(x)
    if axis is None:
        table, axis = table.ravel() if table.ndim != 1 else table, 0
    number = normalize_axis(axis, table.type)
    if isinstance(indices, Tensor):
        return table.emit(Gather(number), indices)
    return table[(*(slice(None),) * number, np.asarray(indices))]


def take_along_axis(x: Operand, indices: Operand, /, *, axis: int = -1) -> Tensor:
    """Return one element of ``x`` for each integer index along one axis."""
    context = first_tensor(x, indices)
    table = context.lift(x)
    positions = context.literal(indices, I64) if is_scalar(indices) else context.lift(indices)
    number = normalize_axis(axis, table.type)
    if table.ndim == positions.ndim:
        before = broadcast_shapes(table.shape[:number], positions.shape[:number])
        after = broadcast_shapes(table.shape[number + 1 :], positions.shape[number + 1 :])
        table = table.broadcast_to((*before, table.shape[number], *after))
        positions = positions.broadcast_to((*before, positions.shape[number], *after))
    return table.emit(Gather(number, along=True), positions)


def meshgrid(*arrays: Operand, indexing: str = "xy") -> list[Tensor]:
    """Return the coordinates of a grid, each as a tensor over the whole grid."""
    context = first_tensor(*arrays)
    axes = [context.lift(x).ravel() for x in arrays]
    rank = len(axes)
    order = list(range(rank))
    if indexing == "xy" and rank > 1:
        order[0], order[1] = 1, 0
    placed = [
        axis.reshape((1,) * place + (axis.size,) + (1,) * (rank - place - 1))
        for axis, place in zip(axes, order, strict=True)
    ]
    return broadcast_arrays(*placed)
