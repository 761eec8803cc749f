"""What a conversion is once derivatives have been taken."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Named, StopGradient
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def stop_gradient(op: StopGradient, x: Tensor) -> Tensor:
    """The operand: nothing is left to stop."""
    return x


def named(op: Named, x: Tensor) -> Tensor:
    """The operand: captures have been chosen."""
    return x


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {
    StopGradient: stop_gradient,
    Named: named,
}
