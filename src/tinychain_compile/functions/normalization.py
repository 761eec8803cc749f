"""Normalization: zero mean and unit spread over axes, then a learned scale and shift."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinychain_compile import namespace as xp
from tinychain_compile.functions.arrays import floating_array, tensors_of_one_dtype, widened
from tinychain_compile.ir.axes import normalize_axis
from tinychain_compile.operators import BatchNorm, LayerNorm, RmsNorm
from tinychain_compile.tensor import Tensor


def layer_norm(x: Any, scale: Any, bias: Any, *, epsilon: float = 1e-5) -> Any:
    """Return ``(x - mean) / sqrt(var + epsilon) * scale + bias`` over the axes of ``scale``.

    Shapes:
        ``F[b.., n..], F[n..], F[n..] -> F[b.., n..]``

    Source:
        Ba, Kiros and Hinton, Layer Normalization, 2016.
    """
    tensors = tensors_of_one_dtype(x, scale, bias)
    if tensors:
        return tensors[0].emit(LayerNorm(epsilon), *tensors[1:])
    array = floating_array(x)
    axes = tuple(range(array.ndim - np.ndim(scale), array.ndim))
    return standardized(array, axes, epsilon) * scale + bias


def rms_norm(x: Any, scale: Any, *, epsilon: float = 1e-5) -> Any:
    """Return ``x / sqrt(mean(x ** 2) + epsilon) * scale`` over the axes of ``scale``.

    Shapes:
        ``F[b.., n..], F[n..] -> F[b.., n..]``

    Source:
        Zhang and Sennrich, Root Mean Square Layer Normalization, 2019.
    """
    tensors = tensors_of_one_dtype(x, scale)
    if tensors:
        return tensors[0].emit(RmsNorm(epsilon), tensors[1])
    array = floating_array(x)
    axes = tuple(range(array.ndim - np.ndim(scale), array.ndim))
    wide = widened(array)
    squares = np.mean(np.square(wide), axis=axes, keepdims=True)
    return (wide / np.sqrt(squares + epsilon)).astype(array.dtype) * scale


def batch_norm(x: Any, scale: Any, bias: Any, *, axis: int = 1, epsilon: float = 1e-5) -> Any:
    """Return each channel with the mean and variance of this batch taken out.

    For training; see ``running_statistics`` for what to keep, ``batch_norm_inference`` for its use.

    Args:
        x: At least a batch and channels.
        scale: What each channel is multiplied by.
        bias: What is added to each channel.
        axis: The axis of channels.
        epsilon: Added to the variance.

    Shapes:
        ``F[p.., c, q..], F[c], F[c] -> F[p.., c, q..]``

    Source:
        Ioffe and Szegedy, Batch Normalization, 2015.
    """
    tensors = tensors_of_one_dtype(x, scale, bias)
    if tensors:
        number = normalize_axis(axis, tensors[0].type)
        return tensors[0].emit(BatchNorm(number, epsilon), *tensors[1:])
    array = floating_array(x)
    axes = tuple(i for i in range(array.ndim) if i != axis % array.ndim)
    normal = standardized(array, axes, epsilon)
    return normal * along_axis(scale, axis, array.ndim) + along_axis(bias, axis, array.ndim)


def batch_norm_inference(
    x: Any, scale: Any, bias: Any, mean: Any, variance: Any, *, axis: int = 1, epsilon: float = 1e-5
) -> Any:
    """Return each channel with a known mean and variance taken out.

    Shapes:
        ``F[p.., c, q..], F[c], F[c], F[c], F[c] -> F[p.., c, q..]``
    """
    rank = np.ndim(x)
    scale, bias, mean, variance = (along_axis(v, axis, rank) for v in (scale, bias, mean, variance))
    return (x - mean) / np.sqrt(variance + epsilon) * scale + bias


def running_statistics(
    x: Any, mean: Any, variance: Any, *, axis: int = 1, momentum: float = 0.1
) -> tuple[Any, Any]:
    """Return mean and variance of each channel, moved towards this batch's by ``momentum``.

    The batch's variance is that of a sample (divided by count - 1). No derivative passes.

    Shapes:
        ``F[p.., c, q..], F[c], F[c] -> F[c], F[c]``
    """
    from_batch = xp.stop_gradient(x) if isinstance(x, Tensor) else x
    axes = tuple(i for i in range(np.ndim(x)) if i != axis % np.ndim(x))
    new_mean = np.mean(from_batch, axis=axes)
    new_variance = np.var(from_batch, axis=axes, ddof=1)
    return (
        mean + momentum * (new_mean - mean),
        variance + momentum * (new_variance - variance),
    )


def standardized(array: Any, axes: tuple[int, ...], epsilon: float) -> Any:
    """Return an array without its mean, divided by its spread, over axes."""
    wide = widened(array)
    centred = wide - np.mean(wide, axis=axes, keepdims=True)
    variance = np.mean(np.square(centred), axis=axes, keepdims=True)
    return (centred / np.sqrt(variance + epsilon)).astype(array.dtype)


def along_axis(vector: Any, axis: int, rank: int) -> Any:
    """Return ``v[c]`` as ``v[1.., c, 1..]``."""
    return vector.reshape(tuple(-1 if i == axis % rank else 1 for i in range(rank)))
