from __future__ import annotations

import math

import numpy as np

from tinychain_compile.operators import Abs, Add, Div, IntegerPow, Mul, Neg, Pow, Sign, Sub
from tinychain_conformance.case import SPECIAL, Case, normal, positive

A, B = normal(3, 2, seed=1), normal(3, 2, seed=2)
INTEGERS = np.array([[-3, 0, 2], [7, -1, 5]])
POW_BASES = np.array([0.0, 0.0, 0.0, 2.0, -2.0, -2.0, -3.0, -1.5, 1.0, 1.0, -1.0, 5.0])
POW_EXPONENTS = np.array([0.0, 2.0, -1.0, 0.0, 3.0, 2.0, -3.0, 0.5, math.inf, 7.0, 3.0, -math.inf])


def power(base, exponent):
    try:
        result = base**exponent
    except ZeroDivisionError:
        return math.inf
    return math.nan if isinstance(result, complex) else result


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
    Case(Abs(), lambda x: [[v if v > 0 else 0 - v for v in row] for row in x], (A,), (0,)),
    Case(Abs(), lambda x: [math.fabs(v) for v in x], (SPECIAL,), note=" special"),
    Case(Abs(), lambda x: [[3, 0, 2], [7, 1, 5]], (INTEGERS,), note=" i64"),
    Case(Sign(), lambda x: [[math.copysign(1.0, v) for v in row] for row in x], (A,)),
    Case(
        Sign(),
        lambda x: [v if v == 0 or v != v else math.copysign(1.0, v) for v in x],
        (SPECIAL,),
        note=" special",
    ),
    Case(Sign(), lambda x: [[-1, 0, 1], [1, -1, 1]], (INTEGERS,), note=" i64"),
    Case(Sign(), lambda x: [0, 1], (np.array([0, 200], np.uint8),), note=" u8"),
    Case(
        Pow(), lambda a, b: np.exp2(b * np.log2(a)), (positive(3, 2), normal(3, 2)), (0, 1), 1e-14
    ),
    Case(
        Pow(),
        lambda a, b: [power(p, q) for p, q in zip(a, b, strict=True)],
        (POW_BASES, POW_EXPONENTS),
        note=" special",
        tolerance=1e-14,
    ),
]
