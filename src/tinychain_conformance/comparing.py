"""Compares what a backend computed with what the evaluator says."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
UNITS = 64
"""How many units of a dtype's precision a result may be off."""


def disagreement(
    found: Array, expected: Array, *, units: float = UNITS, by_element: bool = False
) -> str | None:
    """Return how a result differs from the one expected; ``None`` if it does not.

    Dtype and shape must be equal; integers and conditions in every element; NaN and infinities in
    every place. Other numbers may differ by units of the dtype's precision.

    Args:
        found: The backend's.
        expected: The evaluator's.
        units: How many.
        by_element: Whether relative to each element, and not to the largest one.
    """
    found = np.asarray(found)
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return f"{_type(found)} where {_type(expected)} is right"
    if not is_floating(expected.dtype):
        wrong = found != expected
    else:
        a, b = found.astype(np.float64), expected.astype(np.float64)
        finite = np.isfinite(b)
        size = np.abs(np.where(finite, b, 0.0))
        scale = np.maximum(size, 1.0) if by_element else max(float(np.max(size, initial=0.0)), 1.0)
        allowed = units * _precision(expected.dtype) * scale
        with np.errstate(invalid="ignore"):
            off = np.abs(a - b) > allowed
        wrong = np.where(finite, off | ~np.isfinite(a), ~((a == b) | (np.isnan(a) & np.isnan(b))))
    if not np.any(wrong):
        return None
    place = tuple(int(axis) for axis in np.argwhere(wrong)[0])
    count = int(np.count_nonzero(wrong))
    return f"{found[place]} where {expected[place]} is right, at {list(place)}; {count} in all"


def is_floating(dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype is floating, bfloat16 among them."""
    return dtype.kind == "f" or dtype == ml_dtypes.bfloat16


def _precision(dtype: np.dtype[Any]) -> float:
    """Return the distance from 1 to the next number."""
    finfo: Any = ml_dtypes.finfo
    return float(finfo(dtype).eps)


def _type(array: Array) -> str:
    return f"{array.dtype}{list(array.shape)}"
