"""Reductions over windows as a fold over strided slices, one for each place of the window."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tinychain_compile import namespace as xp
from tinychain_compile.ir.dimensions import Dimension
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Slice, WindowMax, WindowMaxGradient, WindowSum
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def window_max(op: WindowMax, x: Tensor) -> Tensor:
    """The larger of what was found so far and the next place."""
    parts = _parts(op, x, -float("inf"))
    result = next(parts)
    for part in parts:
        result = xp.maximum(result, part)
    return result


def window_sum(op: WindowSum, x: Tensor) -> Tensor:
    """What was found so far, and the next place."""
    parts = _parts(op, x, 0.0)
    result = next(parts)
    for part in parts:
        result = result + part
    return result


def window_max_gradient(op: WindowMaxGradient, x: Tensor, g: Tensor) -> Tensor:
    """For each place: the cotangents of the windows whose first largest it is, spread back."""
    largest = x.emit(WindowMax(op.window, op.strides, op.padding))
    is_open = xp.equal(g.full(0.0), 0.0)
    total: Tensor | None = None
    counts = g.shape[2:]
    for place, part in zip(_places(op), _parts(op, x, -float("inf")), strict=True):
        wins = is_open & ~(part < largest)
        is_open = is_open & ~wins
        low: list[Dimension] = [0, 0]
        high: list[Dimension] = [0, 0]
        for at, count, stride, size, (before, _) in zip(
            place, counts, op.strides, x.shape[2:], op.padding, strict=True
        ):
            low.append(at - before)
            high.append(size + before + ((count + -1) * stride + 1) * -1 + -at)
        gaps = (0, 0, *(stride - 1 for stride in op.strides))
        spread = xp.where(wins, g, 0.0).pad(low, high, gaps)
        total = spread if total is None else total + spread
    assert total is not None
    return total


def _places(op: WindowMax | WindowMaxGradient | WindowSum) -> Iterator[tuple[int, ...]]:
    return product(*map(range, op.window))


def _parts(
    op: WindowMax | WindowMaxGradient | WindowSum, x: Tensor, value: float
) -> Iterator[Tensor]:
    """Return, for each place of a window, what stands there in all windows."""
    low, high = (tuple(pair[i] for pair in op.padding) for i in (0, 1))
    padded = x.pad((0, 0, *low), (0, 0, *high), value=value)
    counts = op.pooled(x.type).shape[2:]
    for place in _places(op):
        stop = [at + (n + -1) * s + 1 for at, n, s in zip(place, counts, op.strides, strict=True)]
        yield padded.emit(Slice((0, 0, *place), (*padded.shape[:2], *stop), (1, 1, *op.strides)))


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {
    WindowMax: window_max,
    WindowMaxGradient: window_max_gradient,
    WindowSum: window_sum,
}
