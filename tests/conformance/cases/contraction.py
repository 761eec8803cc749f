from __future__ import annotations

import numpy as np

from tests.conformance.case import Case, normal
from tinychain_compile.operators import MatMul


def product(ta, tb):
    a = "...km" if ta else "...mk"
    b = "...nk" if tb else "...kn"
    return lambda x, y: np.einsum(f"{a},{b}->...mn", x, y)


def operands(ta, tb, *stack):
    a = normal(*stack, *((4, 3) if ta else (3, 4)), seed=1)
    b = normal(*stack, *((2, 4) if tb else (4, 2)), seed=2)
    return a, b


FLAGS = [(False, False), (True, False), (False, True), (True, True)]

CASES = [
    *(Case(MatMul(*f), product(*f), operands(*f), (0, 1), 1e-14) for f in FLAGS),
    *(Case(MatMul(*f), product(*f), operands(*f, 5), (0, 1), 1e-14, " stack") for f in FLAGS),
]
