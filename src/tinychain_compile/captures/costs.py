"""What a value weighs and what it costs to make: bytes and multiplications."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from math import prod

from tinychain_compile.ir.dimensions import Shape, Symbolic
from tinychain_compile.ir.graph import Operation, Value
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import (
    ArgSort,
    Attention,
    AttentionWeights,
    Conv,
    ConvInputGradient,
    ConvKernelGradient,
    Einsum,
    MatMul,
    Sort,
    TopK,
)

TYPICAL = 64
"""What a symbol is taken for."""

PRODUCTS: frozenset[type[Operator]] = frozenset(
    {Attention, AttentionWeights, Conv, ConvInputGradient, ConvKernelGradient, Einsum, MatMul}
)
"""Operators whose work is a multiple of the elements that they read and write."""


def weight_of(value: Value) -> int:
    """Return the bytes of a value, symbols taken for a typical size."""
    return _size(value.type.shape) * value.type.dtype.itemsize


def work_of(operation: Operation) -> int:
    """Return the multiplications of an operation, about; movement and literals take none."""
    operator = operation.operator
    if operator.is_movement or operator.is_literal:
        return 0
    written = _size(operation.type.shape)
    read = [_size(value.type.shape) for value in operation.inputs]
    shapes = [value.type.shape for value in operation.inputs]
    if isinstance(operator, MatMul):
        return written * _sizes(shapes[0])[-2 if operator.transpose_a else -1]
    if isinstance(operator, Einsum):
        letters = zip(
            "".join(operator.operands), [d for s in shapes for d in _sizes(s)], strict=True
        )
        return prod(dict(letters).values())
    if isinstance(operator, (Conv, ConvInputGradient)):
        other = written if isinstance(operator, Conv) else read[0]
        return other * (read[1] // max(_sizes(shapes[1])[0], 1))
    if isinstance(operator, ConvKernelGradient):
        return read[0] * (written // max(_sizes(operation.type.shape)[0], 1))
    if isinstance(operator, (Attention, AttentionWeights)):
        keys = _sizes(shapes[1])[-2]
        return (read[0] + (written if isinstance(operator, Attention) else 0)) * keys
    if isinstance(operator, (Sort, ArgSort, TopK)):
        return 16 * max(read)
    return max([written, *read])


def total_work(operations: Iterable[Operation]) -> int:
    """Return the multiplications of operations together."""
    return sum(map(work_of, operations))


def _size(shape: Shape) -> int:
    return prod(_sizes(shape))


def _sizes(shape: Shape) -> list[int]:
    return [
        d.evaluate(defaultdict(lambda: TYPICAL)) if isinstance(d, Symbolic) else d for d in shape
    ]
