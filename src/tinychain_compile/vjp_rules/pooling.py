"""Derivatives of reductions over windows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tinychain_compile import namespace as xp
from tinychain_compile.ir.dimensions import Dimension
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Slice, WindowMax, WindowMaxGradient, WindowSum
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor
from tinychain_compile.vjp_rules.statements import Kink


def window_max(op: WindowMax, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g`` to the first of the largest of each window."""
    return (x.emit(WindowMaxGradient(op.window, op.strides, op.padding), g),)


def window_max_gradient(
    op: WindowMaxGradient, h: Tensor, y: Tensor, x: Tensor, g: Tensor
) -> tuple[Tensor, Tensor]:
    """Nothing to the image, whose order alone counts; to ``g``, what stands where it went."""
    padded = x.pad(*_amounts(op), value=-float("inf"))
    cotangent = h.pad(*_amounts(op))
    largest = x.emit(WindowMax(op.window, op.strides, op.padding))
    result, is_open = g.full(0.0), xp.equal(g.full(0.0), 0.0)
    for part in _window_slices(op, padded, g):
        wins = is_open & ~(padded.emit(part) < largest)
        result = xp.where(wins, cotangent.emit(part), result)
        is_open = is_open & ~wins
    return x.full(0.0), result


def window_sum(op: WindowSum, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g`` to each element of each window: the sum over the windows that an element is in."""
    low: list[Dimension] = [0, 0]
    high: list[Dimension] = [0, 0]
    for axis, (window, stride, (before, _)) in enumerate(
        zip(op.window, op.strides, op.padding, strict=True), start=2
    ):
        spread = (g.shape[axis] + -1) * stride + 1
        low.append(window - 1 - before)
        high.append(x.shape[axis] + before + spread * -1)
    wide = g.pad(low, high, (0, 0, *(stride - 1 for stride in op.strides)))
    spatial = len(op.window)
    return (wide.emit(WindowSum(op.window, (1,) * spatial, ((0, 0),) * spatial)),)


def _amounts(op: WindowMaxGradient) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return (0, 0, *(low for low, _ in op.padding)), (0, 0, *(high for _, high in op.padding))


def _window_slices(op: WindowMaxGradient, padded: Tensor, g: Tensor) -> Iterator[Slice]:
    """Return, for each place in a window, the slice of that place in all windows."""
    counts = g.shape[2:]
    for offset in product(*map(range, op.window)):
        stop = [o + (n + -1) * s + 1 for o, n, s in zip(offset, counts, op.strides, strict=True)]
        yield Slice((0, 0, *offset), (*padded.shape[:2], *stop), (1, 1, *op.strides))


RULES: dict[type[Operator], VJPRule] = {
    WindowMax: window_max,
    WindowMaxGradient: window_max_gradient,
    WindowSum: window_sum,
}

KINKS: dict[type[Operator], tuple[Kink, ...]] = {
    WindowMax: (Kink("max pooling over ties", "all to the first", "JAX and PyTorch alike"),),
}
