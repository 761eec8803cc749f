from __future__ import annotations

import math

import numpy as np

from tinychain_compile.operators import Ceil, Floor, IsFinite, Round
from tinychain_conformance.case import SPECIAL, Case

HALVES = np.array([-2.5, -1.5, -0.5, -0.3, 0.3, 0.5, 1.5, 2.5, 3.7, -3.7, 2.0**53 + 2, 1e300])


def whole(function):
    return lambda x: [float(function(v)) if math.isfinite(v) else v for v in x]


CASES = [
    Case(Floor(), whole(math.floor), (HALVES,)),
    Case(Ceil(), whole(math.ceil), (HALVES,)),
    Case(Round(), whole(round), (HALVES,)),
    *(
        Case(operator, whole(function), (SPECIAL,), note=" special")
        for operator, function in ((Floor(), math.floor), (Ceil(), math.ceil), (Round(), round))
    ),
    Case(IsFinite(), lambda x: [math.isfinite(v) for v in x], (SPECIAL,)),
]
