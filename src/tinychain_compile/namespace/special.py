"""Functions of statistics, by SciPy's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tinychain_compile.namespace.elementwise import cbrt, exp2, log, log1p, logaddexp, where
from tinychain_compile.namespace.operands import Operand, first_tensor, meet, unary
from tinychain_compile.operators import Erf, Sigmoid
from tinychain_compile.tensor import Tensor


def erf(x: Operand, /) -> Tensor:
    """Return the error function."""
    return unary(Erf(), x)


def expit(x: Operand, /) -> Tensor:
    """Return ``1 / (1 + exp(-x))``."""
    return unary(Sigmoid(), x)


def logit(x: Operand, /) -> Tensor:
    """Return ``log(x / (1 - x))``."""
    z = first_tensor(x).as_floating()
    return log(z) - log1p(-z)


def xlogy(x: Operand, y: Operand, /) -> Tensor:
    """Return ``x * log(y)``, and 0 where ``x`` is 0, unless ``y`` is NaN."""
    a, b = (z.as_floating() for z in meet(x, y))
    return _annihilated(a, b, log)


def xlog1py(x: Operand, y: Operand, /) -> Tensor:
    """Return ``x * log1p(y)``, and 0 where ``x`` is 0, unless ``y`` is NaN."""
    a, b = (z.as_floating() for z in meet(x, y))
    return _annihilated(a, b, log1p)


def entr(x: Operand, /) -> Tensor:
    """Return ``-x * log(x)``, 0 at 0 and minus infinity below."""
    z = first_tensor(x).as_floating()
    return where(z < 0.0, -np.inf, -xlogy(z, z))


def _annihilated(a: Tensor, b: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """Return ``a * function(b)``, 0 where a is 0 and b no NaN."""
    is_zero = (a == 0.0) & (b == b)
    return where(is_zero, 0.0, a * function(where(is_zero, 0.5, b)))


def erfc(x: Operand, /) -> Tensor:
    """Return ``1 - erf(x)``."""
    return 1.0 - erf(x)


def log_expit(x: Operand, /) -> Tensor:
    """Return ``log(expit(x))``, without overflow."""
    return -logaddexp(-first_tensor(x), 0.0)


def ndtr(x: Operand, /) -> Tensor:
    """Return the probability that a standard normal variable is below ``x``."""
    return 0.5 + 0.5 * erf(first_tensor(x) * 0.5**0.5)


SPECIAL: Mapping[str, Callable[..., Tensor]] = {
    "cbrt": cbrt,
    "entr": entr,
    "erf": erf,
    "erfc": erfc,
    "exp2": exp2,
    "expit": expit,
    "log_expit": log_expit,
    "logit": logit,
    "ndtr": ndtr,
    "xlog1py": xlog1py,
    "xlogy": xlogy,
}
"""What is there of ``scipy.special``, by name: this package does not import SciPy."""
