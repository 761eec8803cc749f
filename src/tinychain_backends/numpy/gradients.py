"""The composites of derivatives and updates on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tinychain_compile.functions.activations import erf
from tinychain_compile.functions.arrays import widened
from tinychain_compile.functions.attention import weights_of_arrays
from tinychain_compile.functions.normalization import standardized
from tinychain_compile.functions.softmax import softmax
from tinychain_compile.operators import AttentionWeights

Array = NDArray[Any]


def relu_gradient(g: Array, y: Array) -> Array:
    """Return ``g`` where y is above 0, else 0."""
    return np.where(y > 0, g, g.dtype.type(0))


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


def axpy(alpha: Array, x: Array, y: Array) -> Any:
    """Return ``alpha * x + y``."""
    return alpha * x + y


def lerp(decay: Array, old: Array, new: Array) -> Any:
    """Return ``decay * old + (1 - decay) * new``."""
    return decay * old + (1 - decay) * new


def adam_direction(
    m: Array, v: Array, beta1: Array, beta2: Array, step: Array, epsilon: Array
) -> Any:
    """Return ``m_hat / (sqrt(v_hat) + epsilon)``."""
    spread = np.sqrt(v / (1 - np.power(beta2, step))) + epsilon
    return m / (1 - np.power(beta1, step)) / spread


def _as(result: Any, like: Array) -> Array:
    cast: Array = np.asarray(result).astype(like.dtype, copy=False)
    return cast
