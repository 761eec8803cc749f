"""The traced tensor that a loss gets: it answers NumPy's functions and has an array's methods."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

import numpy as np

from tinychain_compile import namespace as xp
from tinychain_compile.array_api import ARRAY_NAMESPACE, ArrayNamespace
from tinychain_compile.errors import MissingFunctionError, UnsupportedFunctionError
from tinychain_compile.ir.axes import Axes
from tinychain_compile.namespace.special import SPECIAL
from tinychain_compile.numpy_dispatch.arguments import refuse_arguments
from tinychain_compile.numpy_dispatch.functions import FUNCTIONS
from tinychain_compile.numpy_dispatch.ufuncs import REDUCTIONS, RUNNING, UFUNCS
from tinychain_compile.tensor import Tensor


class NumpyTensor(Tensor):
    """A traced tensor that NumPy's functions, and Array API code, accept."""

    __slots__ = ()

    def __array_namespace__(self, *, api_version: str | None = None) -> ArrayNamespace:
        """Return the Array API namespace of traced tensors."""
        if api_version is not None and api_version > ARRAY_NAMESPACE.__array_api_version__:
            raise UnsupportedFunctionError(
                "the Array API",
                expected=f"a version up to {ARRAY_NAMESPACE.__array_api_version__}",
                got=api_version,
            )
        return ARRAY_NAMESPACE

    @property
    def device(self) -> str:
        """The name of the one device: a program under construction."""
        return "trace"

    def to_device(self, device: object, /, *, stream: object = None) -> Tensor:
        """Return the tensor itself: there is one device."""
        del device, stream
        return self

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Append the operators that a NumPy ufunc stands for."""
        if method == "__call__":
            function = UFUNCS.get(ufunc) or SPECIAL.get(ufunc.__name__)
        elif method in ("reduce", "accumulate"):
            function = (REDUCTIONS if method == "reduce" else RUNNING).get(ufunc)
            kwargs.setdefault("axis", 0)
            return self._along_axis(ufunc, method, function, inputs[0], kwargs)
        elif method == "outer" and ufunc is np.multiply:
            left, right = (xp.first_tensor(*inputs).lift(x) for x in inputs)
            return left.reshape((*left.shape, *(1,) * right.ndim)) * right
        else:
            function = None
        if function is None:
            raise _unsupported(_name(ufunc, method))
        if not kwargs:
            return function(*inputs)
        dtype = kwargs.pop("dtype", None)
        refuse_arguments(_name(ufunc, method), kwargs)
        result = function(*inputs)
        return result if dtype is None else result.astype(dtype)

    def _along_axis(
        self,
        ufunc: np.ufunc,
        method: str,
        function: Callable[..., Any] | None,
        operand: Any,
        kwargs: dict[str, Any],
    ) -> Any:
        if function is None:
            raise _unsupported(_name(ufunc, method))
        known = {name: kwargs.pop(name) for name in ("axis", "keepdims") if name in kwargs}
        if kwargs.get("dtype") is None:
            kwargs.pop("dtype", None)
        refuse_arguments(_name(ufunc, method), kwargs)
        return function(operand, **known)

    def __array_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Append the operators that a NumPy function stands for."""
        del types
        function = FUNCTIONS.get(func)
        if function is None:
            module = func.__module__.replace("numpy", "np", 1)
            raise _unsupported(f"{module}.{func.__name__}")
        return function(*args, **kwargs)

    # An array's methods.

    def min(self, axis: Axes = None, keepdims: bool = False) -> Tensor:
        """Return the smallest over axes."""
        return xp.min(self, axis=axis, keepdims=keepdims)

    def prod(self, axis: Axes = None, keepdims: bool = False, dtype: object = None) -> Tensor:
        """Return the product over axes."""
        return xp.prod(self, axis=axis, keepdims=keepdims, dtype=dtype)

    def var(self, axis: Axes = None, ddof: float = 0, keepdims: bool = False) -> Tensor:
        """Return the variance over axes."""
        return xp.var(self, axis=axis, correction=ddof, keepdims=keepdims)

    def std(self, axis: Axes = None, ddof: float = 0, keepdims: bool = False) -> Tensor:
        """Return the standard deviation over axes."""
        return xp.std(self, axis=axis, correction=ddof, keepdims=keepdims)

    def all(self, axis: Axes = None, keepdims: bool = False) -> Tensor:
        """Return whether every element holds."""
        return xp.all(self, axis=axis, keepdims=keepdims)

    def any(self, axis: Axes = None, keepdims: bool = False) -> Tensor:
        """Return whether one element holds at least."""
        return xp.any(self, axis=axis, keepdims=keepdims)

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """Return the position of the largest, the first of several."""
        return xp.argmax(self, axis=axis, keepdims=keepdims)

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """Return the position of the smallest, the first of several."""
        return xp.argmin(self, axis=axis, keepdims=keepdims)

    def argsort(self, axis: int = -1) -> Tensor:
        """Return the positions that put an axis in order."""
        return xp.argsort(self, axis=axis)

    def cumsum(self, axis: int | None = None) -> Tensor:
        """Return the sum of all elements up to each one."""
        result: Tensor = FUNCTIONS[np.cumsum](self, axis)
        return result

    def cumprod(self, axis: int | None = None) -> Tensor:
        """Return the product of all elements up to each one."""
        result: Tensor = FUNCTIONS[np.cumprod](self, axis)
        return result

    def clip(self, min: Any = None, max: Any = None) -> Tensor:
        """Return the tensor, but not below ``min`` nor above ``max``."""
        return xp.clip(self, min, max)

    def round(self, decimals: int = 0) -> Tensor:
        """Return the nearest whole numbers."""
        result: Tensor = FUNCTIONS[np.round](self, decimals)
        return result

    def repeat(self, repeats: int, axis: int | None = None) -> Tensor:
        """Return each element several times."""
        return xp.repeat(self, repeats, axis=axis)

    def take(self, indices: Any, axis: int | None = None) -> Tensor:
        """Return whole slices at integer indices along an axis."""
        return xp.take(self, indices, axis=axis)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
        """Return the diagonal of two axes."""
        return xp.diagonal(xp.moveaxis(self, (axis1, axis2), (-2, -1)), offset=offset)

    def trace(self, offset: int = 0) -> Tensor:
        """Return the sum of the diagonal."""
        return self.diagonal(offset).sum(-1)

    def copy(self) -> Tensor:
        """Return the tensor itself: it cannot be changed."""
        return self

    def __setitem__(self, key: object, item: object) -> None:
        """Refuse, but for array-api-extra's ``at``: SciPy's functions replace elements by it.

        What that changes is a copy, or is not used again: so it says, and so the tensor may be
        another value from here on.
        """
        caller = sys._getframe(1).f_globals.get("__name__", "")  # pyright: ignore[reportPrivateUsage]
        if "array_api_extra" in caller and isinstance(key, Tensor):
            self._value = xp.where(key, item, self).value
        else:
            self.refuse("assignment into a tensor", "Make a new one with np.where.")

    def __getattr__(self, name: str) -> NoReturn:
        if name in _METHODS_BY_FUNCTION:
            hint = _METHODS_BY_FUNCTION[name]
        else:
            near = get_close_matches(name, [n for n in dir(type(self)) if n[0] != "_"], n=3)
            hint = (
                f"Write it with others, such as {', '.join(near)}."
                if near
                else "Write it with NumPy's functions, or with tinychain_compile.functions."
            )
        raise MissingFunctionError(f"a traced tensor has no attribute {name!r}", hint=hint)


_METHODS_BY_FUNCTION = {
    "sort": "It would change the tensor in place; use np.sort(x).",
    "fill": "It would change the tensor in place; use np.full_like(x, number).",
    "resize": "It would change the tensor in place; use x.reshape(shape).",
    "put": "It would change the tensor in place; use np.where.",
    "nonzero": "The shape of its result depends on elements; choose with np.where.",
}
"""Why a method of arrays is not there, and what to write."""


def _name(ufunc: np.ufunc, method: str) -> str:
    return f"np.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")


def _unsupported(name: str) -> UnsupportedFunctionError:
    functions: tuple[Any, ...] = (*UFUNCS, *FUNCTIONS)
    known = sorted({f"np.{function.__name__}" for function in functions})
    near = get_close_matches(name, known, n=3) or ["np.exp", "np.sum", "np.where"]
    hint = _REPLACEMENTS.get(name) or (
        f"Write it with functions that are, such as {', '.join(near)}, "
        "or with tinychain_compile.functions."
    )
    return UnsupportedFunctionError(f"{name} is not supported on traced tensors", hint=hint)


_REPLACEMENTS = {
    "np.unique": "The shape of its result depends on elements; compute it before the loss.",
    "np.nonzero": "The shape of its result depends on elements; choose with np.where(mask, x, 0).",
    "np.argwhere": "The shape of its result depends on elements; choose with np.where(mask, x, 0).",
    "np.flatnonzero": "The shape of its result depends on elements; use np.where(mask, x, 0).",
    "np.extract": "The shape of its result depends on elements; use np.where(mask, x, 0).",
    "np.compress": "The shape of its result depends on elements; use np.where(mask, x, 0).",
    "np.linalg.inv": "Compute it before the loss, or minimize the residual of the linear system.",
    "np.linalg.solve": "Compute it before the loss, or minimize the residual of the linear system.",
    "np.convolve": "Use tinychain_compile.functions.conv.",
    "np.correlate": "Use tinychain_compile.functions.conv.",
    "np.put_along_axis": "Make a new tensor with np.where and a comparison of positions.",
    "np.copyto": "Make a new tensor with np.where.",
}
"""What to write instead of what is not there, where there is something closer than a like name."""
