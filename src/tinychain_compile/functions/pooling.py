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
    return _over_places(np.maximum, pad_spatial(x, operator.padding, -np.inf), operator)


def sum_of_windows(x: Array, operator: Any) -> Array:
    """Return the sum of each window of an array, channels first."""
    return _over_places(np.add, pad_spatial(x, operator.padding), operator)


def _over_places(join: Any, padded: Array, operator: Any) -> Array:
    """Return what the elements of each window come to, one place of all windows at a time.

    A reduction over the axes of the windows would take its few elements one by one.
    """
    windows = windows_of(padded, operator.window, operator)
    places = np.ndindex(*operator.window)
    result: Array = windows[(..., *next(places))].copy()
    for place in places:
        join(result, windows[(..., *place)], out=result)
    return result
