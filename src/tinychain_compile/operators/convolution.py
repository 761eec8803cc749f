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
from tinychain_compile.operators.type_rules import floating

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
        floating(self.name, x)
        if x.dtype is not kernel.dtype:
            raise DtypeMismatchError(
                self.name, expected="operands of equal dtype", got=f"{x} and {kernel}"
            )
        spatial = len(self.strides)
        if not x.rank == kernel.rank == spatial + 2 or not (
            len(self.padding) == len(self.dilations) == spatial
        ):
            raise ShapeMismatchError(
                self.name,
                expected="an image [n, c, s..], a kernel [o, c, k..], and a stride, padding and "
                "dilation for each s",
                got=f"{x}, {kernel} and {spatial} strides",
                hint="Add axes of size 1 where there is no batch or no channel.",
            )
        channels, outputs = x.shape[1], kernel.shape[0]
        groups = self.groups
        fits = groups >= 1 and kernel.shape[1] * groups == channels
        if not fits or (isinstance(outputs, int) and outputs % groups):
            raise ShapeMismatchError(
                self.name,
                expected=f"a kernel [o, c / {groups}, k..] for c channels, and o in {groups} equal "
                "groups",
                got=f"{kernel} for {channels} channels",
            )
        windows = tuple(
            window_count(self.name, size, window, stride, low, high, dilation)
            for size, window, stride, (low, high), dilation in zip(
                x.shape[2:],
                kernel.shape[2:],
                self.strides,
                self.padding,
                self.dilations,
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
