from __future__ import annotations

import itertools

import numpy as np

from tinychain_compile.operators import Concat, Pad, Reverse, Slice
from tinychain_conformance.case import INF, Case, normal

X = normal(3, 5, 2)


def cut(start, stop, step):
    ranges = [range(*row) for row in zip(start, stop, step, strict=True)]
    return lambda x: np.reshape(
        [x[place] for place in itertools.product(*ranges)], [len(r) for r in ranges]
    )


def padded(low, high, interior, value):
    """Return each axis written into a list, one element after another."""

    def row(values, before, after, gap):
        inner = []
        for i, element in enumerate(values):
            inner += ([value] * gap if i else []) + [element]
        inner = [value] * before + inner if before >= 0 else inner[-before:]
        return inner + [value] * after if after >= 0 else inner[:after]

    def apply(x):
        for axis, amounts in enumerate(zip(low, high, interior, strict=True)):
            moved = np.moveaxis(x, axis, -1)
            rows = [row(list(r), *amounts) for r in moved.reshape(-1, moved.shape[-1])]
            width = len(row([0.0] * moved.shape[-1], *amounts))
            shaped = np.array(rows, x.dtype).reshape(*moved.shape[:-1], width)
            x = np.moveaxis(shaped, -1, axis)
        return x

    return apply


SLICES = [
    ((0, 1, 0), (3, 4, 2), (1, 1, 1)),
    ((1, 0, 1), (3, 5, 2), (1, 2, 1)),
    ((0, 1, 0), (3, 5, 2), (2, 3, 1)),
    ((2, 2, 0), (2, 5, 2), (1, 1, 1)),
]
PADS = [
    ((1, 0, 2), (0, 1, 0), (0, 0, 0), 0),
    ((1, 0, 0), (0, 2, 0), (0, 0, 0), 7.0),
    ((0, 1, 0), (1, 1, 0), (1, 2, 0), 0),
    ((0, 1, 0), (1, 1, 0), (1, 2, 3), -INF),
    ((-1, 2, 0), (1, -1, 0), (0, 0, 0), 0),
    ((-1, -2, 0), (0, -1, -1), (2, 1, 0), 3.0),
]

CASES = [
    *(Case(Slice(*row), cut(*row), (X,), (0,)) for row in SLICES),
    Case(Slice((1,), (4,), (2,)), lambda x: [False, True], (np.array([1, 0, 0, 1], bool),)),
    *(Case(Pad(*row), padded(*row), (X,), (0,) if row[3] != -INF else ()) for row in PADS),
    Case(Pad((1,), (1,), (0,), 9), lambda x: [9, 1, 2, 9], (np.array([1, 2]),), note=" i64"),
    Case(Pad((1,), (0,), (0,), True), lambda x: [True, False], (np.array([False]),), note=" bool"),
    Case(Pad((2,), (1,), (1,), 4.0), lambda x: [4.0] * 3, (np.zeros(0),), (0,), note=" empty"),
    Case(
        Concat(1),
        lambda a, b, c: [[*p, *q, *r] for p, q, r in zip(a, b, c, strict=True)],
        (normal(2, 3), normal(2, 1, seed=1), normal(2, 2, seed=2)),
        (0, 1, 2),
    ),
    Case(Concat(0), lambda a: a, (normal(2, 3),), (0,)),
    Case(
        Concat(0),
        lambda a, b: [-0.0, INF, 1.0],
        (np.array([-0.0, INF]), np.array([1.0])),
        note=" special",
    ),
    Case(Concat(0), lambda a, b: [1, 0, 1], (np.array([True, False]), np.array([True]))),
    Case(Reverse((1,)), lambda x: [r[::-1] for r in x.tolist()], (X,), (0,)),
    Case(Reverse((0, 2)), lambda x: [[c[::-1] for c in r] for r in x.tolist()][::-1], (X,), (0,)),
]
