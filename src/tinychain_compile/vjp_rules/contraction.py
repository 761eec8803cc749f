"""Derivatives of products: closed under the operator's own flags, so no transpose appears."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import MatMul
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor


def matmul(op: MatMul, g: Tensor, y: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    ta, tb = op.transpose_a, op.transpose_b
    to_a = b.emit(MatMul(tb, True), g) if ta else g.emit(MatMul(False, not tb), b)
    to_b = g.emit(MatMul(True, ta), a) if tb else a.emit(MatMul(not ta, False), g)
    return to_a, to_b


RULES: dict[type[Operator], VJPRule] = {MatMul: matmul}
