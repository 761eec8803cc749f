"""Exponentials that sum to one, shifted by the largest so that none overflows."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import (
    Gather,
    LogSoftmax,
    LogSoftmaxGradient,
    LogSumExp,
    OneHot,
    Softmax,
    SoftmaxCrossEntropy,
    SoftmaxCrossEntropyGradient,
    SoftmaxGradient,
)
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def softmax(op: Softmax, x: Tensor) -> Tensor:
    """``exp(x - max) / sum(exp(x - max))``."""
    powers = xp.exp(x - x.max(op.axis, keepdims=True))
    return powers / powers.sum(op.axis, keepdims=True)


def log_softmax(op: LogSoftmax, x: Tensor) -> Tensor:
    """``x - max - log(sum(exp(x - max)))``."""
    shifted = x - x.max(op.axis, keepdims=True)
    return shifted - xp.log(xp.exp(shifted).sum(op.axis, keepdims=True))


def logsumexp(op: LogSumExp, x: Tensor) -> Tensor:
    """``log(sum(exp(x - max))) + max``; by 0 where the largest is infinite."""
    largest = x.max(op.axes, keepdims=True)
    shift = xp.where(xp.isfinite(largest), largest, 0.0)
    total = xp.exp(x - shift).sum(op.axes, keepdims=True)
    result = xp.log(total) + shift
    if op.keepdims:
        return result
    return result.reshape(tuple(d for i, d in enumerate(x.shape) if i not in op.axes))


def softmax_cross_entropy(op: SoftmaxCrossEntropy, scores: Tensor, labels: Tensor) -> Tensor:
    """Minus the log-softmax, read at the labels."""
    last = scores.ndim - 1
    logs = scores.emit(LogSoftmax(last))
    chosen = logs.emit(Gather(last, along=True), labels.expand_dims(last))
    return -chosen.reshape(labels.shape)


def softmax_gradient(op: SoftmaxGradient, g: Tensor, y: Tensor) -> Tensor:
    """``y * (g - sum(g * y))``."""
    return y * (g - (g * y).sum(op.axis, keepdims=True))


def log_softmax_gradient(op: LogSoftmaxGradient, g: Tensor, y: Tensor) -> Tensor:
    """``g - exp(y) * sum(g)``."""
    return g - xp.exp(y) * g.sum(op.axis, keepdims=True)


def softmax_cross_entropy_gradient(
    op: SoftmaxCrossEntropyGradient, g: Tensor, scores: Tensor, labels: Tensor
) -> Tensor:
    """``g * (softmax(scores) - one_hot(labels))``."""
    last = scores.ndim - 1
    classes = scores.shape[last]
    assert isinstance(classes, int)
    truth = labels.emit(OneHot(classes, scores.dtype))
    return g.expand_dims(last) * (scores.emit(Softmax(last)) - truth)


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {
    Softmax: softmax,
    LogSoftmax: log_softmax,
    LogSumExp: logsumexp,
    SoftmaxCrossEntropy: softmax_cross_entropy,
    SoftmaxGradient: softmax_gradient,
    LogSoftmaxGradient: log_softmax_gradient,
    SoftmaxCrossEntropyGradient: softmax_cross_entropy_gradient,
}
