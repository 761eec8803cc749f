"""Convolution of images of any number of spatial axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from tinychain_compile.errors import ShapeMismatchError
from tinychain_compile.functions.arrays import floating_array, tensors_of_one_dtype
from tinychain_compile.ir.dtypes import Array
from tinychain_compile.operators import Conv
from tinychain_compile.operators.convolution import Padding

Layout: TypeAlias = Literal["NCHW", "NHWC"]
"""Where the channels stand: before the spatial axes, or last; for any number of spatial axes."""

PaddingLike: TypeAlias = int | Literal["same", "valid"] | Sequence[int | tuple[int, int]]
"""One number; a number or a pair for each spatial axis; or a word."""


def conv(
    x: Any,
    kernel: Any,
    *,
    strides: int | Sequence[int] = 1,
    padding: PaddingLike = 0,
    dilations: int | Sequence[int] = 1,
    groups: int = 1,
    layout: Layout = "NCHW",
) -> Any:
    """Return the products of a kernel with every window of an image, summed.

    Args:
        x: Images.
        kernel: One for each output channel.
        strides: The distance between windows.
        padding: Zeros before and after each spatial axis; ``"same"`` for as many as keep
            ``ceil(size / stride)`` windows, the odd one after.
        dilations: The distance between the elements of a window.
        groups: Into how many groups, each by itself, the channels are split.
        layout: ``"NCHW"`` for images [n, c, s..] and kernels [o, c / groups, k..]; ``"NHWC"`` for
            images [n, s.., c] and kernels [k.., c / groups, o].

    Shapes:
        ``F[n, c, s..], F[o, c / groups, k..] -> F[n, o, windows..]``
    """
    tensors = tensors_of_one_dtype(x, kernel)
    image: Any
    weights: Any
    image, weights = tensors or (floating_array(x), floating_array(kernel))
    spatial = check_images("conv", image, kernel=weights)
    last = layout == "NHWC"
    if last:
        image, weights = channels_first(image), kernel_first(weights)
    sizes, window = image.shape[2:], weights.shape[2:]
    steps, gaps = numbers(strides, spatial), numbers(dilations, spatial)
    covered = [(k - 1) * gap + 1 for k, gap in zip(window, gaps, strict=True)]
    pads = paddings(padding, sizes, covered, steps)
    operator = Conv(steps, pads, gaps, groups)
    result = image.emit(operator, weights) if tensors else conv_of_arrays(image, weights, operator)
    return channels_last(result) if last else result


def check_images(name: str, image: Any, **others: Any) -> int:
    """Return the number of spatial axes, at least one."""
    spatial = int(image.ndim) - 2
    wrong = [key for key, other in others.items() if other.ndim != image.ndim]
    if spatial < 1 or wrong:
        raise ShapeMismatchError(
            name,
            expected="an image with a batch, channels and at least one spatial axis, and a kernel "
            "of as many axes",
            got=", ".join(str(tuple(a.shape)) for a in (image, *others.values())),
        )
    return spatial


def conv_of_arrays(x: Array, kernel: Array, operator: Conv) -> Array:
    """Return the convolution of arrays, channels first, as one matrix product."""
    windows = windows_of(pad_spatial(x, operator.padding), kernel.shape[2:], operator)
    groups, (outputs, inner) = operator.groups, kernel.shape[:2]
    spatial = kernel.ndim - 2
    counts = windows.shape[2 : 2 + spatial]
    batch = x.shape[0]
    columns = windows.reshape(batch, groups, inner, *windows.shape[2:])
    columns = np.moveaxis(columns, range(3, 3 + spatial), range(1, 1 + spatial))
    rows = columns.reshape(batch * int(np.prod(counts)), groups, -1).transpose(1, 0, 2)
    weights = kernel.reshape(groups, outputs // groups, -1).transpose(0, 2, 1)
    product = (
        np.matmul(rows, weights)
        .astype(x.dtype, copy=False)
        .transpose(1, 0, 2)
        .reshape(batch, *counts, outputs)
    )
    return np.ascontiguousarray(np.moveaxis(product, -1, 1))


def windows_of(x: Array, window: tuple[int, ...], operator: Any) -> Array:
    """Return ``[n, c, windows.., window..]``, a view of a padded image."""
    spatial = len(window)
    gaps = getattr(operator, "dilations", (1,) * spatial)
    covered = tuple((k - 1) * gap + 1 for k, gap in zip(window, gaps, strict=True))
    view = np.lib.stride_tricks.sliding_window_view(x, covered, tuple(range(2, 2 + spatial)))
    steps = tuple(slice(None, None, step) for step in operator.strides)
    inside = tuple(slice(None, None, gap) for gap in gaps)
    return view[(slice(None), slice(None), *steps, *inside)]


def pad_spatial(x: Array, padding: Padding, value: float = 0.0) -> Array:
    """Return an image with numbers around its spatial axes."""
    if not any(map(any, padding)):
        return x
    return np.pad(x, ((0, 0), (0, 0), *padding), constant_values=value)


def numbers(given: int | Sequence[int], spatial: int) -> tuple[int, ...]:
    """Return one number for each spatial axis."""
    if isinstance(given, int):
        return (given,) * spatial
    if len(given) != spatial:
        raise ShapeMismatchError(
            "window", expected=f"one number, or {spatial}", got=repr(tuple(given))
        )
    return tuple(given)


def paddings(
    given: PaddingLike,
    sizes: Sequence[Any],
    windows: Sequence[Any],
    strides: Sequence[int],
) -> Padding:
    """Return a pair for each spatial axis."""
    spatial = len(sizes)
    if given == "valid":
        return ((0, 0),) * spatial
    if given == "same":
        pads: list[tuple[int, int]] = []
        for size, window, stride in zip(sizes, windows, strides, strict=True):
            total = max((-(-size // stride) - 1) * stride + window - size, 0)
            pads.append((total // 2, total - total // 2))
        return tuple(pads)
    if isinstance(given, int):
        return ((given, given),) * spatial
    amounts = [given] if isinstance(cast(object, given), str) else list(given)
    if len(amounts) != spatial:
        raise ShapeMismatchError(
            "padding",
            expected=f'a number, {spatial} numbers or pairs, "same" or "valid"',
            got=repr(given),
        )
    return tuple(
        (p, p) if isinstance(p, int) else (p[0], p[1])
        for p in cast("list[int | tuple[int, int]]", amounts)
    )


def channels_first(image: Any) -> Any:
    """Return ``[n, s.., c]`` as ``[n, c, s..]``."""
    return image.transpose((0, image.ndim - 1, *range(1, image.ndim - 1)))


def channels_last(image: Any) -> Any:
    """Return ``[n, c, s..]`` as ``[n, s.., c]``."""
    return image.transpose((0, *range(2, image.ndim), 1))


def kernel_first(kernel: Any) -> Any:
    """Return ``[k.., c, o]`` as ``[o, c, k..]``."""
    return kernel.transpose((kernel.ndim - 1, kernel.ndim - 2, *range(kernel.ndim - 2)))
