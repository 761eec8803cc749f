"""Derivatives of products: closed under the operator's own attributes, so no transpose appears."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Einsum, MatMul
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor


def matmul(op: MatMul, g: Tensor, y: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """``g @ b.T``; ``a.T @ g``."""
    ta, tb = op.transpose_a, op.transpose_b
    to_a = b.emit(MatMul(tb, True), g) if ta else g.emit(MatMul(False, not tb), b)
    to_b = g.emit(MatMul(True, ta), a) if tb else a.emit(MatMul(not ta, False), g)
    return to_a, to_b


def einsum(op: Einsum, g: Tensor, y: Tensor, *operands: Tensor) -> tuple[Tensor, ...]:
    """The product of ``g`` and all others, with the letters of the operand as its result.

    A letter that the operand alone has was summed over: there ``g`` is repeated.
    """
    results: list[Tensor] = []
    for i, (letters, x) in enumerate(zip(op.operands, operands, strict=True)):
        others = [(op.operands[j], other) for j, other in enumerate(operands) if j != i]
        known = set(op.result).union(*(term for term, _ in others))
        shared = "".join(letter for letter in letters if letter in known)
        terms = (op.result, *(term for term, _ in others))
        product = g.emit(Einsum(terms, shared), *(other for _, other in others))
        kept = tuple(
            size if letter in known else 1 for letter, size in zip(letters, x.shape, strict=True)
        )
        results.append(product.reshape(kept).broadcast_to(x.shape))
    return tuple(results)


RULES: dict[type[Operator], VJPRule] = {MatMul: matmul, Einsum: einsum}
