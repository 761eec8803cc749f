from __future__ import annotations

import math

import numpy as np

from tests.conformance.case import SPECIAL, Case, normal
from tinychain_compile.operators import LogSoftmax, Relu


def log_softmax(axis):
    def rows(row):
        top = max(row)
        total = math.log(math.fsum(math.exp(v - top) for v in row))
        return np.array([v - top - total for v in row])

    return lambda x: np.apply_along_axis(rows, axis, x)


LARGE = np.array([[1000.0, 1001.0, 999.0], [-1000.0, 0.0, -2000.0]])

CASES = [
    Case(Relu(), lambda x: [[max(v, 0.0) for v in row] for row in x], (normal(3, 2),), (0,)),
    Case(Relu(), lambda x: [v if v > 0 or v != v else 0.0 for v in x], (SPECIAL,), note=" special"),
    Case(LogSoftmax(1), log_softmax(1), (normal(3, 4),), (0,), 1e-14),
    Case(LogSoftmax(0), log_softmax(0), (normal(3, 4, 2),), (0,), 1e-14),
    Case(LogSoftmax(1), log_softmax(1), (LARGE,), note=" large", tolerance=1e-14),
]
