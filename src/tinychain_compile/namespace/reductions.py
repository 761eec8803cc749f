"""Functions over axes: reductions, running totals, order."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import NoReturn

from tinychain_compile.errors import ReductionError, ShapeMismatchError
from tinychain_compile.ir.axes import Axes, normalize_axes, normalize_axis
from tinychain_compile.ir.dtypes import BOOL, I32, I64
from tinychain_compile.ir.operator import Operator
from tinychain_compile.namespace.elementwise import abs, isnan, where
from tinychain_compile.namespace.movement import concat
from tinychain_compile.namespace.operands import Operand, first_tensor
from tinychain_compile.operators import (
    ArgMax,
    ArgMin,
    ArgSort,
    CumProd,
    CumSum,
    LogSumExp,
    Norm,
    ReduceMin,
    ReduceProd,
    Sort,
    Std,
    TopK,
    Var,
)
from tinychain_compile.tensor import Tensor


def sum(
    x: Operand, /, *, axis: Axes = None, dtype: object = None, keepdims: builtins.bool = False
) -> Tensor:
    """Return the sum over axes, in the dtype of ``x`` unless another is given."""
    return first_tensor(x).sum(axis, keepdims, dtype)


def mean(x: Operand, /, *, axis: Axes = None, keepdims: builtins.bool = False) -> Tensor:
    """Return the mean over axes."""
    return first_tensor(x).mean(axis, keepdims)


def max(x: Operand, /, *, axis: Axes = None, keepdims: builtins.bool = False) -> Tensor:
    """Return the largest over axes, NaN where one is NaN."""
    return first_tensor(x).max(axis, keepdims)


def min(x: Operand, /, *, axis: Axes = None, keepdims: builtins.bool = False) -> Tensor:
    """Return the smallest over axes, NaN where one is NaN."""
    z = first_tensor(x)
    if z.dtype is BOOL:
        return all(z, axis=axis, keepdims=keepdims)
    axes = normalize_axes(axis, z.type)
    return z.emit(ReduceMin(axes, keepdims)) if axes else z


def prod(
    x: Operand, /, *, axis: Axes = None, dtype: object = None, keepdims: builtins.bool = False
) -> Tensor:
    """Return the product over axes; its derivative is exact where elements are 0."""
    z = first_tensor(x)
    z = z if dtype is None else z.astype(dtype)
    z = z.astype(I64) if z.dtype is BOOL else z
    axes = normalize_axes(axis, z.type)
    return z.emit(ReduceProd(axes, keepdims)) if axes else z


def all(x: Operand, /, *, axis: Axes = None, keepdims: builtins.bool = False) -> Tensor:
    """Return whether every element holds."""
    z = first_tensor(x)
    fails = ~z if z.dtype is BOOL else z == 0
    return fails.astype(I32).sum(axis, keepdims) == 0


def any(x: Operand, /, *, axis: Axes = None, keepdims: builtins.bool = False) -> Tensor:
    """Return whether one element holds at least."""
    return count_nonzero(x, axis=axis, keepdims=keepdims) > 0


def isin(x1: Operand, x2: Operand, /, *, invert: builtins.bool = False) -> Tensor:
    """Return whether each element of ``x1`` is one of ``x2``."""
    context = first_tensor(x1, x2)
    elements, choices = context.lift(x1), context.lift(x2).ravel()
    found = any(elements.expand_dims(elements.ndim) == choices, axis=-1)
    return ~found if invert else found


def count_nonzero(x: Operand, /, *, axis: Axes = None, keepdims: builtins.bool = False) -> Tensor:
    """Return how many elements are not 0."""
    z = first_tensor(x)
    holds = z if z.dtype is BOOL else z != 0
    return holds.sum(axis, keepdims)


def var(
    x: Operand, /, *, axis: Axes = None, correction: float = 0.0, keepdims: builtins.bool = False
) -> Tensor:
    """Return the variance over axes, divided by ``count - correction``."""
    z = first_tensor(x).as_floating()
    return z.emit(Var(normalize_axes(axis, z.type), keepdims, correction))


def std(
    x: Operand, /, *, axis: Axes = None, correction: float = 0.0, keepdims: builtins.bool = False
) -> Tensor:
    """Return the standard deviation over axes; its derivative at equal numbers is 0."""
    z = first_tensor(x).as_floating()
    return z.emit(Std(normalize_axes(axis, z.type), keepdims, correction))


def logsumexp(x: Operand, /, *, axis: Axes = None, keepdims: builtins.bool = False) -> Tensor:
    """Return ``log(sum(exp(x)))`` over axes, without overflow."""
    z = first_tensor(x).as_floating()
    axes = normalize_axes(axis, z.type)
    return z.emit(LogSumExp(axes, keepdims)) if axes else z


def vector_norm(
    x: Operand, /, *, axis: Axes = None, keepdims: builtins.bool = False, ord: float = 2
) -> Tensor:
    """Return the norm over axes: ``sum(abs(x) ** ord) ** (1 / ord)``, and its limits.

    The derivative of the 2-norm at 0 is 0.
    """
    z = first_tensor(x).as_floating()
    axes = normalize_axes(axis, z.type)
    if not axes:
        return abs(z)
    if ord == 2:
        return z.emit(Norm(axes, keepdims))
    if ord == 0:
        return (z != 0).astype(z.dtype).sum(axes, keepdims)
    if ord in (float("inf"), -float("inf")):
        extreme = max if ord > 0 else min
        return extreme(abs(z), axis=axes, keepdims=keepdims)
    if ord == 1:
        return abs(z).sum(axes, keepdims)
    return (abs(z) ** ord).sum(axes, keepdims) ** (1.0 / ord)


def average(x: Operand, axis: Axes = None, weights: Operand | None = None) -> Tensor:
    """Return the mean over axes, weighted if there are weights."""
    if weights is None:
        return mean(x, axis=axis)
    z = first_tensor(x, weights).lift(x)
    w = z.lift(weights)
    if w.ndim == 1 and z.ndim != 1:
        if not isinstance(axis, int):
            raise ReductionError("average", expected="one axis for weights [n]", got=repr(axis))
        kept = [1] * z.ndim
        kept[normalize_axis(axis, z.type)] = -1
        w = w.reshape(kept)
    z, w = z.as_floating().meet(w)
    return (z * w).sum(axis) / w.sum(axis)


# Positions and order.


def argmax(x: Operand, /, *, axis: int | None = None, keepdims: builtins.bool = False) -> Tensor:
    """Return the position of the largest along an axis, the first of several."""
    return _position(ArgMax, x, axis, keepdims)


def argmin(x: Operand, /, *, axis: int | None = None, keepdims: builtins.bool = False) -> Tensor:
    """Return the position of the smallest along an axis, the first of several."""
    return _position(ArgMin, x, axis, keepdims)


def _position(
    operator: Callable[[int], Operator], x: Operand, axis: int | None, keepdims: builtins.bool
) -> Tensor:
    z = first_tensor(x)
    z = z.astype(I32) if z.dtype is BOOL else z
    if axis is None:
        position = z.ravel().emit(operator(0))
        return position.reshape((1,) * z.ndim) if keepdims else position
    number = normalize_axis(axis, z.type)
    position = z.emit(operator(number))
    return position.expand_dims(number) if keepdims else position


def sort(
    x: Operand,
    /,
    *,
    axis: int = -1,
    descending: builtins.bool = False,
    stable: builtins.bool = True,
) -> Tensor:
    """Return the elements in order along an axis."""
    del stable
    z = first_tensor(x)
    return z.emit(Sort(normalize_axis(axis, z.type), descending))


def argsort(
    x: Operand,
    /,
    *,
    axis: int = -1,
    descending: builtins.bool = False,
    stable: builtins.bool = True,
) -> Tensor:
    """Return the positions that put an axis in order, equal elements as they stood."""
    del stable
    z = first_tensor(x)
    return z.emit(ArgSort(normalize_axis(axis, z.type), descending))


def top_k(x: Operand, k: int, /, *, axis: int = -1) -> tuple[Tensor, Tensor]:
    """Return the k largest along an axis, largest first, and their positions."""
    z = first_tensor(x)
    number = normalize_axis(axis, z.type)
    values = z.emit(TopK(number, k))
    return values, z.emit(ArgSort(number, True)).slice_axis(number, 0, k)


def median(x: Operand, axis: int | None = None, keepdims: builtins.bool = False) -> Tensor:
    """Return the middle of the ordered elements, the mean of two where there are two."""
    z = first_tensor(x).as_floating()
    rank = z.ndim
    number = 0 if axis is None else normalize_axis(axis, z.type)
    z = z.ravel() if axis is None else z
    size = z.shape[number]
    if not isinstance(size, int) or not size:
        raise ShapeMismatchError(
            "median", expected="an axis of known size, not empty", got=str(z.type)
        )
    middle = sort(z, axis=number).slice_axis(number, (size - 1) // 2, size // 2 + 1)
    middle = middle.mean(number, keepdims and axis is not None)
    has_nan = any(isnan(z), axis=number, keepdims=keepdims and axis is not None)
    result = where(has_nan, float("nan"), middle)
    return result.reshape((1,) * rank) if keepdims and axis is None else result


# Running totals.


def cumulative_sum(
    x: Operand,
    /,
    *,
    axis: int | None = None,
    dtype: object = None,
    include_initial: builtins.bool = False,
) -> Tensor:
    """Return the sum of all elements up to each one, itself included."""
    return _running(CumSum, x, axis, dtype, include_initial, 0)


def cumulative_prod(
    x: Operand,
    /,
    *,
    axis: int | None = None,
    dtype: object = None,
    include_initial: builtins.bool = False,
) -> Tensor:
    """Return the product of all elements up to each one, itself included."""
    return _running(CumProd, x, axis, dtype, include_initial, 1)


def _running(
    operator: Callable[[int], Operator],
    x: Operand,
    axis: int | None,
    dtype: object,
    include_initial: builtins.bool,
    initial: int,
) -> Tensor:
    z = first_tensor(x)
    z = z if dtype is None else z.astype(dtype)
    z = z.astype(I64) if z.dtype is BOOL else z
    if axis is None:
        if z.ndim != 1 and include_initial:
            raise ReductionError("axis", expected="an axis", got=f"None for {z.type}")
        z, axis = z.ravel(), 0
    number = normalize_axis(axis, z.type)
    total = z.emit(operator(number))
    if not include_initial:
        return total
    low = tuple(1 if i == number else 0 for i in range(z.ndim))
    return total.pad(low, (0,) * z.ndim, value=initial)


def diff(
    x: Operand,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Operand | None = None,
    append: Operand | None = None,
) -> Tensor:
    """Return the differences of neighbours along an axis, ``n`` times over."""
    context = first_tensor(x, prepend, append)
    parts = [context.lift(part) for part in (prepend, x, append) if part is not None]
    number = normalize_axis(axis, parts[0].type)
    z = concat(parts, axis=number)
    for _ in range(n):
        size = z.shape[number]
        if not isinstance(size, int):
            _refuse_symbolic("diff", z)
        if size == 0:
            return z
        z = z.slice_axis(number, 1, size) - z.slice_axis(number, 0, size - 1)
    return z


def _refuse_symbolic(name: str, z: Tensor) -> NoReturn:
    raise ShapeMismatchError(name, expected="an axis of known size", got=str(z.type))


def trace(x: Operand, /, *, offset: int = 0, dtype: object = None) -> Tensor:
    """Return the sum of the diagonal of the last two axes."""
    return diagonal(x, offset=offset).sum(-1, False, dtype)


def diagonal(x: Operand, /, *, offset: int = 0) -> Tensor:
    """Return the diagonal of the last two axes, as the last axis."""
    z = first_tensor(x)
    if z.ndim < 2:
        raise ShapeMismatchError("diagonal", expected="a matrix or a stack", got=str(z.type))
    rows, columns = z.shape[-2:]
    if not isinstance(rows, int) or not isinstance(columns, int):
        _refuse_symbolic("diagonal", z)
    first_row, first_column = builtins.max(-offset, 0), builtins.max(offset, 0)
    length = builtins.max(builtins.min(rows - first_row, columns - first_column), 0)
    start = first_row * columns + first_column
    flat = z.reshape((*z.shape[:-2], rows * columns))
    stop = start + (length - 1) * (columns + 1) + 1 if length else start
    start, stop = (builtins.min(place, rows * columns) for place in (start, stop))
    return flat.slice_axis(flat.ndim - 1, start, stop, columns + 1)


def ptp(x: Operand, axis: Axes = None, keepdims: builtins.bool = False) -> Tensor:
    """Return the distance from the smallest to the largest over axes."""
    return max(x, axis=axis, keepdims=keepdims) - min(x, axis=axis, keepdims=keepdims)
