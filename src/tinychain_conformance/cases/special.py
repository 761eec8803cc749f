from __future__ import annotations

import math

import numpy as np

from tinychain_compile.operators import Erf
from tinychain_conformance.case import SPECIAL, Case, normal

RANGE = np.concatenate([np.geomspace(1e-300, 30, 400), -np.geomspace(1e-18, 7, 400)])
erf = np.vectorize(math.erf, otypes=[float])

CASES = [
    Case(Erf(), erf, (normal(3, 2),), (0,), 1e-15),
    Case(Erf(), erf, (RANGE,), note=" range", tolerance=1e-15),
    Case(Erf(), erf, (SPECIAL,), note=" special", tolerance=1e-15),
]
