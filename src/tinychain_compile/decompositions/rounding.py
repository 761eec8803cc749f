"""Rounding through a cast to integers and back; numbers too large for that are whole already."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.dtypes import BF16, F16, F32, F64, I64, DType
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Ceil, Floor, IsFinite, Round
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor

_WHOLE_FROM: dict[DType, float] = {F64: 2.0**52, F32: 2.0**23, F16: 2.0**10, BF16: 2.0**7}
"""From where on every number is whole."""


def floor(op: Floor, x: Tensor) -> Tensor:
    """What a cast leaves of x, less 1 where that is above x."""
    is_small = xp.abs(x) < _WHOLE_FROM[x.dtype]
    whole = xp.where(is_small, x, 0.0).astype(I64).astype(x.dtype)
    lower = xp.where(x < whole, whole - 1.0, whole)
    return xp.where(is_small, lower, x)


def ceil(op: Ceil, x: Tensor) -> Tensor:
    """``-floor(-x)``."""
    return -xp.floor(-x)


def round(op: Round, x: Tensor) -> Tensor:
    """The whole number below or above, whichever is nearer; of two, the even one."""
    low = xp.floor(x)
    rest = x - low
    half = low * 0.5
    at_half = xp.where(xp.floor(half) < half, low + 1.0, low)
    nearest = xp.where(rest < 0.5, low, xp.where(rest > 0.5, low + 1.0, at_half))
    return xp.where(xp.abs(x) < _WHOLE_FROM[x.dtype], nearest, x)


def is_finite(op: IsFinite, x: Tensor) -> Tensor:
    """Whether between the infinities: NaN is not."""
    return (x < float("inf")) & (x > -float("inf"))


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {
    Floor: floor,
    Ceil: ceil,
    Round: round,
    IsFinite: is_finite,
}
