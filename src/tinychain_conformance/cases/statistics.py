from __future__ import annotations

import statistics

import numpy as np

from tinychain_compile.operators import Std, Var
from tinychain_conformance.case import NAN, Case, normal
from tinychain_conformance.cases.reduction import AXES, over

X = normal(2, 3, 4)
EQUAL = np.array([[2.0, 1.0], [2.0, 4.0], [2.0, 1.0]])

CASES = [
    *(Case(Var(a, k), over(a, k, statistics.pvariance), (X,), (0,), 1e-13) for a, k in AXES),
    *(Case(Var(a, k, 1), over(a, k, statistics.variance), (X,), (0,), 1e-13) for a, k in AXES),
    *(Case(Std(a, k), over(a, k, statistics.pstdev), (X,), (0,), 1e-13) for a, k in AXES),
    *(Case(Std(a, k, 1), over(a, k, statistics.stdev), (X,), (0,), 1e-13) for a, k in AXES),
    Case(Std((0,)), lambda x: [0.0, 2**0.5], (EQUAL,), note=" equal", tolerance=1e-15),
    Case(Var((0,), False, 1), lambda x: [NAN], (np.array([[1.0]]),), note=" of one"),
]
