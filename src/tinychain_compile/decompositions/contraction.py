"""Products in terms of mul and a sum. The intermediate of matmul has m * k * n elements."""

from __future__ import annotations

from tinychain_compile.ir.dimensions import Dimension, size_of
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Einsum, MatMul
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def matmul(op: MatMul, a: Tensor, b: Tensor) -> Tensor:
    """``sum over k of a[.., m, k, 1] * b[.., 1, k, n]``, of operands transposed where need be."""
    if op.transpose_a or op.transpose_b:
        rows = a.mT if op.transpose_a else a
        return rows.emit(MatMul(), b.mT if op.transpose_b else b)
    return (a.expand_dims(-1) * b.expand_dims(-3)).sum(-2)


def einsum(op: Einsum, *operands: Tensor) -> Tensor:
    """Two operands at a time, from the left, each pair as a matmul over what both have."""
    letters, tensor = op.operands[0], operands[0]
    for i in range(1, len(operands)):
        later = set(op.result).union(*op.operands[i + 1 :])
        letters, tensor = _product(letters, tensor, op.operands[i], operands[i], later)
    gone = tuple(i for i, letter in enumerate(letters) if letter not in op.result)
    tensor = tensor.sum(gone) if gone else tensor
    left = [letter for letter in letters if letter in op.result]
    return tensor.transpose([left.index(letter) for letter in op.result])


def _product(left: str, a: Tensor, right: str, b: Tensor, later: set[str]) -> tuple[str, Tensor]:
    """Return the product of two tensors, summed over the letters that are not needed later."""
    left, a = _summed(left, a, later | set(right))
    right, b = _summed(right, b, later | set(left))
    shared = [letter for letter in left if letter in right]
    stack = [letter for letter in shared if letter in later]
    inner = [letter for letter in shared if letter not in later]
    rows = [letter for letter in left if letter not in right]
    columns = [letter for letter in right if letter not in left]
    size = dict(zip(left + right, (*a.shape, *b.shape), strict=True))

    def count(group: list[str]) -> Dimension:
        return size_of(size[letter] for letter in group)

    stacked = tuple(size[letter] for letter in stack)
    first = a.transpose([left.index(c) for c in (*stack, *rows, *inner)])
    second = b.transpose([right.index(c) for c in (*stack, *inner, *columns)])
    first = first.reshape((*stacked, count(rows), count(inner)))
    second = second.reshape((*stacked, count(inner), count(columns)))
    result = "".join((*stack, *rows, *columns))
    return result, first.emit(MatMul(), second).reshape(tuple(size[c] for c in result))


def _summed(letters: str, x: Tensor, kept: set[str]) -> tuple[str, Tensor]:
    gone = tuple(i for i, letter in enumerate(letters) if letter not in kept)
    if not gone:
        return letters, x
    return "".join(letter for letter in letters if letter in kept), x.sum(gone)


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {MatMul: matmul, Einsum: einsum}
