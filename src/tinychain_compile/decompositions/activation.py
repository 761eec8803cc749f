"""The named composites in simpler operators."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.namespace import exp, log, maximum
from tinychain_compile.operators import LogSoftmax, Relu
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def relu(op: Relu, x: Tensor) -> Tensor:
    return maximum(x, 0.0)


def log_softmax(op: LogSoftmax, x: Tensor) -> Tensor:
    """Shifted by the largest, so that no exponential overflows and one of them is 1."""
    shifted = x - x.max(op.axis, keepdims=True)
    return shifted - log(exp(shifted).sum(op.axis, keepdims=True))


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {Relu: relu, LogSoftmax: log_softmax}
