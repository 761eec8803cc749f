"""Exponentials that sum to one, and their logarithms. None of them overflows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.errors import ShapeMismatchError
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.bases import AlongAxis, Reduction
from tinychain_compile.operators.type_rules import (
    floating,
    integer,
    not_empty,
    one_axis,
    same,
)


@dataclass(frozen=True, slots=True)
class Softmax(AlongAxis):
    """``exp(x) / sum(exp(x))`` over one axis: ``F[s] -> F[s]``."""

    name: ClassVar[str] = "softmax"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, one_axis(self.name, x, self.axis))


@dataclass(frozen=True, slots=True)
class LogSoftmax(AlongAxis):
    """``x - log(sum(exp(x)))`` over one axis: ``F[s] -> F[s]``."""

    name: ClassVar[str] = "log_softmax"

    def infer(self, x: TensorType) -> TensorType:
        return floating(self.name, one_axis(self.name, x, self.axis))


@dataclass(frozen=True, slots=True)
class LogSumExp(Reduction):
    """``log(sum(exp(x)))`` over axes, none of which may be empty: ``F[s] -> F[s without axes]``."""

    name: ClassVar[str] = "logsumexp"

    def infer(self, x: TensorType) -> TensorType:
        reduced = self.reduced(floating(self.name, x))
        not_empty(self.name, x, self.axes)
        return reduced


@dataclass(frozen=True, slots=True)
class SoftmaxCrossEntropy(Operator):
    """Minus the log of the probability of each label: ``F[b.., c], I[b..] -> F[b..]``.

    Scores are along the last axis; labels count from 0.
    """

    name: ClassVar[str] = "softmax_cross_entropy"

    def infer(self, scores: TensorType, labels: TensorType) -> TensorType:
        return _labelled(self.name, scores, labels)


@dataclass(frozen=True, slots=True)
class SoftmaxGradient(AlongAxis):
    """``y * (g - sum(g * y))``, ``y`` the output of ``softmax``: ``F[s], F[s] -> F[s]``."""

    name: ClassVar[str] = "softmax_gradient"

    def infer(self, g: TensorType, y: TensorType) -> TensorType:
        return floating(self.name, one_axis(self.name, same(self.name, g, y), self.axis))


@dataclass(frozen=True, slots=True)
class LogSoftmaxGradient(AlongAxis):
    """``g - exp(y) * sum(g)``, ``y`` the output of ``log_softmax``: ``F[s], F[s] -> F[s]``."""

    name: ClassVar[str] = "log_softmax_gradient"

    def infer(self, g: TensorType, y: TensorType) -> TensorType:
        return floating(self.name, one_axis(self.name, same(self.name, g, y), self.axis))


@dataclass(frozen=True, slots=True)
class SoftmaxCrossEntropyGradient(Operator):
    """``g * (softmax(scores) - one_hot(labels))``: ``F[b..], F[b.., c], I[b..] -> F[b.., c]``."""

    name: ClassVar[str] = "softmax_cross_entropy_gradient"

    def infer(self, g: TensorType, scores: TensorType, labels: TensorType) -> TensorType:
        same(self.name, _labelled(self.name, scores, labels), g)
        return scores


def _labelled(name: str, scores: TensorType, labels: TensorType) -> TensorType:
    """Return the type of one number for each label."""
    floating(name, scores)
    integer(f"labels of {name}", labels)
    if not scores.rank or scores.shape[:-1] != labels.shape:
        raise ShapeMismatchError(
            name,
            expected="scores [b.., classes] and labels [b..]",
            got=f"{scores} and {labels}",
        )
    not_empty(name, scores, (scores.rank - 1,))
    return scores.with_shape(labels.shape)
