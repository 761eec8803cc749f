"""Convolution over any number of spatial axes. The layout is channels first, stated here once.

Images are ``[n, c, spatial..]`` (NCHW), kernels ``[o, c / groups, window..]`` (OIHW). As in every
library of neural networks the kernel is not reversed: strictly, a cross-correlation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from tinychain_compile.errors import DtypeMismatchError, ShapeMismatchError
from tinychain_compile.ir.dimensions import Dimension
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import floating, same

Padding: TypeAlias = tuple[tuple[int, int], ...]
"""How many zeros stand before and after each spatial axis."""


@dataclass(frozen=True, slots=True)
class Conv(Operator):
    """``F[n, c, s..], F[o, c / groups, k..] -> F[n, o, windows(s, k)..]``.

    Args:
        strides: The distance between windows, for each spatial axis.
        padding: Zeros before and after each spatial axis.
        dilations: The distance between the elements of a window, for each spatial axis.
        groups: Into how many groups, each by itself, the channels are split.
    """

    name: ClassVar[str] = "conv"
    strides: tuple[int, ...]
    padding: Padding
    dilations: tuple[int, ...]
    groups: int = 1

    def infer(self, x: TensorType, kernel: TensorType) -> TensorType:
        return _convolved(self.name, self, x, kernel)


@dataclass(frozen=True, slots=True)
class ConvInputGradient(Operator):
    """The cotangent of the image: ``F[n, o, windows..], F[o, c / groups, k..] -> F[n, c, s..]``.

    Also called a transposed convolution.

    Args:
        sizes: The sizes of the image's spatial axes.
        strides: As for ``conv``.
        padding: As for ``conv``.
        dilations: As for ``conv``.
        groups: As for ``conv``.
    """

    name: ClassVar[str] = "conv_input_gradient"
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    padding: Padding
    dilations: tuple[int, ...]
    groups: int = 1

    def infer(self, g: TensorType, kernel: TensorType) -> TensorType:
        channels = kernel.shape[1] * self.groups if kernel.rank > 1 else 0
        x = g.with_shape((*g.shape[:1], channels, *self.sizes))
        same(self.name, _convolved(self.name, self, x, kernel), g)
        return x


@dataclass(frozen=True, slots=True)
class ConvKernelGradient(Operator):
    """The cotangent of the kernel: ``F[n, o, windows..], F[n, c, s..] -> F[o, c / groups, k..]``.

    Args:
        window: The sizes of the kernel's spatial axes.
        strides: As for ``conv``.
        padding: As for ``conv``.
        dilations: As for ``conv``.
        groups: As for ``conv``.
    """

    name: ClassVar[str] = "conv_kernel_gradient"
    window: tuple[int, ...]
    strides: tuple[int, ...]
    padding: Padding
    dilations: tuple[int, ...]
    groups: int = 1

    def infer(self, g: TensorType, x: TensorType) -> TensorType:
        channels, outputs = (t.shape[1] if t.rank > 1 else 0 for t in (x, g))
        inner = channels // self.groups if isinstance(channels, int) else channels
        kernel = x.with_shape((outputs, inner, *self.window))
        same(self.name, _convolved(self.name, self, x, kernel), g)
        return kernel


def _convolved(
    name: str,
    op: Conv | ConvInputGradient | ConvKernelGradient,
    x: TensorType,
    kernel: TensorType,
) -> TensorType:
    """Return the type of the convolution of an image with a kernel."""
    floating(name, x)
    if x.dtype is not kernel.dtype:
        raise DtypeMismatchError(name, expected="operands of equal dtype", got=f"{x} and {kernel}")
    spatial = len(op.strides)
    if not x.rank == kernel.rank == spatial + 2 or not (
        len(op.padding) == len(op.dilations) == spatial
    ):
        raise ShapeMismatchError(
            name,
            expected="an image [n, c, s..], a kernel [o, c, k..], and a stride, padding and "
            "dilation for each s",
            got=f"{x}, {kernel} and {spatial} strides",
            hint="Add axes of size 1 where there is no batch or no channel.",
        )
    channels, outputs = x.shape[1], kernel.shape[0]
    groups = op.groups
    fits = groups >= 1 and kernel.shape[1] * groups == channels
    if not fits or (isinstance(outputs, int) and outputs % groups):
        raise ShapeMismatchError(
            name,
            expected=f"a kernel [o, c / {groups}, k..] for c channels, and o in {groups} equal "
            "groups",
            got=f"{kernel} for {channels} channels",
        )
    windows = tuple(
        window_count(name, size, window, stride, low, high, dilation)
        for size, window, stride, (low, high), dilation in zip(
            x.shape[2:],
            kernel.shape[2:],
            op.strides,
            op.padding,
            op.dilations,
            strict=True,
        )
    )
    return x.with_shape((x.shape[0], outputs, *windows))


def window_count(
    name: str,
    size: Dimension,
    window: Dimension,
    stride: int,
    low: int,
    high: int,
    dilation: int = 1,
) -> Dimension:
    """Return how many windows fit into a padded axis."""
    if not isinstance(size, int) or not isinstance(window, int):
        if stride == dilation == 1 and window == 1 and low == high == 0:
            return size
        raise ShapeMismatchError(
            name,
            expected="spatial sizes that are numbers",
            got=f"{size} and {window}",
            hint="Only the batch may be symbolic; declare the size of an image.",
        )
    covered = (window - 1) * dilation + 1
    if min(stride, dilation, window) < 1 or min(low, high) < 0 or covered > size + low + high:
        raise ShapeMismatchError(
            name,
            expected="a window within the padded axis; strides, dilations and windows from 1, "
            "padding from 0",
            got=f"a window of {window} over {low} + {size} + {high}, stride {stride}, "
            f"dilation {dilation}",
        )
    return (size + low + high - covered) // stride + 1
