"""One number for each window of an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinychain_compile.functions.arrays import floating_array
from tinychain_compile.functions.convolution import (
    Layout,
    PaddingLike,
    channels_first,
    channels_last,
    check_images,
    numbers,
    pad_spatial,
    paddings,
    windows_of,
)
from tinychain_compile.ir.dtypes import Array
from tinychain_compile.operators import WindowMax, WindowSum
from tinychain_compile.tensor import Tensor


def max_pool(
    x: Any,
    window: int | Sequence[int],
    *,
    strides: int | Sequence[int] | None = None,
    padding: PaddingLike = 0,
    layout: Layout = "NCHW",
) -> Any:
    """Return the largest of each window; the derivative goes to the first of several.

    Args:
        x: Images.
        window: The size of a window.
        strides: The distance between windows, by default the size of one.
        padding: What stands around the image and never wins.
        layout: Where the channels stand.

    Shapes:
        ``F[n, c, s..] -> F[n, c, windows..]``
    """
    return _pooled(WindowMax, max_of_windows, x, window, strides, padding, layout)


def avg_pool(
    x: Any,
    window: int | Sequence[int],
    *,
    strides: int | Sequence[int] | None = None,
    padding: PaddingLike = 0,
    layout: Layout = "NCHW",
) -> Any:
    """Return the mean of each window, padding counted as zeros.

    Args:
        x: Images.
        window: The size of a window.
        strides: The distance between windows, by default the size of one.
        padding: Zeros around the image.
        layout: Where the channels stand.

    Shapes:
        ``F[n, c, s..] -> F[n, c, windows..]``
    """
    total = _pooled(WindowSum, sum_of_windows, x, window, strides, padding, layout)
    count = np.prod(numbers(window, total.ndim - 2))
    return total / float(count)


def _pooled(
    kind: type[WindowMax | WindowSum],
    on_array: Any,
    x: Any,
    window: int | Sequence[int],
    strides: int | Sequence[int] | None,
    padding: PaddingLike,
    layout: Layout,
) -> Any:
    image = x.as_floating() if isinstance(x, Tensor) else floating_array(x)
    spatial = check_images(kind.name, image)
    image = channels_first(image) if layout == "NHWC" else image
    sizes = numbers(window, spatial)
    steps = sizes if strides is None else numbers(strides, spatial)
    operator = kind(sizes, steps, paddings(padding, image.shape[2:], sizes, steps))
    result = image.emit(operator) if isinstance(image, Tensor) else on_array(image, operator)
    return channels_last(result) if layout == "NHWC" else result


def max_of_windows(x: Array, operator: Any) -> Array:
    """Return the largest of each window of an array, channels first."""
    windows = windows_of(pad_spatial(x, operator.padding, -np.inf), operator.window, operator)
    result: Array = windows.max(axis=tuple(range(x.ndim, windows.ndim)))
    return result


def sum_of_windows(x: Array, operator: Any) -> Array:
    """Return the sum of each window of an array, channels first."""
    windows = windows_of(pad_spatial(x, operator.padding), operator.window, operator)
    result: Array = windows.sum(axis=tuple(range(x.ndim, windows.ndim)), dtype=x.dtype)
    return result
