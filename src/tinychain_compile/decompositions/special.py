"""Functions of statistics in terms of polynomials."""

from __future__ import annotations

from tinychain_compile import approximations
from tinychain_compile import namespace as xp
from tinychain_compile.decompositions.approximation import Approximation
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Erf
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def erf(op: Erf, x: Tensor) -> Tensor:
    """A polynomial up to 2, beyond it 1 less another times ``exp(-x ** 2)``."""
    value: Tensor = approximations.erf(x, xp)
    return value


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {Erf: erf}

APPROXIMATE: dict[type[Operator], Approximation] = {
    Erf: Approximation(4, "everywhere"),
}
