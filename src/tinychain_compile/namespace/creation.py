"""Tensors made of nothing, or of another's shape. What they hold is known when compiling."""

from __future__ import annotations

import builtins
from typing import Any, cast

import numpy as np

from tinychain_compile.ir.dtypes import DType, as_dtype, promote
from tinychain_compile.namespace.operands import Operand, first_tensor
from tinychain_compile.tensor import Tensor, is_scalar


def full_like(x: Operand, /, fill_value: float, *, dtype: object = None) -> Tensor:
    """Return one number in the shape of ``x``."""
    z = first_tensor(x)
    target = z.dtype if dtype is None else as_dtype(dtype)
    return z.literal(fill_value, target).broadcast_to(z.shape)


def zeros_like(x: Operand, /, *, dtype: object = None) -> Tensor:
    """Return zeros in the shape of ``x``."""
    return full_like(x, 0, dtype=dtype)


def ones_like(x: Operand, /, *, dtype: object = None) -> Tensor:
    """Return ones in the shape of ``x``."""
    return full_like(x, 1, dtype=dtype)


def empty_like(x: Operand, /, *, dtype: object = None) -> Tensor:
    """Return zeros in the shape of ``x``; nothing is ever left undefined."""
    return full_like(x, 0, dtype=dtype)


def astype(x: Operand, dtype: object, /, *, copy: builtins.bool = True) -> Tensor:
    """Return ``x`` in another dtype."""
    return first_tensor(x).astype(dtype, copy)


def asarray(x: Operand, /, *, dtype: object = None, copy: builtins.bool | None = None) -> Any:
    """Return a traced tensor as it is, anything else as a NumPy array."""
    if isinstance(x, Tensor):
        own = type(x)(x.builder, x.value) if copy else x
        return own if dtype is None else own.astype(dtype)
    return np.asarray(x, dtype=dtype, copy=copy)  # type: ignore[call-overload]


def result_type(*operands: Any) -> DType:
    """Return the dtype in which operands meet; scalars take part only when nothing else does."""
    strong = [_dtype_of(operand) for operand in operands if not is_scalar(operand)]
    if not strong:
        return as_dtype(np.result_type(*operands))
    result = strong[0]
    for dtype in strong[1:]:
        result = promote(result, dtype)
    return result


def _dtype_of(operand: Any) -> DType:
    is_dtype = isinstance(operand, (np.dtype, type, str))
    return as_dtype(cast(object, operand) if is_dtype else operand.dtype)
