"""Choice in terms of less and where."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.namespace import where
from tinychain_compile.operators import Annihilate, MulNoNan
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def annihilate(op: Annihilate, factor: Tensor, product: Tensor) -> Tensor:
    """The product where the factor is below or above 0, else the factor: 0 or NaN."""
    zero = factor.full(0.0)
    return where(factor < zero, product, where(zero < factor, product, factor))


def mul_no_nan(op: MulNoNan, factor: Tensor, x: Tensor) -> Tensor:
    """The product, annihilated by the factor."""
    return factor.emit(Annihilate(), factor * x)


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {
    Annihilate: annihilate,
    MulNoNan: mul_no_nan,
}
