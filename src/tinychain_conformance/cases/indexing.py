from __future__ import annotations

import numpy as np

from tinychain_compile.operators import Gather, OneHot, ScatterAdd
from tinychain_conformance.case import Case, normal

X = normal(3, 4, 2)
ROWS = np.array([[2, 0], [-1, 2], [0, 0]])
ALONG = np.array([[[3, 0], [1, 1]], [[-1, 2], [0, 0]], [[2, -4], [2, 3]]])


def take(x, i):
    return [[x[r].tolist() for r in row] for row in i]


def take_along(x, i):
    return [[[x[a, i[a, b, c], c] for c in range(2)] for b in range(2)] for a in range(3)]


def add_rows(size):
    def apply(u, i):
        result = [np.zeros(u.shape[2:]) for _ in range(size)]
        for place in np.ndindex(i.shape):
            result[i[place]] = result[i[place]] + u[place]
        return result

    return apply


def add_along(u, i):
    result = np.zeros((3, 4, 2))
    for a, b, c in np.ndindex(u.shape):
        result[a, i[a, b, c], c] += u[a, b, c]
    return result


CASES = [
    Case(Gather(0), take, (X, ROWS), (0,)),
    Case(
        Gather(1),
        lambda x, i: [[r[i].tolist()] for r in x] and x[:, i],
        (X, np.array(2)),
        (0,),
        note=" scalar",
    ),
    Case(
        Gather(2),
        lambda x, i: [[[r[k] for k in i] for r in m] for m in x],
        (X, np.array([1, 1, 0])),
        (0,),
    ),
    Case(Gather(1, along=True), take_along, (X, ALONG), (0,)),
    Case(
        Gather(0),
        lambda x, i: [x[k] for k in i],
        (np.array([True, False]), np.array([1, 0])),
        note=" bool",
    ),
    Case(
        Gather(0),
        lambda x, i: [x[k] for k in i],
        (normal(300), np.array([7, 255], np.uint8)),
        (0,),
        note=" u8",
    ),
    Case(ScatterAdd(0, 3), add_rows(3), (normal(3, 2, 5), ROWS), (0,), 1e-14),
    Case(ScatterAdd(1, 4, along=True), add_along, (normal(3, 2, 2), ALONG), (0,), 1e-14),
    Case(
        OneHot(4, np.float64),
        lambda i: [[float(k == v) for k in range(4)] for v in i],
        (np.array([2, 0, -1, 4]),),
    ),
    Case(OneHot(3, np.int32), lambda i: [[0, 1, 0]], (np.array([1], np.uint8),), note=" u8"),
]
