from __future__ import annotations

import math

import numpy as np

from tinychain_compile.operators import WindowMax, WindowMaxGradient, WindowSum
from tinychain_conformance.case import INF, Case, normal

ATTRIBUTES = [
    ((2,), (2,), ((0, 0),)),
    ((3,), (1,), ((1, 2),)),
    ((2, 2), (2, 2), ((0, 0), (0, 0))),
    ((3, 2), (2, 1), ((1, 1), (0, 1))),
    ((2, 3), (3, 2), ((0, 1), (2, 0))),
]
TIES = np.array([[[1.0, 3.0, 3.0, 3.0, 0.0, 0.0]]])


def places(op, x):
    """Return, for each window, the places of the image in it, in row-major order."""
    counts = [
        (n + sum(pad) - k) // s + 1
        for n, k, s, pad in zip(x.shape[2:], op.window, op.strides, op.padding, strict=True)
    ]
    for window in np.ndindex(*counts):
        inside = []
        for offset in np.ndindex(*op.window):
            place = tuple(
                w * s + o - pad[0]
                for w, s, o, pad in zip(window, op.strides, offset, op.padding, strict=True)
            )
            if all(0 <= p < n for p, n in zip(place, x.shape[2:], strict=True)):
                inside.append(place)
        yield window, inside
    return counts


def pooled(op, function):
    def apply(x):
        found = dict(places(op, x))
        counts = [max(w[i] for w in found) + 1 for i in range(len(op.window))]
        result = np.zeros((*x.shape[:2], *counts))
        for n, c in np.ndindex(*x.shape[:2]):
            for window, inside in found.items():
                result[(n, c, *window)] = function([x[(n, c, *p)] for p in inside])
        return result

    return apply


def given_back(op):
    def apply(x, g):
        result = np.zeros_like(x)
        for n, c in np.ndindex(*x.shape[:2]):
            for window, inside in places(op, x):
                best = max(inside, key=lambda p: x[(n, c, *p)])
                result[(n, c, *best)] += g[(n, c, *window)]
        return result

    return apply


def images(attributes):
    return normal(2, 3, *(5, 6)[: len(attributes[0])])


def cotangents(attributes):
    op = WindowMax(*attributes)
    return np.random.default_rng(5).normal(size=pooled(op, max)(images(attributes)).shape)


CASES = [
    *(Case(WindowMax(*a), pooled(WindowMax(*a), max), (images(a),), (0,)) for a in ATTRIBUTES),
    *(
        Case(WindowSum(*a), pooled(WindowSum(*a), math.fsum), (images(a),), (0,), 1e-13)
        for a in ATTRIBUTES
    ),
    *(
        Case(
            WindowMaxGradient(*a),
            given_back(WindowMaxGradient(*a)),
            (images(a), cotangents(a)),
            (0, 1),
            1e-13,
        )
        for a in ATTRIBUTES
    ),
    Case(
        WindowMaxGradient((3,), (1,), ((0, 0),)),
        lambda x, g: [[[0.0, 3.0, 3.0, 4.0, 0.0, 0.0]]],
        (TIES, np.array([[[1.0, 2.0, 3.0, 4.0]]])),
        note=" ties",
    ),
    Case(
        WindowMax((2,), (2,), ((0, 0),)),
        lambda x: [[[-INF, 2.0]]],
        (np.array([[[-INF, -INF, 1.0, 2.0]]]),),
        note=" infinite",
    ),
]
