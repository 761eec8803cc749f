from __future__ import annotations

import numpy as np

from tests.conformance.case import SPECIAL, Case, normal
from tinychain_compile.operators import Less, Maximum

A, B = normal(3, 2, seed=1), normal(3, 2, seed=2)
LEFT, RIGHT = (grid.ravel() for grid in np.meshgrid(SPECIAL, SPECIAL))


def larger(a, b):
    return [p if p > q or p != p else q for p, q in zip(np.ravel(a), np.ravel(b), strict=True)]


CASES = [
    Case(
        Less(),
        lambda a, b: [[p < q for p, q in zip(*r, strict=False)] for r in zip(a, b, strict=False)],
        (A, B),
    ),
    Case(
        Less(),
        lambda a, b: [p < q for p, q in zip(a, b, strict=False)],
        (LEFT, RIGHT),
        note=" special",
    ),
    Case(Maximum(), lambda a, b: np.reshape(larger(a, b), a.shape), (A, B), (0, 1)),
    Case(Maximum(), larger, (LEFT, RIGHT), note=" special"),
    Case(Maximum(), larger, (np.array([3, -1, 4]), np.array([2, 7, 4])), note=" i64"),
]
