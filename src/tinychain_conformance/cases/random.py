from __future__ import annotations

import struct

import numpy as np

from tinychain_compile.operators import Dropout, RandomBits, RandomUniform
from tinychain_conformance.case import Case, normal

KEY = np.array([1234, 5], np.uint32)
WORD = 2**32 - 1


def threefry(key, counter):
    """Return two words, in Python's integers; the schedule is the paper's."""
    k = [*map(int, key)]
    k.append(k[0] ^ k[1] ^ 0x1BD11BDA)
    x = [(c + w) & WORD for c, w in zip(counter, k, strict=False)]
    for step in range(20):
        r = (13, 15, 26, 6, 17, 29, 16, 24)[step % 8]
        x[0] = (x[0] + x[1]) & WORD
        x[1] = ((x[1] << r) | (x[1] >> (32 - r))) & WORD ^ x[0]
        if step % 4 == 3:
            group = step // 4 + 1
            x[0] = (x[0] + k[group % 3]) & WORD
            x[1] = (x[1] + k[(group + 1) % 3] + group) & WORD
    return x


def bits(shape):
    def apply(key):
        words = [threefry(key, (0, i)) for i in range(int(np.prod(shape)))]
        return np.array([a ^ b for a, b in words], np.uint64).reshape(shape)

    return apply


def uniform32(shape):
    def fraction(word):
        exact = int(word) / 2**32
        return min(struct.unpack("f", struct.pack("f", exact))[0], 1 - 2**-24)

    return lambda key: np.vectorize(fraction, otypes=[float])(bits(shape)(key))


def dropped(x, key):
    keep = uniform32(x.shape)(key) >= 0.25
    return np.where(keep, x / 0.75, 0.0)


CASES = [
    Case(RandomBits((3, 2)), bits((3, 2)), (KEY,)),
    Case(RandomBits(()), bits(()), (KEY,), note=" scalar"),
    Case(RandomUniform((5,), np.float32), uniform32((5,)), (KEY,)),
    Case(RandomUniform((5,), np.float64), lambda k: bits((5,))(k).astype(float) / 2**32, (KEY,)),
    Case(Dropout(0.25), dropped, (normal(4, 3), KEY), (0,)),
]
