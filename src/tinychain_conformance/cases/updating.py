from __future__ import annotations

import math

import numpy as np

from tinychain_compile.operators import AdamDirection, Axpy, Lerp
from tinychain_conformance.case import Case, normal, positive

X, Y = normal(3, 4), normal(3, 4, seed=1)
SCALAR = np.array(0.3)


def each(function):
    """Return a function of arrays, then scalars, element by element."""
    return np.vectorize(function, otypes=[float])


def direction(m, v, beta1, beta2, step, epsilon):
    return m / (1 - beta1**step) / (math.sqrt(v / (1 - beta2**step)) + epsilon)


CASES = [
    Case(Axpy(), each(lambda a, x, y: a * x + y), (SCALAR, X, Y), (0, 1, 2)),
    Case(Axpy(True), each(lambda a, x, y: y - a * x), (SCALAR, X, Y), (0, 1, 2)),
    Case(Lerp(), each(lambda d, x, y: d * x + (1 - d) * y), (SCALAR, X, Y), (0, 1, 2)),
    Case(
        AdamDirection(),
        each(direction),
        (X, positive(3, 4), *map(np.array, (0.9, 0.99, 3.0, 1e-3))),
        tolerance=1e-10,
    ),
]
