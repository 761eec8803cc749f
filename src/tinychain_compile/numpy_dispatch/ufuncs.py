"""What each NumPy ufunc means on traced tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tinychain_compile import namespace as xp
from tinychain_compile.tensor import Tensor


def _radians(x: Tensor) -> Tensor:
    return x * (np.pi / 180.0)


def _degrees(x: Tensor) -> Tensor:
    return x * (180.0 / np.pi)


UFUNCS: Mapping[np.ufunc, Callable[..., Any]] = {
    np.add: xp.add,
    np.subtract: xp.subtract,
    np.multiply: xp.multiply,
    np.divide: xp.divide,
    np.floor_divide: xp.floor_divide,
    np.remainder: xp.remainder,
    np.negative: xp.negative,
    np.positive: xp.positive,
    np.absolute: xp.abs,
    np.fabs: xp.abs,
    np.sign: xp.sign,
    np.reciprocal: xp.reciprocal,
    np.square: xp.square,
    np.power: xp.pow,
    np.float_power: xp.pow,
    np.hypot: xp.hypot,
    np.exp: xp.exp,
    np.exp2: xp.exp2,
    np.expm1: xp.expm1,
    np.log: xp.log,
    np.log1p: xp.log1p,
    np.log2: xp.log2,
    np.log10: xp.log10,
    np.logaddexp: xp.logaddexp,
    np.sqrt: xp.sqrt,
    np.cbrt: xp.cbrt,
    np.sin: xp.sin,
    np.cos: xp.cos,
    np.tan: xp.tan,
    np.arcsin: xp.asin,
    np.arccos: xp.acos,
    np.arctan: xp.atan,
    np.arctan2: xp.atan2,
    np.sinh: xp.sinh,
    np.cosh: xp.cosh,
    np.tanh: xp.tanh,
    np.arcsinh: xp.asinh,
    np.arccosh: xp.acosh,
    np.arctanh: xp.atanh,
    np.floor: xp.floor,
    np.ceil: xp.ceil,
    np.rint: xp.round,
    np.trunc: xp.trunc,
    np.maximum: xp.maximum,
    np.minimum: xp.minimum,
    np.fmax: xp.fmax,
    np.fmin: xp.fmin,
    np.less: xp.less,
    np.less_equal: xp.less_equal,
    np.greater: xp.greater,
    np.greater_equal: xp.greater_equal,
    np.equal: xp.equal,
    np.not_equal: xp.not_equal,
    np.isfinite: xp.isfinite,
    np.isnan: xp.isnan,
    np.isinf: xp.isinf,
    np.signbit: xp.signbit,
    np.logical_not: xp.logical_not,
    np.logical_and: xp.logical_and,
    np.logical_or: xp.logical_or,
    np.logical_xor: xp.logical_xor,
    np.bitwise_and: xp.bitwise_and,
    np.bitwise_or: xp.bitwise_or,
    np.bitwise_xor: xp.bitwise_xor,
    np.invert: xp.bitwise_invert,
    np.matmul: xp.matmul,
    np.vecdot: xp.vecdot,
    np.deg2rad: _radians,
    np.radians: _radians,
    np.rad2deg: _degrees,
    np.degrees: _degrees,
}

REDUCTIONS: Mapping[np.ufunc, Callable[..., Any]] = {
    np.add: xp.sum,
    np.multiply: xp.prod,
    np.maximum: xp.max,
    np.minimum: xp.min,
    np.logical_and: xp.all,
    np.logical_or: xp.any,
}
"""What ``ufunc.reduce`` means."""

RUNNING: Mapping[np.ufunc, Callable[..., Any]] = {
    np.add: xp.cumulative_sum,
    np.multiply: xp.cumulative_prod,
}
"""What ``ufunc.accumulate`` means."""
