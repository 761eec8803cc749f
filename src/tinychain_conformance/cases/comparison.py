from __future__ import annotations

import operator

import numpy as np

from tinychain_compile.operators import Clip, Equal, Less, LessEqual, Maximum, Minimum
from tinychain_conformance.case import SPECIAL, Case, normal

A, B = normal(3, 2, seed=1), normal(3, 2, seed=2)
LEFT, RIGHT = (grid.ravel() for grid in np.meshgrid(SPECIAL, SPECIAL))


def larger(a, b):
    return [p if p > q or p != p else q for p, q in zip(np.ravel(a), np.ravel(b), strict=True)]


def smaller(a, b):
    return [p if p < q or p != p else q for p, q in zip(np.ravel(a), np.ravel(b), strict=True)]


def pairwise(compare):
    return lambda a, b: [compare(p, q) for p, q in zip(a, b, strict=True)]


def clipped(x, low, high):
    return np.reshape(
        [min(max(v, p), q) for v, p, q in zip(x.flat, low.flat, high.flat, strict=True)], x.shape
    )


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
    Case(Minimum(), lambda a, b: np.reshape(smaller(a, b), a.shape), (A, B), (0, 1)),
    Case(Minimum(), smaller, (LEFT, RIGHT), note=" special"),
    Case(Minimum(), smaller, (np.array([3, -1, 4]), np.array([2, 7, 4])), note=" i64"),
    Case(LessEqual(), pairwise(operator.le), (LEFT, RIGHT), note=" special"),
    Case(LessEqual(), pairwise(operator.le), (np.array([3, 2]), np.array([2, 2])), note=" i64"),
    Case(Equal(), pairwise(operator.eq), (LEFT, RIGHT), note=" special"),
    Case(Equal(), pairwise(operator.eq), (np.array([3, 2]), np.array([2, 2])), note=" i64"),
    Case(Clip(), clipped, (A, A - 0.5, A + 0.25), (0, 1, 2), note=" inside"),
    Case(Clip(), clipped, (A, B - 0.5, B + 0.5), (0, 1, 2)),
    Case(Clip(), clipped, (A, B, B - 1.0), (0, 1, 2), note=" crossed"),
    Case(
        Clip(),
        clipped,
        (np.array([3, -5, 9]), np.array([0, 0, 0]), np.array([4, 4, 4])),
        note=" i64",
    ),
]
