"""Random bits: Threefry-2x32 with 20 rounds, in words of 64 bits that hold 32."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from tinychain_backends.onnx.emitters.elementwise import Emitter
from tinychain_backends.onnx.nodes import Writer
from tinychain_compile import operators as o
from tinychain_compile.operators import Operator

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_WORD = 0xFFFFFFFF
_I64 = np.dtype("int64")


def _random_bits(w: Writer, op: o.RandomBits, key: str) -> str:
    """Encrypt the counter (0, position) with the key, and return the words' exclusive or."""
    wide = w.cast(key, _I64)
    first, second = w.outputs("Split", 2, wide, axis=0, num_outputs=2)
    both = w.node("BitwiseXor", first, second)
    keys = (first, second, w.node("BitwiseXor", both, w.integers([_PARITY])))
    count = w.node("Squeeze", w.size(w.result.size))
    zero, one = w.constant(0, np.int64), w.constant(1, np.int64)
    right = _add(w, w.node("Range", zero, count, one), keys[1])
    left = keys[0]
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            left = _add(w, left, right)
            right = w.node("BitwiseXor", _rotated(w, right, rotation), left)
        left = _add(w, left, keys[(group + 1) % 3])
        scheduled = w.node("Add", keys[(group + 2) % 3], w.integers([group + 1]))
        right = _add(w, right, scheduled)
    return w.reshape(w.cast(w.node("BitwiseXor", left, right), w.result.dtype), op.shape)


def _add(w: Writer, a: str, b: str) -> str:
    return w.node("BitwiseAnd", w.node("Add", a, b), w.integers([_WORD]))


def _rotated(w: Writer, x: str, by: int) -> str:
    high = w.node("BitwiseAnd", w.node("Mul", x, w.integers([1 << by])), w.integers([_WORD]))
    return w.node("BitwiseOr", high, w.node("Div", x, w.integers([1 << (32 - by)])))


RANDOM: Mapping[type[Operator], Emitter] = MappingProxyType({o.RandomBits: _random_bits})
"""What is written for each."""
