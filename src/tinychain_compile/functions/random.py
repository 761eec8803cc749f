"""Random numbers as a function of a key, equal on every backend that computes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinychain_compile.functions.arrays import floating_array
from tinychain_compile.ir.dimensions import Shape
from tinychain_compile.ir.dtypes import F32, Array, as_dtype
from tinychain_compile.operators import Dropout, RandomBits, RandomUniform
from tinychain_compile.tensor import Tensor


def random_bits(key: Any, shape: Shape) -> Any:
    """Return 32 random bits for each position.

    Args:
        key: Two words of 32 bits, such as ``np.array([seed, step], np.uint32)``; the same key gives
            the same numbers.
        shape: The shape of the result.

    Shapes:
        ``u32[2] -> u32[shape]``

    Source:
        Threefry-2x32-20 of Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011.
    """
    if isinstance(key, Tensor):
        return key.emit(RandomBits(tuple(shape)))
    return bits_of_array(np.asarray(key), shape)


def random_uniform(key: Any, shape: Shape, dtype: Any = np.float64) -> Any:
    """Return numbers from 0, included, to 1, excluded, all equally likely.

    Args:
        key: Two words of 32 bits; the same key gives the same numbers.
        shape: The shape of the result.
        dtype: f32 or f64; the nearest number below 1 to a fraction of 32 random bits.

    Shapes:
        ``u32[2] -> dtype[shape]``
    """
    if isinstance(key, Tensor):
        return key.emit(RandomUniform(tuple(shape), dtype))
    return uniform_of_array(np.asarray(key), shape, dtype)


def dropout(x: Any, key: Any, rate: float) -> Any:
    """Return ``x`` with each element 0 with probability ``rate``, else divided by ``1 - rate``.

    Args:
        x: Any numbers.
        key: Two words of 32 bits, new ones each step; forward and derivative drop the same.
        rate: From 0, included, to 1, excluded.

    Shapes:
        ``F[s], u32[2] -> F[s]``
    """
    context = x if isinstance(x, Tensor) else key
    if isinstance(context, Tensor):
        return context.lift(x).as_floating().emit(Dropout(rate), context.lift(key))
    return dropout_of_array(floating_array(x), np.asarray(key), rate)


def bits_of_array(key: Array, shape: Any) -> Array:
    """Return the bits for a key that is known."""
    count = int(np.prod(shape, dtype=np.int64))
    position = np.arange(count, dtype=np.uint64)
    words = _threefry(
        key, (position >> np.uint64(32)).astype(np.uint32), position.astype(np.uint32)
    )
    return (words[0] ^ words[1]).reshape(shape)


def uniform_of_array(key: Array, shape: Any, dtype: Any) -> Array:
    """Return uniform numbers for a key that is known."""
    target = as_dtype(dtype)
    fraction = bits_of_array(key, shape).astype(target) * target.type(2.0**-32)
    below: Array = np.minimum(fraction, target.type(1.0 - 2.0**-24)) if target == F32 else fraction
    return below


def dropout_of_array(x: Array, key: Array, rate: float) -> Array:
    """Return an array with elements dropped."""
    keep = uniform_of_array(key, x.shape, np.float32) >= np.float32(rate)
    return np.asarray(np.where(keep, x / x.dtype.type(1.0 - rate), 0), x.dtype)


_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)


def _threefry(key: Array, x0: Array, x1: Array) -> tuple[Array, Array]:
    """Return the two words that a counter becomes after 20 rounds."""
    first, second = key.astype(np.uint32)
    schedule = (first, second, first ^ second ^ _PARITY)
    with np.errstate(over="ignore"):
        x0, x1 = x0 + schedule[0], x1 + schedule[1]
        for group in range(5):
            for distance in _ROTATIONS[group % 2]:
                x0 = x0 + x1
                x1 = (x1 << np.uint32(distance)) | (x1 >> np.uint32(32 - distance))
                x1 = x1 ^ x0
            x0 = x0 + schedule[(group + 1) % 3]
            x1 = x1 + schedule[(group + 2) % 3] + np.uint32(group + 1)
    return x0, x1
