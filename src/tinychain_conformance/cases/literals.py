from __future__ import annotations

import numpy as np

from tinychain_compile.operators import Constant, DimensionSize, Iota
from tinychain_conformance.case import Case

CASES = [
    Case(Constant(np.arange(6.0).reshape(2, 3)), lambda: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]),
    Case(Iota((2, 3), 1), lambda: [[0, 1, 2], [0, 1, 2]]),
    Case(Iota((2, 3), 0, np.dtype("f4")), lambda: [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]),
    Case(DimensionSize(7, np.dtype("f8")), lambda: 7.0),
]
