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
    wide = x.widened()
    centred = wide - wide.mean(op.axes, keepdims=True)
    total = (centred * centred).sum(op.axes, op.keepdims)
    count = wide.size_literal(size_of(x.shape[axis] for axis in op.axes))
    return (total / xp.maximum(count - op.correction, 0.0)).astype(x.dtype)


def std(op: Std, x: Tensor) -> Tensor:
    """The square root of the variance."""
    variance = x.widened().emit(Var(op.axes, op.keepdims, op.correction))
    return xp.sqrt(variance).astype(x.dtype)


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {Var: var, Std: std}
