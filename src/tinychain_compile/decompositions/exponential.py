"""Roots and hyperbolic functions in terms of exp and log, to a few units in the last place."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.namespace import exp, log, where
from tinychain_compile.operators import Sqrt, Tanh
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def sqrt(op: Sqrt, x: Tensor) -> Tensor:
    """``exp(log(x) / 2)`` and one step of Newton's, which squares its relative error.

    The step is left out at 0, infinity and NaN, where the first guess is exact.
    """
    guess = exp(log(x) * 0.5)
    refined = (guess + x / guess) * 0.5
    is_finite_positive = where(x < float("inf"), x, x.full(0.0)) > 0.0
    return where(is_finite_positive, refined, guess)


def tanh(op: Tanh, x: Tensor) -> Tensor:
    """``-m / (2 + m)`` for ``m = expm1(-2|x|)``, with the sign of x; no overflow at either end."""
    is_negative = x < 0.0
    magnitude = _expm1_of_negative(where(is_negative, x, -x) * 2.0)
    y = -magnitude / (magnitude + 2.0)
    return where(is_negative, -y, y)


def _expm1_of_negative(z: Tensor) -> Tensor:
    """Return ``exp(z) - 1`` for z <= 0, exact to a few units in the last place near 0 too.

    Kahan's form ``(u - 1) * z / log(u)`` for ``u = exp(z)``: the rounding errors of u in numerator
    and denominator cancel. Source: W. Kahan, as told in N. Higham, Accuracy and Stability of
    Numerical Algorithms, 2nd ed., section 1.14.1.
    """
    u = exp(z)
    difference = u - 1.0
    is_far, is_distinct = z < -1.0, difference < 0.0
    safe_u = where(is_far, 0.5, where(is_distinct, u, 0.5))
    kahan = difference * z / log(safe_u)
    return where(is_far, difference, where(is_distinct, kahan, z))


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {Sqrt: sqrt, Tanh: tanh}
