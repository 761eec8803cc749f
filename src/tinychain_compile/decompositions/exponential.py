"""Roots, logarithms and hyperbolic functions in terms of exp and log, to a few last places."""

from __future__ import annotations

from tinychain_compile.decompositions.approximation import Approximation
from tinychain_compile.ir.operator import Operator
from tinychain_compile.namespace import abs, exp, expm1, log, sqrt, where
from tinychain_compile.operators import (
    Expm1,
    Log1p,
    Rsqrt,
    Sigmoid,
    SigmoidGradient,
    Sqrt,
    Tanh,
    TanhGradient,
)
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def sqrt_(op: Sqrt, x: Tensor) -> Tensor:
    """``exp(log(x) / 2)`` and one step of Newton's, which squares its relative error.

    The step is left out at 0, infinity and NaN, where the first guess is exact.
    """
    guess = exp(log(x) * 0.5)
    refined = (guess + x / guess) * 0.5
    is_finite_positive = where(x < float("inf"), x, x.full(0.0)) > 0.0
    return where(is_finite_positive, refined, guess)


def rsqrt(op: Rsqrt, x: Tensor) -> Tensor:
    """``1 / sqrt(x)``."""
    return 1.0 / sqrt(x)


def expm1_(op: Expm1, x: Tensor) -> Tensor:
    """``(u - 1) * x / log(u)`` for ``u = exp(x)``; far from 0, ``u - 1``.

    The rounding errors of u in numerator and denominator cancel. Source: W. Kahan, as told in
    N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 1.14.1.
    """
    u = exp(x)
    difference = u - 1.0
    is_near = where(x < 1.0, where(x < -1.0, x.full(0.0), x.full(1.0)), x.full(0.0)) > 0.0
    is_distinct = where(difference < 0.0, x.full(1.0), difference) > 0.0
    safe = where(is_near, where(is_distinct, u, 0.5), 0.5)
    kahan = difference * x / log(safe)
    return where(is_near, where(is_distinct, kahan, x), difference)


def log1p(op: Log1p, x: Tensor) -> Tensor:
    """``log(u) * x / (u - 1)`` for ``u = 1 + x``, where that is not x itself.

    The rounding error of u cancels as in ``expm1``. Source: as there.
    """
    u = x + 1.0
    difference = u - 1.0
    is_distinct = where(difference < 0.0, x.full(1.0), difference) > 0.0
    is_finite = x < float("inf")
    safe = where(is_distinct, where(is_finite, difference, 1.0), 1.0)
    ratio = where(is_finite, x / safe, 1.0)
    return where(is_distinct, log(u) * ratio, x)


def tanh(op: Tanh, x: Tensor) -> Tensor:
    """``-m / (2 + m)`` for ``m = expm1(-2 * abs(x))``, with the sign of x; no overflow."""
    is_negative = x < 0.0
    magnitude = expm1(where(is_negative, x, -x) * 2.0)
    y = -magnitude / (magnitude + 2.0)
    return where(is_negative, -y, y)


def sigmoid(op: Sigmoid, x: Tensor) -> Tensor:
    """``1 / (1 + e)``, and ``e / (1 + e)`` below 0, for ``e = exp(-abs(x))``; no overflow."""
    decay = exp(-abs(x))
    return where(x < 0.0, decay, 1.0) / (decay + 1.0)


def tanh_gradient(op: TanhGradient, g: Tensor, y: Tensor) -> Tensor:
    """``g * (1 - y ** 2)``."""
    return g * (1.0 - y * y)


def sigmoid_gradient(op: SigmoidGradient, g: Tensor, y: Tensor) -> Tensor:
    """``g * y * (1 - y)``."""
    return g * (y * (1.0 - y))


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {
    Sqrt: sqrt_,
    Rsqrt: rsqrt,
    Expm1: expm1_,
    Log1p: log1p,
    Tanh: tanh,
    Sigmoid: sigmoid,
    TanhGradient: tanh_gradient,
    SigmoidGradient: sigmoid_gradient,
}

APPROXIMATE: dict[type[Operator], Approximation] = {
    Sqrt: Approximation(2, "everywhere"),
    Rsqrt: Approximation(4, "everywhere"),
}
