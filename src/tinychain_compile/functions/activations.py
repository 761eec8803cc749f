"""Elementwise functions of neural networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from tinychain_compile import approximations
from tinychain_compile.functions.arrays import ArrayLike, floating_array, widened
from tinychain_compile.ir.dtypes import Array
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import (
    Elu,
    Erf,
    Gelu,
    LeakyRelu,
    Relu,
    Sigmoid,
    Silu,
    Softplus,
)
from tinychain_compile.tensor import Tensor


def relu(x: ArrayLike) -> ArrayLike:
    """Return ``max(x, 0)``; its derivative at 0 is 0.

    Shapes:
        ``F[s] -> F[s]``
    """
    return _elementwise(Relu(), x, lambda a: np.maximum(a, 0))


def leaky_relu(x: ArrayLike, slope: float = 0.01) -> ArrayLike:
    """Return ``x`` above 0, else ``slope * x``; its derivative at 0 is the slope.

    Shapes:
        ``F[s] -> F[s]``
    """
    return _elementwise(LeakyRelu(slope), x, lambda a: np.where(a > 0, a, a * slope))


def elu(x: ArrayLike, alpha: float = 1.0) -> ArrayLike:
    """Return ``x`` above 0, else ``alpha * (exp(x) - 1)``; its derivative at 0 is alpha.

    Shapes:
        ``F[s] -> F[s]``
    """
    return _elementwise(
        Elu(alpha), x, lambda a: np.where(a > 0, a, alpha * np.expm1(np.minimum(a, 0)))
    )


def gelu(x: ArrayLike, approximate: bool = False) -> ArrayLike:
    """Return ``x`` times the probability that a standard normal variable is below it.

    Args:
        x: Any numbers.
        approximate: Whether to use the approximation by ``tanh``.

    Shapes:
        ``F[s] -> F[s]``

    Source:
        Hendrycks and Gimpel, Gaussian Error Linear Units, 2016.
    """
    return _elementwise(Gelu(approximate), x, _gelu_tanh if approximate else _gelu)


def silu(x: ArrayLike) -> ArrayLike:
    """Return ``x * sigmoid(x)``.

    Shapes:
        ``F[s] -> F[s]``
    """
    return _elementwise(Silu(), x, lambda a: a * _sigmoid(a))


def sigmoid(x: ArrayLike) -> ArrayLike:
    """Return ``1 / (1 + exp(-x))``, without overflow at either end.

    Shapes:
        ``F[s] -> F[s]``
    """
    return _elementwise(Sigmoid(), x, _sigmoid)


def softplus(x: ArrayLike) -> ArrayLike:
    """Return ``log(1 + exp(x))``, without overflow.

    Shapes:
        ``F[s] -> F[s]``
    """
    return _elementwise(Softplus(), x, lambda a: np.logaddexp(a, a.dtype.type(0)))


def erf(x: ArrayLike) -> ArrayLike:
    """Return the error function: ``2 / sqrt(pi)`` times the integral of ``exp(-t ** 2)`` to x.

    Shapes:
        ``F[s] -> F[s]``
    """
    return _elementwise(Erf(), x, lambda a: approximations.erf(a, np))


def _elementwise(operator: Operator, x: ArrayLike, on_array: Callable[[Array], Any]) -> ArrayLike:
    if isinstance(x, Tensor):
        return x.as_floating().emit(operator)
    array = floating_array(x)
    return cast(ArrayLike, on_array(widened(array)).astype(array.dtype, copy=False))


def _sigmoid(a: Array) -> Any:
    decay = np.exp(-np.abs(a))
    return np.where(a < 0, decay, 1) / (1 + decay)


def _gelu(a: Array) -> Any:
    return a * (approximations.erf(a * 0.5**0.5, np) + 1) * 0.5


def _gelu_tanh(a: Array) -> Any:
    return a * (np.tanh((2 / np.pi) ** 0.5 * (a + 0.044715 * a * a * a)) + 1) * 0.5
