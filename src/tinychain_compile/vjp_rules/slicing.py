"""Derivatives of parts put together and apart: slice, pad and concat are each other's."""

from __future__ import annotations

from tinychain_compile.ir.dimensions import Dimension
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Concat, Pad, Reverse, Slice
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor


def slice_(op: Slice, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g``, padded with 0 where elements were left out."""
    high: list[Dimension] = []
    for size, kept, start, step in zip(x.shape, g.shape, op.start, op.step, strict=True):
        covered = 0 if kept == 0 else (kept + -1) * step + 1
        high.append(size + start * -1 + covered * -1)
    return (g.pad(op.start, high, [step - 1 for step in op.step]),)


def pad(op: Pad, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g`` at the places of the operand: the opposite amounts cut off, the gaps left out."""
    low, high = ([amount * -1 for amount in row] for row in (op.low, op.high))
    whole = g.pad(low, high)
    if not any(op.interior):
        return (whole,)
    steps = tuple(gap + 1 for gap in op.interior)
    return (whole.emit(Slice((0,) * x.ndim, whole.shape, steps)),)


def concat(op: Concat, g: Tensor, y: Tensor, *operands: Tensor) -> tuple[Tensor, ...]:
    """The part of ``g`` that came from each operand."""
    start: Dimension = 0
    parts: list[Tensor] = []
    for x in operands:
        stop = start + x.shape[op.axis]
        parts.append(g.slice_axis(op.axis, start, stop))
        start = stop
    return tuple(parts)


def reverse(op: Reverse, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g``, reversed."""
    return (g.emit(op),)


RULES: dict[type[Operator], VJPRule] = {
    Slice: slice_,
    Pad: pad,
    Concat: concat,
    Reverse: reverse,
}
