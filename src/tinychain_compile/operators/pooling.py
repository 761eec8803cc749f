"""Reductions over windows of the spatial axes of ``[n, c, spatial..]``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.errors import ShapeMismatchError
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.convolution import Padding, window_count
from tinychain_compile.operators.type_rules import floating, same


@dataclass(frozen=True, slots=True)
class _Window(Operator):
    """Base: what every window has."""

    window: tuple[int, ...]
    strides: tuple[int, ...]
    padding: Padding

    def pooled(self, x: TensorType) -> TensorType:
        """Return the type of one number for each window."""
        spatial = len(self.window)
        if x.rank != spatial + 2 or not len(self.strides) == len(self.padding) == spatial:
            raise ShapeMismatchError(
                self.name,
                expected="an image [n, c, s..], and a window, stride and padding for each s",
                got=f"{x} and {self}",
            )
        rows = zip(x.shape[2:], self.window, self.strides, self.padding, strict=True)
        counts = [window_count(self.name, s, k, stride, *pad) for s, k, stride, pad in rows]
        return floating(self.name, x).with_shape((*x.shape[:2], *counts))


@dataclass(frozen=True, slots=True)
class WindowMax(_Window):
    """The largest of each window: ``F[n, c, s..] -> F[n, c, windows..]``.

    Args:
        window: The size of a window, for each spatial axis.
        strides: The distance between windows, for each spatial axis.
        padding: Minus infinities before and after each spatial axis; fewer than the window.
    """

    name: ClassVar[str] = "window_max"

    def infer(self, x: TensorType) -> TensorType:
        for window, pads in zip(self.window, self.padding, strict=False):
            if max(pads) >= window:
                raise ShapeMismatchError(
                    self.name,
                    expected=f"less padding than the window, {window}",
                    got=str(pads),
                    hint="A window of padding alone has no largest element.",
                )
        return self.pooled(x)


@dataclass(frozen=True, slots=True)
class WindowMaxGradient(_Window):
    """What each window gives to its largest, the first of several: the derivative of window_max.

    ``F[n, c, s..], F[n, c, windows..] -> F[n, c, s..]``; overlapping windows add up.

    Args:
        window: The size of a window, for each spatial axis.
        strides: The distance between windows, for each spatial axis.
        padding: Minus infinities before and after each spatial axis.
    """

    name: ClassVar[str] = "window_max_gradient"

    def infer(self, x: TensorType, g: TensorType) -> TensorType:
        same(self.name, self.pooled(x), g)
        return x


@dataclass(frozen=True, slots=True)
class WindowSum(_Window):
    """The sum of each window: ``F[n, c, s..] -> F[n, c, windows..]``.

    Args:
        window: The size of a window, for each spatial axis.
        strides: The distance between windows, for each spatial axis.
        padding: Zeros before and after each spatial axis.
    """

    name: ClassVar[str] = "window_sum"

    def infer(self, x: TensorType) -> TensorType:
        return self.pooled(x)
