"""The composites of derivatives on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tinychain_compile.functions.activations import erf
from tinychain_compile.functions.arrays import widened
from tinychain_compile.functions.attention import weights_of_arrays
from tinychain_compile.functions.convolution import pad_spatial, windows_of
from tinychain_compile.functions.normalization import standardized
from tinychain_compile.functions.softmax import softmax
from tinychain_compile.operators import AttentionWeights, ConvInputGradient, ConvKernelGradient

Array = NDArray[Any]

_BITS: dict[int, Any] = {2: np.int16, 4: np.int32, 8: np.int64}
"""The integers of as many bytes."""


def tanh_gradient(g: Array, y: Array) -> Any:
    """Return ``g * (1 - y ** 2)``."""
    return g * (1 - y * y)


def sigmoid_gradient(g: Array, y: Array) -> Any:
    """Return ``g * y * (1 - y)``."""
    return g * (y * (1 - y))


def relu_gradient(g: Array, y: Array) -> Array:
    """Return ``g`` where y is above 0, else 0: its bits times 1 or 0, since NaN * 0 is not 0."""
    bits = _BITS[g.dtype.itemsize]
    kept: Array = np.multiply(np.asarray(g).view(bits), y > 0).view(g.dtype)
    return kept


def gelu_gradient(g: Array, x: Array, approximate: bool) -> Array:
    """Return ``g`` times the derivative of gelu."""
    wide = widened(x)
    if approximate:
        t = np.tanh((2 / np.pi) ** 0.5 * (wide + 0.044715 * wide * wide * wide))
        inner = (2 / np.pi) ** 0.5 * (1 + 0.134145 * wide * wide)
        slope = 0.5 * (1 + t) + 0.5 * wide * (1 - t * t) * inner
    else:
        density = np.exp(-0.5 * wide * wide) * (2 * np.pi) ** -0.5
        slope = 0.5 * (1 + erf(wide * 0.5**0.5)) + wide * density
    return _as(widened(g) * slope, g)


def softmax_gradient(g: Array, y: Array, axis: int) -> Array:
    """Return ``y * (g - sum(g * y))``."""
    wide, weights = widened(g), widened(y)
    return _as(weights * (wide - np.sum(wide * weights, axis=axis, keepdims=True)), g)


def log_softmax_gradient(g: Array, y: Array, axis: int) -> Array:
    """Return ``g - exp(y) * sum(g)``."""
    wide = widened(g)
    return _as(wide - np.exp(widened(y)) * np.sum(wide, axis=axis, keepdims=True), g)


def softmax_cross_entropy_gradient(g: Array, scores: Array, labels: Array) -> Array:
    """Return ``g * (softmax(scores) - one_hot(labels))``."""
    result = np.array(softmax(widened(scores), axis=-1))
    places = labels[..., None]
    np.put_along_axis(result, places, np.take_along_axis(result, places, -1) - 1, -1)
    result *= widened(g)[..., None]
    return _as(result, g)


def standardize(x: Array, axes: tuple[int, ...], epsilon: float) -> Array:
    """Return x without its mean, divided by its spread."""
    return _as(standardized(x, axes, epsilon), x)


def standardize_gradient(g: Array, x: Array, axes: tuple[int, ...], epsilon: float) -> Array:
    """Return the cotangent of x in ``standardize``."""
    wide, cotangent = widened(x), widened(g)
    centred = wide - np.mean(wide, axis=axes, keepdims=True)
    spread = 1 / np.sqrt(np.mean(np.square(centred), axis=axes, keepdims=True) + epsilon)
    unit = centred * spread
    along = np.mean(cotangent * unit, axis=axes, keepdims=True)
    mean = np.mean(cotangent, axis=axes, keepdims=True)
    return _as((cotangent - mean - unit * along) * spread, g)


def attention_weights(*operands: Array, operator: AttentionWeights) -> Array:
    """Return how much of each value each query takes."""
    return _as(weights_of_arrays(*operands, operator=operator), operands[0])


def conv_input_gradient(g: Array, kernel: Array, operator: ConvInputGradient) -> Array:
    """Return the cotangent of the image: every window's part, added where the window lay."""
    spatial, groups = len(operator.strides), operator.groups
    batch, counts = g.shape[0], g.shape[2:]
    outputs, inner, *window = kernel.shape
    rows = np.moveaxis(g, 1, -1).reshape(-1, groups, outputs // groups).transpose(1, 0, 2)
    columns = np.matmul(rows, kernel.reshape(groups, outputs // groups, -1))
    parts = columns.reshape(groups, batch, *counts, inner, *window)
    parts = np.moveaxis(parts, (0, 2 + spatial), (1, 2)).reshape(
        batch, groups * inner, *counts, *window
    )
    padded = [
        n + low + high for n, (low, high) in zip(operator.sizes, operator.padding, strict=True)
    ]
    result = np.zeros((batch, groups * inner, *padded), columns.dtype)
    for place in np.ndindex(*window):
        rows_of_place = zip(place, operator.dilations, operator.strides, counts, strict=True)
        at: Any = (..., *(slice(k * d, k * d + (n - 1) * s + 1, s) for k, d, s, n in rows_of_place))
        result[at] += parts[(..., *place)]
    pads = zip(operator.sizes, operator.padding, strict=True)
    inside: Any = (..., *(slice(low, low + n) for n, (low, _) in pads))
    return _as(np.ascontiguousarray(result[inside]), g)


def conv_kernel_gradient(g: Array, x: Array, operator: ConvKernelGradient) -> Array:
    """Return the cotangent of the kernel: every window times what came of it, summed."""
    spatial, groups = len(operator.strides), operator.groups
    outputs, inner = g.shape[1], x.shape[1] // groups
    windows = windows_of(pad_spatial(x, operator.padding), operator.window, operator)
    columns = windows.reshape(x.shape[0], groups, inner, *windows.shape[2:])
    columns = np.moveaxis(columns, range(3, 3 + spatial), range(1, 1 + spatial))
    rows = columns.reshape(-1, groups, inner * int(np.prod(operator.window))).transpose(1, 0, 2)
    pulled = np.moveaxis(g, 1, -1).reshape(-1, groups, outputs // groups).transpose(1, 2, 0)
    return _as(np.matmul(pulled, rows).reshape(outputs, inner, *operator.window), g)


def axpy(alpha: Array, x: Array, y: Array, is_negative: bool, out: Array | None = None) -> Any:
    """Return ``alpha * x + y``, or ``y - alpha * x``; ``out`` may be x."""
    moved = np.asarray(np.multiply(alpha, x, out=out))
    return np.subtract(y, moved, out=moved) if is_negative else np.add(moved, y, out=moved)


def lerp(
    decay: Array,
    old: Array,
    new: Array,
    out: Array | None = None,
    scratch: Array | None = None,
) -> Any:
    """Return ``decay * old + (1 - decay) * new``; ``out`` may be old, ``scratch`` is neither."""
    kept = np.asarray(np.multiply(decay, old, out=out))
    return np.add(kept, np.multiply(1 - decay, new, out=scratch), out=kept)


def adam_direction(
    m: Array,
    v: Array,
    beta1: Array,
    beta2: Array,
    step: Array,
    epsilon: Array,
    out: Array | None = None,
    scratch: Array | None = None,
) -> Any:
    """Return ``m_hat / (sqrt(v_hat) + epsilon)``; ``out`` may be v, ``scratch`` is neither."""
    spread = np.asarray(np.divide(v, 1 - np.power(beta2, step), out=out))
    np.sqrt(spread, out=spread)
    np.add(spread, epsilon, out=spread)
    m_hat = np.divide(m, 1 - np.power(beta1, step), out=scratch)
    return np.divide(m_hat, spread, out=spread)


def _as(result: Any, like: Array) -> Array:
    cast: Array = np.asarray(result).astype(like.dtype, copy=False)
    return cast
