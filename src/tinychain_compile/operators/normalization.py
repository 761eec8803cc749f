"""Normalization: zero mean and unit spread over axes, then a learned scale and shift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.errors import DtypeMismatchError, ShapeMismatchError
from tinychain_compile.ir.dimensions import Shape
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import floating, one_axis, reduced_shape, same


@dataclass(frozen=True, slots=True)
class LayerNorm(Operator):
    """``(x - mean) / sqrt(var + epsilon) * scale + bias`` over the last axes.

    ``F[b.., n..], F[n..], F[n..] -> F[b.., n..]``. Source: Ba, Kiros and Hinton, Layer
    Normalization, 2016.

    Args:
        epsilon: Added to the variance.
    """

    name: ClassVar[str] = "layer_norm"
    epsilon: float

    def infer(self, x: TensorType, scale: TensorType, bias: TensorType) -> TensorType:
        _check(self.name, x, _trailing(x, scale), scale, bias)
        return x


@dataclass(frozen=True, slots=True)
class RmsNorm(Operator):
    """``x / sqrt(mean(x ** 2) + epsilon) * scale`` over the last axes.

    ``F[b.., n..], F[n..] -> F[b.., n..]``. Source: Zhang and Sennrich, Root Mean Square Layer
    Normalization, 2019.

    Args:
        epsilon: Added to the mean of squares.
    """

    name: ClassVar[str] = "rms_norm"
    epsilon: float

    def infer(self, x: TensorType, scale: TensorType) -> TensorType:
        _check(self.name, x, _trailing(x, scale), scale)
        return x


@dataclass(frozen=True, slots=True)
class BatchNorm(Operator):
    """``(x - mean) / sqrt(var + epsilon) * scale + bias`` over all axes but one.

    ``F[p.., c, q..], F[c], F[c] -> F[p.., c, q..]``, with the statistics of this batch. Source:
    Ioffe and Szegedy, Batch Normalization, 2015.

    Args:
        axis: The axis of channels, each normalized by itself.
        epsilon: Added to the variance.
    """

    name: ClassVar[str] = "batch_norm"
    axis: int
    epsilon: float

    def infer(self, x: TensorType, scale: TensorType, bias: TensorType) -> TensorType:
        size = one_axis(self.name, x, self.axis).shape[self.axis]
        _check(self.name, x, (size,), scale, bias)
        return x


@dataclass(frozen=True, slots=True)
class Standardize(Operator):
    """``(x - mean) / sqrt(var + epsilon)`` over axes: ``F[s] -> F[s]``.

    Args:
        axes: The axes of mean and variance, ascending, from 0, without repeats.
        epsilon: Added to the variance.
    """

    name: ClassVar[str] = "standardize"
    axes: tuple[int, ...]
    epsilon: float

    def infer(self, x: TensorType) -> TensorType:
        reduced_shape(self.name, x, self.axes, keepdims=True)
        return floating(self.name, x)


@dataclass(frozen=True, slots=True)
class StandardizeGradient(Operator):
    """The cotangent of ``x`` in ``standardize``: ``F[s], F[s] -> F[s]``.

    ``(g - mean(g) - u * mean(g * u)) / sqrt(var + epsilon)`` for ``u = standardize(x)``.

    Args:
        axes: As for ``standardize``.
        epsilon: As for ``standardize``.
    """

    name: ClassVar[str] = "standardize_gradient"
    axes: tuple[int, ...]
    epsilon: float

    def infer(self, g: TensorType, x: TensorType) -> TensorType:
        reduced_shape(self.name, x, self.axes, keepdims=True)
        return floating(self.name, same(self.name, g, x))


def _trailing(x: TensorType, scale: TensorType) -> Shape:
    return x.shape[max(x.rank - scale.rank, 0) :]


def _check(name: str, x: TensorType, shape: Shape, *learned: TensorType) -> None:
    """Check that what is learned has the shape that is normalized, and the dtype of x."""
    floating(name, x)
    for type in learned:
        if type.dtype is not x.dtype:
            raise DtypeMismatchError(
                name, expected="operands of equal dtype", got=f"{x} and {type}"
            )
        if type.shape != shape:
            raise ShapeMismatchError(
                name, expected=f"a scale and a bias of shape {shape} for {x}", got=str(type)
            )
