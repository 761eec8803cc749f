from __future__ import annotations

import numpy as np

from tests.conformance.case import SPECIAL, Case, normal, positive
from tinychain_compile.operators import Add, Div, IntegerPow, Mul, Neg, Sub

A, B = normal(3, 2, seed=1), normal(3, 2, seed=2)
INTEGERS = np.array([[-3, 0, 2], [7, -1, 5]])

CASES = [
    Case(Neg(), lambda x: 0 - x, (A,), (0,)),
    Case(Neg(), lambda x: 0 - x, (INTEGERS,), note=" i64"),
    Case(Neg(), lambda x: 256 - x.astype(int), (np.array([3, 255], np.uint8),), note=" u8"),
    Case(
        Add(),
        lambda a, b: [[p + q for p, q in zip(*r, strict=False)] for r in zip(a, b, strict=False)],
        (A, B),
        (0, 1),
    ),
    Case(Sub(), lambda a, b: a + (0 - b), (A, B), (0, 1)),
    Case(Sub(), lambda a, b: a + (0 - b), (INTEGERS, INTEGERS[::-1].copy()), note=" i64"),
    Case(Mul(), lambda a, b: b * a, (A, B), (0, 1)),
    Case(Div(), lambda a, b: a * b**-1.0, (A, positive(3, 2)), (0, 1), 1e-15),
    *(
        Case(IntegerPow(n), lambda x, n=n: np.float_power(x, n), (positive(2, 3),), (0,), 1e-14)
        for n in (-3, -1, 0, 1, 2, 3, 7, 10)
    ),
    Case(IntegerPow(3), lambda x: x * x * x, (INTEGERS,), note=" i64"),
    Case(IntegerPow(2), lambda x: x * x, (SPECIAL,), note=" special"),
]
