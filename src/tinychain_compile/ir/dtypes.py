"""The dtypes a program may hold: canonical ``numpy.dtype`` objects and their short names."""

from __future__ import annotations

from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tinychain_compile.errors import DtypeMismatchError

DType: TypeAlias = np.dtype[Any]
Array: TypeAlias = NDArray[Any]

BOOL: DType = np.dtype(np.bool_)
U8: DType = np.dtype(np.uint8)
U32: DType = np.dtype(np.uint32)
I32: DType = np.dtype(np.int32)
I64: DType = np.dtype(np.int64)
F16: DType = np.dtype(np.float16)
BF16: DType = np.dtype(ml_dtypes.bfloat16)
F32: DType = np.dtype(np.float32)
F64: DType = np.dtype(np.float64)

_NAME_BY_DTYPE = {
    BOOL: "bool",
    U8: "u8",
    U32: "u32",
    I32: "i32",
    I64: "i64",
    F16: "f16",
    BF16: "bf16",
    F32: "f32",
    F64: "f64",
}
_DTYPE_BY_NAME = {name: dtype for dtype, name in _NAME_BY_DTYPE.items()}
_CANONICAL = {dtype: dtype for dtype in _NAME_BY_DTYPE}

DTYPES = tuple(_NAME_BY_DTYPE)
FLOATING = frozenset({F16, BF16, F32, F64})
INTEGER = frozenset({U8, U32, I32, I64})


def dtype_name(dtype: DType) -> str:
    """Return the short name, such as ``f32``."""
    return _NAME_BY_DTYPE[dtype]


def as_dtype(value: object) -> DType:
    """Return the canonical dtype for a short name, a NumPy dtype, a scalar type or a dtype name.

    Raises:
        DtypeMismatchError: Nothing in the list of dtypes is meant.
    """
    if isinstance(value, np.dtype):
        known = _CANONICAL.get(value)  # pyright: ignore[reportUnknownArgumentType]
        if known is not None:
            return known
    if isinstance(value, str) and value in _DTYPE_BY_NAME:
        return _DTYPE_BY_NAME[value]
    if value == "bfloat16":
        return BF16
    try:
        dtype: DType = np.dtype(value).newbyteorder("=")  # type: ignore[call-overload]
    except TypeError:
        dtype = np.dtype(object)
    if value is None or dtype not in _CANONICAL:
        raise DtypeMismatchError(
            "dtype",
            expected=f"one of {', '.join(_DTYPE_BY_NAME)}",
            got=f"{value!r}",
            hint="Convert the array with .astype(...) or declare another dtype.",
        )
    return _CANONICAL[dtype]


def promote(left: DType, right: DType) -> DType:
    """Return the dtype in which two tensors meet.

    A floating dtype wins over an integer or boolean one; within a kind NumPy's table holds.
    """
    if left == right:
        return left
    if (left in FLOATING) != (right in FLOATING):
        return left if left in FLOATING else right
    if {left, right} == {F16, BF16}:
        return F32
    return as_dtype(np.promote_types(left, right))
