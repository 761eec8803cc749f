"""Comparison and choice by comparison in terms of less and where.

NaN is what is neither below infinity, nor above minus infinity, nor equal to one of them.
"""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.namespace import maximum, minimum, where
from tinychain_compile.operators import Clip, Equal, LessEqual, Maximum, Minimum
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor

_INF = float("inf")


def less_equal(op: LessEqual, a: Tensor, b: Tensor) -> Tensor:
    """Not more, and neither is NaN."""
    zero = a.full(0)
    return zero < where(b < a, zero, _unless_nan(a, _unless_nan(b, a.full(1))))


def equal(op: Equal, a: Tensor, b: Tensor) -> Tensor:
    """Neither more nor less, and neither is NaN."""
    zero = a.full(0)
    return zero < where(a < b, zero, where(b < a, zero, _unless_nan(a, _unless_nan(b, a.full(1)))))


def _unless_nan(x: Tensor, value: Tensor) -> Tensor:
    """Return the value, 0 where x is NaN."""
    if not x.type.is_floating:
        return value
    return where(x < _INF, value, where(x > -_INF, value, 0))


def maximum_(op: Maximum, a: Tensor, b: Tensor) -> Tensor:
    """``b`` where a is less, else a; and b where b is NaN. A NaN in a stays: nothing is more."""
    return _nan_of(b, where(a < b, b, a))


def minimum_(op: Minimum, a: Tensor, b: Tensor) -> Tensor:
    """``b`` where it is less, else a; and b where b is NaN. A NaN in a stays: nothing is less."""
    return _nan_of(b, where(b < a, b, a))


def _nan_of(b: Tensor, chosen: Tensor) -> Tensor:
    """Return what was chosen, and b where b is NaN."""
    if not b.type.is_floating:
        return chosen
    return where(b < _INF, chosen, where(b > -_INF, chosen, b))


def clip(op: Clip, x: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """``minimum(maximum(x, low), high)``."""
    return minimum(maximum(x, low), high)


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {
    LessEqual: less_equal,
    Equal: equal,
    Maximum: maximum_,
    Minimum: minimum_,
    Clip: clip,
}
