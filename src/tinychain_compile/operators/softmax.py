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
        floating(self.name, scores)
        integer(f"labels of {self.name}", labels)
        if not scores.rank or scores.shape[:-1] != labels.shape:
            raise ShapeMismatchError(
                self.name,
                expected="scores [b.., classes] and labels [b..]",
                got=f"{scores} and {labels}",
            )
        not_empty(self.name, scores, (scores.rank - 1,))
        return scores.with_shape(labels.shape)
