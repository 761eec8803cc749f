"""Exponentials that sum to one, and their logarithms. None of them overflows."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from tinychain_compile.functions.arrays import ArrayLike, floating_array
from tinychain_compile.ir.axes import Axes, normalize_axis
from tinychain_compile.ir.dtypes import Array
from tinychain_compile.namespace import logsumexp as logsumexp_of_tensor
from tinychain_compile.operators import LogSoftmax, Softmax, SoftmaxCrossEntropy
from tinychain_compile.tensor import Tensor


def softmax(x: ArrayLike, axis: int = -1) -> ArrayLike:
    """Return ``exp(x) / sum(exp(x))`` over one axis.

    Shapes:
        ``F[s] -> F[s]``
    """
    if isinstance(x, Tensor):
        return x.as_floating().emit(Softmax(normalize_axis(axis, x.type)))
    array = floating_array(x)
    weights = np.exp(array - np.max(array, axis=axis, keepdims=True))
    return cast(ArrayLike, weights / np.sum(weights, axis=axis, keepdims=True))


def log_softmax(x: ArrayLike, axis: int = -1) -> ArrayLike:
    """Return ``x - log(sum(exp(x)))`` over one axis.

    Args:
        x: Scores.
        axis: The axis that sums to one after ``exp``.

    Shapes:
        ``F[s] -> F[s]``
    """
    if isinstance(x, Tensor):
        return x.as_floating().emit(LogSoftmax(normalize_axis(axis, x.type)))
    array = floating_array(x)
    shifted = array - np.max(array, axis=axis, keepdims=True)
    return cast(ArrayLike, shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True)))


def logsumexp(x: ArrayLike, axis: Axes = None, keepdims: bool = False) -> ArrayLike:
    """Return ``log(sum(exp(x)))`` over axes; minus infinity where every element is.

    Shapes:
        ``F[s] -> F[s without axes]``
    """
    if isinstance(x, Tensor):
        return cast(ArrayLike, logsumexp_of_tensor(x, axis=axis, keepdims=keepdims))
    array = floating_array(x)
    axes = tuple(axis) if isinstance(axis, list) else axis
    largest = np.max(array, axis=axes, keepdims=True)
    shift: Array = np.where(np.isfinite(largest), largest, np.zeros(1, array.dtype))
    total = np.sum(np.exp(array - shift), axis=axes, keepdims=True)
    with np.errstate(divide="ignore"):
        result: Array = np.log(total) + shift
    return cast(ArrayLike, result if keepdims else np.squeeze(result, axis=axes))


def softmax_cross_entropy(scores: Any, labels: Any) -> Any:
    """Return minus the log of the probability that softmax gives to each label.

    Args:
        scores: Along the last axis one for each class.
        labels: Integers that count classes from 0.

    Shapes:
        ``F[b.., classes], I[b..] -> F[b..]``
    """
    if isinstance(scores, Tensor) or isinstance(labels, Tensor):
        context = cast(Tensor, scores if isinstance(scores, Tensor) else labels)
        return context.lift(scores).as_floating().emit(SoftmaxCrossEntropy(), context.lift(labels))
    array, positions = floating_array(scores), np.asarray(labels)[..., None]
    chosen = np.take_along_axis(log_softmax(array), positions, axis=-1)
    return -chosen[..., 0]
