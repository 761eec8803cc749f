"""Products in terms of mul and a sum. The intermediate has m * k * n elements."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import MatMul
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def matmul(op: MatMul, a: Tensor, b: Tensor) -> Tensor:
    """``sum over k of a[.., m, k, 1] * b[.., 1, k, n]``."""
    rows = a.mT if op.transpose_a else a
    columns = b.mT if op.transpose_b else b
    products = rows.expand_dims(-1) * columns.expand_dims(-3)
    return products.sum(-2)


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {MatMul: matmul}
