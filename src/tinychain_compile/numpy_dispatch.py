"""NumPy's own functions on traced tensors: ``np.tanh(x)``, ``np.sum(x, axis=0)``.

A table maps each NumPy function to what it means here. What is not in the tables is refused by
name, and so is an argument (``out=``, ``where=``) that has no meaning in a program without state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from types import ModuleType
from typing import Any, NoReturn, cast

import numpy as np

from tinychain_compile import namespace as xp
from tinychain_compile.errors import MissingFunctionError, UnsupportedFunctionError
from tinychain_compile.ir.axes import Axes
from tinychain_compile.ir.dimensions import Dimension, Shape
from tinychain_compile.ir.dtypes import DType, as_dtype, promote
from tinychain_compile.tensor import Tensor, is_scalar


class NumpyTensor(Tensor):
    """A traced tensor that NumPy's functions, and Array API code, accept."""

    __slots__ = ()

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        """Return the Array API namespace of traced tensors."""
        del api_version
        return xp

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Append the operator that a NumPy ufunc stands for."""
        function = _UFUNCS.get(ufunc)
        if function is None or method != "__call__":
            suffix = "" if method == "__call__" else f".{method}"
            raise _unsupported(f"np.{ufunc.__name__}{suffix}")
        dtype = kwargs.pop("dtype", None)
        _refuse_arguments(f"np.{ufunc.__name__}", kwargs)
        result = function(*inputs)
        return result if dtype is None else result.astype(dtype)

    def __array_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Append the operators that a NumPy function stands for."""
        del types
        function = _FUNCTIONS.get(func)
        if function is None:
            module = func.__module__.replace("numpy", "np", 1)
            raise _unsupported(f"{module}.{func.__name__}")
        return function(*args, **kwargs)

    def __getattr__(self, name: str) -> NoReturn:
        near = get_close_matches(name, [n for n in dir(type(self)) if n[0] != "_"], n=3)
        raise MissingFunctionError(
            f"a traced tensor has no attribute {name!r}",
            hint=f"Write it with others, such as {', '.join(near)}."
            if near
            else "Write it with NumPy's functions, or with tinychain_compile.functions.",
        )


def _unsupported(name: str) -> UnsupportedFunctionError:
    functions: tuple[Any, ...] = (*_UFUNCS, *_FUNCTIONS)
    known = sorted({f"np.{function.__name__}" for function in functions})
    near = get_close_matches(name, known, n=3) or ["np.exp", "np.sum", "np.where"]
    return UnsupportedFunctionError(
        f"{name} is not supported on traced tensors",
        hint=f"Write it with functions that are, such as {', '.join(near)}, "
        "or with tinychain_compile.functions.",
    )


def _refuse_arguments(name: str, arguments: Mapping[str, object]) -> None:
    """Refuse arguments that were given a value with no meaning here."""
    for argument, value in arguments.items():
        if argument == "out" and (value is None or (isinstance(value, tuple) and value[0] is None)):
            continue
        raise UnsupportedFunctionError(
            f"{name}({argument}=...) is not supported on traced tensors",
            hint="In-place results have no meaning in a program; use the result."
            if argument == "out"
            else f"Leave out {argument}=.",
        )


def _reduction(name: str, method: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a reduction that has a dtype with NumPy's signature."""

    def reduce(
        a: Tensor,
        axis: Axes = None,
        dtype: object = None,
        out: None = None,
        keepdims: bool = False,
        **others: object,
    ) -> Tensor:
        _refuse_arguments(name, {"out": out, **others})
        return method(a, axis, keepdims, dtype)

    return reduce


def _max(
    a: Tensor, axis: Axes = None, out: None = None, keepdims: bool = False, **others: object
) -> Tensor:
    _refuse_arguments("np.max", {"out": out, **others})
    return a.max(axis, keepdims)


def _reshape(a: Tensor, /, shape: Shape | Dimension, order: str = "C", **others: object) -> Tensor:
    if order != "C":
        others["order"] = order
    _refuse_arguments("np.reshape", others)
    return a.reshape(shape)


def _ravel(a: Tensor, order: str = "C") -> Tensor:
    return _reshape(a, (a.size,), order)


def _transpose(a: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    return a.transpose(axes)


def _take(
    a: Any, indices: Any, axis: int | None = None, out: None = None, mode: str = "raise"
) -> Tensor:
    _refuse_arguments("np.take", {"out": out} if mode == "raise" else {"mode": mode})
    return xp.take(a, indices, axis=axis)


def _take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Tensor:
    if axis is None:
        return xp.take_along_axis(xp.first_tensor(arr).ravel(), indices, axis=0)
    return xp.take_along_axis(arr, indices, axis=axis)


def _where(condition: Any, *choices: Any) -> Tensor:
    if len(choices) != 2:
        raise UnsupportedFunctionError(
            "np.where with a condition alone is not supported on traced tensors",
            hint="Its result's shape depends on elements; give both alternatives.",
        )
    return xp.where(condition, *choices)


def _expand_dims(a: Tensor, axis: int | tuple[int, ...]) -> Tensor:
    return a.expand_dims(axis)


def _squeeze(a: Tensor, axis: Axes = None) -> Tensor:
    return a.squeeze(axis)


def _swapaxes(a: Tensor, axis1: int, axis2: int) -> Tensor:
    return a.swapaxes(axis1, axis2)


def _broadcast_to(array: Tensor, shape: Shape | int, subok: bool = False) -> Tensor:
    del subok
    return array.broadcast_to(shape if isinstance(shape, tuple) else (shape,))


def _astype(x: Tensor, dtype: object, /, *, copy: bool = True, device: None = None) -> Tensor:
    del device
    return x.astype(dtype, copy)


def _dot(a: Any, b: Any, out: None = None) -> Tensor:
    _refuse_arguments("np.dot", {"out": out})
    left = xp.first_tensor(a, b).lift(a)
    right = left.lift(b)
    if not left.ndim or not right.ndim:
        return left * right
    if right.ndim > 2:
        raise UnsupportedFunctionError(
            "np.dot with a stack of matrices is not supported on traced tensors",
            hint="Use np.matmul.",
        )
    return left.matmul(right)


def _shape(a: Tensor) -> Shape:
    return a.shape


def _ndim(a: Tensor) -> int:
    return a.ndim


def _size(a: Tensor, axis: int | None = None) -> Dimension:
    return a.size if axis is None else a.shape[axis]


def _result_type(*operands: Any) -> DType:
    """Return the dtype in which operands meet; scalars take part only when nothing else does."""
    strong = [_dtype_of(operand) for operand in operands if not is_scalar(operand)]
    result = strong[0]
    for dtype in strong[1:]:
        result = promote(result, dtype)
    return result


def _dtype_of(operand: Any) -> DType:
    is_dtype = isinstance(operand, (np.dtype, type, str))
    return as_dtype(cast(object, operand) if is_dtype else operand.dtype)


_UFUNCS: Mapping[np.ufunc, Callable[..., Tensor]] = {
    np.add: xp.add,
    np.subtract: xp.subtract,
    np.multiply: xp.multiply,
    np.divide: xp.divide,
    np.negative: xp.negative,
    np.positive: xp.positive,
    np.exp: xp.exp,
    np.log: xp.log,
    np.sqrt: xp.sqrt,
    np.tanh: xp.tanh,
    np.square: xp.square,
    np.power: xp.pow,
    np.maximum: xp.maximum,
    np.less: xp.less,
    np.greater: xp.greater,
    np.matmul: xp.matmul,
}

_FUNCTIONS: Mapping[Callable[..., Any], Callable[..., Any]] = {
    np.sum: _reduction("np.sum", Tensor.sum),
    np.mean: _reduction("np.mean", Tensor.mean),
    np.max: _max,
    np.amax: _max,
    np.reshape: _reshape,
    np.ravel: _ravel,
    np.transpose: _transpose,
    np.permute_dims: _transpose,
    np.matrix_transpose: xp.matrix_transpose,
    np.swapaxes: _swapaxes,
    np.broadcast_to: _broadcast_to,
    np.expand_dims: _expand_dims,
    np.squeeze: _squeeze,
    np.where: _where,
    np.take: _take,
    np.take_along_axis: _take_along_axis,
    np.dot: _dot,
    np.astype: _astype,
    np.shape: _shape,
    np.ndim: _ndim,
    np.size: _size,
    np.result_type: _result_type,
}
