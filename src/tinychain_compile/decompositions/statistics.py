"""Spread in terms of means."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.dimensions import size_of
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Std, Var
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def var(op: Var, x: Tensor) -> Tensor:
    """The sum of squared distances from the mean, over ``count - correction``, at least 0."""
    centred = x - x.mean(op.axes, keepdims=True)
    total = (centred * centred).sum(op.axes, op.keepdims)
    count = x.size_literal(size_of(x.shape[axis] for axis in op.axes))
    return total / xp.maximum(count - op.correction, 0.0)


def std(op: Std, x: Tensor) -> Tensor:
    """The square root of the variance."""
    return xp.sqrt(x.emit(Var(op.axes, op.keepdims, op.correction)))


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {Var: var, Std: std}
