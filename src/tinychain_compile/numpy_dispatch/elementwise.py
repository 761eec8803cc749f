"""NumPy's functions of each element, of an array's kind, and like an array."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tinychain_compile import namespace as xp
from tinychain_compile.errors import UnsupportedFunctionError
from tinychain_compile.ir.dimensions import Dimension, Shape
from tinychain_compile.numpy_dispatch.arguments import refuse_arguments
from tinychain_compile.tensor import Tensor


def _where(condition: Any, *choices: Any) -> Tensor:
    if len(choices) != 2:
        raise UnsupportedFunctionError(
            "np.where with a condition alone is not supported on traced tensors",
            hint="Its result's shape depends on elements; give both alternatives.",
        )
    return xp.where(condition, *choices)


def _select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    result = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = xp.where(condition, choice, result)
    return result


def _astype(x: Tensor, dtype: object, /, *, copy: bool = True, device: None = None) -> Tensor:
    del device
    return x.astype(dtype, copy)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: None = None, **others: Any) -> Tensor:
    low, high = others.pop("min", None), others.pop("max", None)
    refuse_arguments("np.clip", {"out": out, **others})

    def given(value: Any) -> bool:
        return value is not None and type(value).__name__ != "_NoValueType"

    return xp.clip(a, a_min if given(a_min) else low, a_max if given(a_max) else high)


def _round(a: Tensor, decimals: int = 0, out: None = None) -> Tensor:
    refuse_arguments("np.round", {"out": out})
    if not decimals:
        return xp.round(a)
    scale = 10.0**decimals
    return xp.round(a * scale) / scale


def _like(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def make(a: Tensor, *args: Any, dtype: object = None, **others: Any) -> Tensor:
        others.pop("device", None)
        if others.pop("shape", None) is not None:
            raise UnsupportedFunctionError(
                "another shape for an array like a traced tensor", hint="Use np.zeros(shape)."
            )
        return function(a, *args, dtype=dtype)

    return make


def _shape(a: Tensor) -> Shape:
    return a.shape


def _ndim(a: Tensor) -> int:
    return a.ndim


def _size(a: Tensor, axis: int | None = None) -> Dimension:
    return a.size if axis is None else a.shape[axis]


def _identity(x: Tensor) -> Tensor:
    return x


def _isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8) -> Tensor:
    x, y = xp.meet(a, b)
    return (xp.abs(x - y) <= atol + rtol * xp.abs(y)) | (x == y)


def _nan_to_num(
    x: Tensor,
    copy: bool = True,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Tensor:
    return xp.nan_to_num(x, nan, posinf, neginf)


def _copy(a: Tensor, order: str = "K", subok: bool = False) -> Tensor:
    return a


def _sinc(x: Tensor) -> Tensor:
    angle = np.pi * x
    is_zero = x == 0
    return xp.where(is_zero, 1.0, xp.sin(angle) / xp.where(is_zero, 1.0, angle))


FUNCTIONS: Mapping[Callable[..., Any], Callable[..., Any]] = {
    np.where: _where,
    np.select: _select,
    np.clip: _clip,
    np.round: _round,
    np.around: _round,
    np.nan_to_num: _nan_to_num,
    np.isclose: _isclose,
    np.real: _identity,
    np.copy: _copy,
    np.sinc: _sinc,
    np.zeros_like: _like(xp.zeros_like),
    np.ones_like: _like(xp.ones_like),
    np.empty_like: _like(xp.empty_like),
    np.full_like: _like(xp.full_like),
    np.astype: _astype,
    np.shape: _shape,
    np.ndim: _ndim,
    np.size: _size,
    np.result_type: xp.result_type,
}
