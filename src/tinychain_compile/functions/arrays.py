"""What all functions share: the kind they return, and floating arrays."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from tinychain_compile.ir.dtypes import BF16, F16, FLOATING, Array, as_dtype, promote
from tinychain_compile.tensor import Tensor

ArrayLike = TypeVar("ArrayLike")
"""A traced tensor or a NumPy array; the result is of the same kind."""


def floating_array(x: Any) -> Array:
    """Return an array in its floating dtype, f64 if it has none."""
    array: Array = np.asarray(x)
    return array if as_dtype(array.dtype) in FLOATING else array.astype(np.float64)


def widened(array: Array) -> Array:
    """Return an array itself, in f32 if its dtype is too short to sum in."""
    return array.astype(np.float32) if array.dtype in (F16, BF16) else array


def tensors_of_one_dtype(*operands: Any) -> list[Tensor] | None:
    """Return operands as floating tensors of one dtype; ``None`` if none of them is traced."""
    context = next((x for x in operands if isinstance(x, Tensor)), None)
    if context is None:
        return None
    tensors = [context.lift(x).as_floating() for x in operands]
    dtype = tensors[0].dtype
    for tensor in tensors[1:]:
        dtype = promote(dtype, tensor.dtype)
    return [tensor.astype(dtype) for tensor in tensors]
