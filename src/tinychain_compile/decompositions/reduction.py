"""Averages in terms of sums."""

from __future__ import annotations

from tinychain_compile.ir.dimensions import size_of
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Mean
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def mean(op: Mean, x: Tensor) -> Tensor:
    count = size_of(x.shape[axis] for axis in op.axes)
    return x.sum(op.axes, op.keepdims) / x.size_literal(count)


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {Mean: mean}
