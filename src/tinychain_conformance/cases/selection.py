from __future__ import annotations

import numpy as np

from tinychain_compile.operators import Annihilate, MulNoNan, Where
from tinychain_conformance.case import INF, NAN, Case, normal

CHOICE = np.array([[True, False], [False, False], [True, True]])


def choose(c, a, b):
    return [
        [p if t else q for t, p, q in zip(*rows, strict=False)]
        for rows in zip(c, a, b, strict=False)
    ]


CASES = [
    Case(Where(), choose, (CHOICE, normal(3, 2, seed=1), normal(3, 2, seed=2)), (1, 2)),
    Case(Where(), choose, (CHOICE, ~CHOICE, CHOICE), note=" bool"),
    Case(
        Annihilate(),
        lambda a, b: [0.0, 0.0, INF, NAN, NAN, 6.0],
        (np.array([0.0, -0.0, 2.0, NAN, 1.0, 2.0]), np.array([INF, NAN, INF, NAN, NAN, 6.0])),
    ),
    Case(
        MulNoNan(),
        lambda a, b: [0.0, -0.0, INF, NAN, NAN, 6.0],
        (np.array([0.0, -0.0, 2.0, NAN, 1.0, 2.0]), np.array([INF, NAN, INF, 1.0, NAN, 3.0])),
    ),
    Case(
        MulNoNan(),
        lambda a, b: [
            [p * q for p, q in zip(*rows, strict=False)] for rows in zip(a, b, strict=False)
        ],
        (normal(3, 2, seed=3), normal(3, 2, seed=4)),
        (0, 1),
    ),
]
