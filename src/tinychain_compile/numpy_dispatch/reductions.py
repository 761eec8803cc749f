"""NumPy's functions over axes: reductions, order, running totals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tinychain_compile import namespace as xp
from tinychain_compile.errors import UnsupportedFunctionError
from tinychain_compile.ir.axes import Axes
from tinychain_compile.numpy_dispatch.arguments import refuse_arguments
from tinychain_compile.tensor import Tensor


def _reduction(name: str, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a reduction that has a dtype, with NumPy's signature."""

    def reduce(
        a: Tensor,
        axis: Axes = None,
        dtype: object = None,
        out: None = None,
        keepdims: object = False,
        **others: object,
    ) -> Tensor:
        refuse_arguments(name, {"out": out, **others})
        x = a if dtype is None else a.astype(dtype)
        return function(x, axis=axis, keepdims=keepdims is True)

    return reduce


def _extreme(name: str, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a reduction without a dtype, with NumPy's signature."""

    def reduce(
        a: Tensor, axis: Axes = None, out: None = None, keepdims: object = False, **others: object
    ) -> Tensor:
        refuse_arguments(name, {"out": out, **others})
        return function(a, axis=axis, keepdims=keepdims is True)

    return reduce


def _spread(name: str, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def reduce(
        a: Tensor,
        axis: Axes = None,
        dtype: object = None,
        out: None = None,
        ddof: float = 0,
        keepdims: object = False,
        **others: object,
    ) -> Tensor:
        correction = others.pop("correction", None)
        if isinstance(correction, (int, float)):
            ddof = correction
        refuse_arguments(name, {"out": out, **others})
        x = a if dtype is None else a.astype(dtype)
        return function(x, axis=axis, correction=ddof, keepdims=keepdims is True)

    return reduce


def _running(name: str, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def accumulate(
        a: Tensor, axis: int | None = None, dtype: object = None, out: None = None
    ) -> Tensor:
        refuse_arguments(name, {"out": out})
        return function(a.ravel() if axis is None else a, axis=axis or 0, dtype=dtype)

    return accumulate


def _position(name: str, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def position(
        a: Tensor, axis: int | None = None, out: None = None, *, keepdims: object = False
    ) -> Tensor:
        refuse_arguments(name, {"out": out})
        return function(a, axis=axis, keepdims=keepdims is True)

    return position


def _ordered(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def order(a: Tensor, axis: int | None = -1, kind: object = None, **others: object) -> Tensor:
        others.pop("stable", None)
        refuse_arguments("np.sort", {k: v for k, v in others.items() if v is not None})
        return function(a.ravel() if axis is None else a, axis=0 if axis is None else axis)

    return order


def _norm(x: Tensor, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    along: int | tuple[int, ...] | None = axis
    is_matrix = isinstance(along, tuple) or (along is None and x.ndim > 1)
    if ord in (None, "fro") or not is_matrix:
        order = 2 if ord in (None, "fro") else ord
        return xp.vector_norm(x, axis=along, keepdims=keepdims, ord=order)
    axes = along if isinstance(along, tuple) else (0, 1)
    if ord in (1, -1, float("inf"), -float("inf")) and len(axes) == 2:
        rows, columns = axes
        summed, compared = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = xp.abs(x).sum(summed, keepdims=True)
        extreme = xp.max if ord > 0 else xp.min
        result = extreme(sums, axis=compared, keepdims=True)
        return result if keepdims else result.squeeze(axes)
    raise UnsupportedFunctionError(
        f"np.linalg.norm(ord={ord!r}) of a matrix is not supported on traced tensors",
        hint="Use the Frobenius norm, np.linalg.norm(x), or ord 1 or np.inf.",
    )


def _trace(
    a: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: None = None
) -> Tensor:
    refuse_arguments("np.trace", {"out": out})
    return xp.trace(xp.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset, dtype=dtype)


def _diff(a: Any, n: int = 1, axis: int = -1, **ends: Any) -> Tensor:
    given = {k: v for k, v in ends.items() if type(v).__name__ != "_NoValueType"}
    return xp.diff(a, axis=axis, n=n, **given)


def _isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, **kind: Any
) -> Tensor:
    return xp.isin(element, test_elements, invert=invert)


def _average(
    a: Any, axis: Axes = None, weights: Any = None, returned: bool = False, **others: Any
) -> Tensor:
    refuse_arguments("np.average", {**others, **({"returned": True} if returned else {})})
    return xp.average(a, axis, weights)


def _median(
    a: Tensor,
    axis: int | None = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Tensor:
    refuse_arguments("np.median", {"out": out})
    return xp.median(a, axis, keepdims)


def _nan_reduction(function: Callable[..., Tensor], fill: float) -> Callable[..., Tensor]:
    def reduce(a: Tensor, axis: Axes = None, *args: Any, **others: Any) -> Tensor:
        return function(xp.where(xp.isnan(a), fill, a), axis, *args, **others)

    return reduce


def _nanmean(
    a: Tensor, axis: Axes = None, dtype: object = None, out: None = None, keepdims: object = False
) -> Tensor:
    refuse_arguments("np.nanmean", {"out": out})
    is_nan = xp.isnan(a)
    total = xp.where(is_nan, 0.0, a).sum(axis, keepdims is True)
    return total / (~is_nan).sum(axis, keepdims is True)


def _count_nonzero(a: Tensor, axis: Axes = None, *, keepdims: bool = False) -> Tensor:
    return xp.count_nonzero(a, axis=axis, keepdims=keepdims)


def _matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    return _norm(x, ord, (-2, -1), keepdims)


_sum = _reduction("np.sum", xp.sum)


_prod = _reduction("np.prod", xp.prod)


_max = _extreme("np.max", xp.max)


_min = _extreme("np.min", xp.min)

FUNCTIONS: Mapping[Callable[..., Any], Callable[..., Any]] = {
    np.sum: _sum,
    np.prod: _prod,
    np.mean: _reduction("np.mean", xp.mean),
    np.max: _max,
    np.amax: _max,
    np.min: _min,
    np.amin: _min,
    np.all: _extreme("np.all", xp.all),
    np.any: _extreme("np.any", xp.any),
    np.ptp: _extreme("np.ptp", xp.ptp),
    np.count_nonzero: _count_nonzero,
    np.var: _spread("np.var", xp.var),
    np.std: _spread("np.std", xp.std),
    np.average: _average,
    np.median: _median,
    np.nansum: _nan_reduction(_sum, 0.0),
    np.nanprod: _nan_reduction(_prod, 1.0),
    np.nanmax: _nan_reduction(_max, -np.inf),
    np.nanmin: _nan_reduction(_min, np.inf),
    np.nanmean: _nanmean,
    np.argmax: _position("np.argmax", xp.argmax),
    np.argmin: _position("np.argmin", xp.argmin),
    np.sort: _ordered(xp.sort),
    np.argsort: _ordered(xp.argsort),
    np.cumsum: _running("np.cumsum", xp.cumulative_sum),
    np.cumprod: _running("np.cumprod", xp.cumulative_prod),
    np.cumulative_sum: xp.cumulative_sum,
    np.cumulative_prod: xp.cumulative_prod,
    np.diff: _diff,
    np.isin: _isin,
    np.linalg.norm: _norm,
    np.linalg.vector_norm: xp.vector_norm,
    np.linalg.matrix_norm: _matrix_norm,
    np.linalg.trace: xp.trace,
    np.trace: _trace,
}
