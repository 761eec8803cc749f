from __future__ import annotations

import numpy as np

from tinychain_compile.operators import And, Not, Or
from tinychain_conformance.case import Case

A, B = np.array([True, True, False, False]), np.array([True, False, True, False])

CASES = [
    Case(Not(), lambda a: [False, False, True, True], (A,)),
    Case(And(), lambda a, b: [True, False, False, False], (A, B)),
    Case(Or(), lambda a, b: [True, True, True, False], (A, B)),
]
