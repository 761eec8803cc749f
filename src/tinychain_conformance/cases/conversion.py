from __future__ import annotations

import numpy as np

from tinychain_compile.ir.dtypes import BF16, BOOL, F32, I32
from tinychain_compile.operators import Cast, Named, StopGradient
from tinychain_conformance.case import Case, normal

X = normal(3, 2)

CASES = [
    Case(Cast(F32), lambda x: [[np.float32(v) for v in row] for row in x], (X,)),
    Case(Cast(I32), lambda x: [int(v) for v in x], (np.array([-1.7, 0.2, 3.9]),)),
    Case(Cast(BOOL), lambda x: [v != 0 for v in x], (np.array([0.0, -0.0, 2.0]),)),
    Case(Cast(BF16), lambda x: [1.0, 1.0], (np.array([1.0, 1.001]),)),
    Case(StopGradient(), lambda x: x, (X,)),
    Case(Named("hidden"), lambda x: x, (X,), (0,)),
]
