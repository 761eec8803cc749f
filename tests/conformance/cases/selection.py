from __future__ import annotations

import numpy as np

from tests.conformance.case import Case, normal
from tinychain_compile.operators import Where

CHOICE = np.array([[True, False], [False, False], [True, True]])


def choose(c, a, b):
    return [
        [p if t else q for t, p, q in zip(*rows, strict=False)]
        for rows in zip(c, a, b, strict=False)
    ]


CASES = [
    Case(Where(), choose, (CHOICE, normal(3, 2, seed=1), normal(3, 2, seed=2)), (1, 2)),
    Case(Where(), choose, (CHOICE, ~CHOICE, CHOICE), note=" bool"),
]
