"""Parts of a tensor through selectors: axes that change are read at, or added to, positions."""

from __future__ import annotations

import numpy as np

from tinychain_compile import namespace as xp
from tinychain_compile.ir.dimensions import Dimension
from tinychain_compile.ir.dtypes import BOOL, I32, I64
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Concat, Gather, Iota, Pad, Reverse, ScatterAdd, Slice
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def slice_(op: Slice, x: Tensor) -> Tensor:
    """A gather for each axis that is cut."""
    for axis, (start, stop, step) in enumerate(zip(op.start, op.stop, op.step, strict=True)):
        if start == 0 and step == 1 and stop == x.shape[axis]:
            continue
        size: Dimension = (
            -((start - stop) // step)
            if isinstance(start, int) and isinstance(stop, int)
            else stop + start * -1
        )
        x = x.emit(Gather(axis), _places(x, start, step, size))
    return x


def reverse(op: Reverse, x: Tensor) -> Tensor:
    """A gather for each axis, from its end."""
    for axis in op.axes:
        size = x.shape[axis]
        x = x.emit(Gather(axis), _places(x, size + -1, -1, size))
    return x


def pad(op: Pad, x: Tensor) -> Tensor:
    """What is cut off first; then, for each axis, elements added at their new positions.

    Where nothing was added the value stands: a scatter of ones says where.
    """
    if x.dtype == BOOL:
        numbers = x.astype(I32).emit(Pad(op.low, op.high, op.interior, int(op.value)))
        return numbers.astype(BOOL)
    for axis, (low, high, gap) in enumerate(zip(op.low, op.high, op.interior, strict=True)):
        x = _padded(x, axis, low, high, gap, op.value)
    return x


def _padded(
    x: Tensor, axis: int, low: Dimension, high: Dimension, gap: int, value: float
) -> Tensor:
    size = x.shape[axis]
    wide = size if size == 0 or not gap else size + (size + -1) * gap
    if gap and size != 0:
        x = _scattered(x, axis, 0, gap + 1, wide, value)
    first = low * -1 if _is_negative(low) else 0
    last = wide + high if _is_negative(high) else wide
    if first != 0 or last != wide:
        x = x.slice_axis(axis, first, last)
    before, after = 0 if _is_negative(low) else low, 0 if _is_negative(high) else high
    if before == 0 and after == 0:
        return x
    return _scattered(x, axis, before, 1, x.shape[axis] + before + after, value)


def _is_negative(amount: Dimension) -> bool:
    """Return whether an amount cuts off; a symbolic one does if all its terms do."""
    if isinstance(amount, int):
        return amount < 0
    return all(coefficient < 0 for _, coefficient in amount.terms)


def _scattered(
    x: Tensor, axis: int, start: Dimension, step: int, wide: Dimension, value: float
) -> Tensor:
    """Return elements at positions ``start + i * step`` of a wider axis, the value elsewhere."""
    size = x.shape[axis]
    if size == 0:
        shape = (*x.shape[:axis], wide, *x.shape[axis + 1 :])
        return x.literal(value, x.dtype).broadcast_to(shape)
    places = _places(x, start, step, size)
    spread = x.emit(ScatterAdd(axis, wide), places)
    if value == 0:
        return spread
    row = tuple(size if i == axis else 1 for i in range(x.ndim))
    ones = x.literal(1, I32).broadcast_to(row).emit(ScatterAdd(axis, wide), places)
    return xp.where(ones > 0, spread, value)


def concat(op: Concat, first: Tensor, *others: Tensor) -> Tensor:
    """Each operand padded to the whole width, chosen by position."""
    operands = (first, *others)
    if first.dtype == BOOL:
        head, *rest = (x.astype(I32) for x in operands)
        return head.emit(op, *rest).astype(BOOL)
    total: Dimension = 0
    for x in operands:
        total = total + x.shape[op.axis]
    row = tuple(total if i == op.axis else 1 for i in range(first.ndim))
    place = first.emit_literal(Iota(row, op.axis))
    result: Tensor | None = None
    end: Dimension = total
    for x in reversed(operands):
        start = end + x.shape[op.axis] * -1
        low = [start if i == op.axis else 0 for i in range(x.ndim)]
        high = [total + end * -1 if i == op.axis else 0 for i in range(x.ndim)]
        wide = x.pad(low, high)
        limit = place.size_literal(end)
        result = wide if result is None else xp.where(place < limit, wide, result)
        end = start
    assert result is not None
    return result


def _places(x: Tensor, start: Dimension, step: int, size: Dimension) -> Tensor:
    """Return the positions ``start + i * step``; an array if all are numbers."""
    if isinstance(start, int) and isinstance(size, int):
        return x.literal(start + step * np.arange(size, dtype=np.int64))
    place = x.emit_literal(Iota((size,), 0, I64)) * step
    return place + place.size_literal(start)


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {
    Slice: slice_,
    Reverse: reverse,
    Pad: pad,
    Concat: concat,
}
