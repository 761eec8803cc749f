"""Derivatives of exponentials that sum to one."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import (
    LogSoftmax,
    LogSoftmaxGradient,
    LogSumExp,
    Softmax,
    SoftmaxCrossEntropy,
    SoftmaxCrossEntropyGradient,
    SoftmaxGradient,
)
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor
from tinychain_compile.vjp_rules.repeating import repeated
from tinychain_compile.vjp_rules.statements import Kink


def softmax(op: Softmax, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``y * (g - sum(g * y))``."""
    return (g.emit(SoftmaxGradient(op.axis), y),)


def softmax_gradient(
    op: SoftmaxGradient, h: Tensor, z: Tensor, g: Tensor, y: Tensor
) -> tuple[Tensor, Tensor]:
    """It is its own derivative by ``g``; to ``y`` as a product and a sum give."""
    inner = (g * y).sum(op.axis, keepdims=True)
    return h.emit(op, y), h * (g - inner) - g * (h * y).sum(op.axis, keepdims=True)


def log_softmax(op: LogSoftmax, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g - exp(y) * sum(g)``."""
    return (g.emit(LogSoftmaxGradient(op.axis), y),)


def log_softmax_gradient(
    op: LogSoftmaxGradient, h: Tensor, z: Tensor, g: Tensor, y: Tensor
) -> tuple[Tensor, Tensor]:
    """To ``g``, ``h - sum(h * exp(y))``; to ``y``, ``-h * exp(y) * sum(g)``."""
    part = h * xp.exp(y)
    total = part.sum(op.axis, keepdims=True)
    return h - total, -part * g.sum(op.axis, keepdims=True)


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
    return g.emit(SoftmaxCrossEntropyGradient(), scores, labels), None


def softmax_cross_entropy_gradient(
    op: SoftmaxCrossEntropyGradient,
    h: Tensor,
    z: Tensor,
    g: Tensor,
    scores: Tensor,
    labels: Tensor,
) -> tuple[Tensor, Tensor, None]:
    """To ``g``, the sum of ``h`` times what it is multiplied by; to the scores by the softmax."""
    last = scores.ndim - 1
    one = g.full(1.0).emit(op, scores, labels)
    weights = scores.emit(Softmax(last))
    to_scores = (h * g.expand_dims(last)).emit(SoftmaxGradient(last), weights)
    return (h * one).sum(last), to_scores, None


RULES: dict[type[Operator], VJPRule] = {
    Softmax: softmax,
    LogSoftmax: log_softmax,
    LogSumExp: logsumexp,
    SoftmaxCrossEntropy: softmax_cross_entropy,
    SoftmaxGradient: softmax_gradient,
    LogSoftmaxGradient: log_softmax_gradient,
    SoftmaxCrossEntropyGradient: softmax_cross_entropy_gradient,
}

KINKS: dict[type[Operator], tuple[Kink, ...]] = {
    LogSumExp: (Kink("logsumexp where every element is minus infinity", "0", "JAX gives NaN"),),
}
