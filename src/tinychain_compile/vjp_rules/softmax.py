"""Derivatives of exponentials that sum to one."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import (
    LogSoftmax,
    LogSumExp,
    OneHot,
    Softmax,
    SoftmaxCrossEntropy,
)
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor
from tinychain_compile.vjp_rules.repeating import repeated
from tinychain_compile.vjp_rules.statements import Kink


def softmax(op: Softmax, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``y * (g - sum(g * y))``."""
    return (y * (g - (g * y).sum(op.axis, keepdims=True)),)


def log_softmax(op: LogSoftmax, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g - exp(y) * sum(g)``."""
    return (g - xp.exp(y) * g.sum(op.axis, keepdims=True),)


def logsumexp(op: LogSumExp, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g * exp(x - y)``; 0 where every element is minus infinity."""
    shift = xp.where(y == -float("inf"), 0.0, y)
    weights = xp.exp(x - repeated(shift, x, op.axes))
    spread = repeated(g, x, op.axes)
    return (xp.where(spread == 0.0, spread, spread * weights),)


def softmax_cross_entropy(
    op: SoftmaxCrossEntropy, g: Tensor, y: Tensor, scores: Tensor, labels: Tensor
) -> tuple[Tensor, None]:
    """``g * (softmax(scores) - one_hot(labels))``."""
    last = scores.ndim - 1
    probabilities = scores.emit(Softmax(last))
    classes = scores.shape[last]
    assert isinstance(classes, int)
    truth = labels.emit(OneHot(classes, scores.dtype))
    return g.expand_dims(last) * (probabilities - truth), None


RULES: dict[type[Operator], VJPRule] = {
    Softmax: softmax,
    LogSoftmax: log_softmax,
    LogSumExp: logsumexp,
    SoftmaxCrossEntropy: softmax_cross_entropy,
}

KINKS: dict[type[Operator], tuple[Kink, ...]] = {
    LogSumExp: (Kink("logsumexp where every element is minus infinity", "0", "JAX gives NaN"),),
}
