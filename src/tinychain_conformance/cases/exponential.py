from __future__ import annotations

import math

import numpy as np
from scipy import special

from tinychain_compile.operators import (
    Exp,
    Expm1,
    Log,
    Log1p,
    Rsqrt,
    Sigmoid,
    SigmoidGradient,
    Sqrt,
    Tanh,
    TanhGradient,
)
from tinychain_conformance.case import SPECIAL, Case, normal, positive


def elementwise(function):
    def apply(x):
        def safe(v):
            try:
                return function(v)
            except OverflowError:
                return math.inf
            except ValueError:
                return -math.inf if v == 0 else math.nan

        return np.vectorize(safe, otypes=[float])(x)

    return apply


TINY_TO_LARGE = np.concatenate([np.geomspace(1e-18, 30, 200), -np.geomspace(1e-18, 30, 200)])
TWO = (normal(3, 2), normal(3, 2, seed=1))

CASES = [
    Case(Exp(), elementwise(math.exp), (normal(3, 2),), (0,), 1e-15),
    Case(Exp(), elementwise(math.exp), (SPECIAL,), note=" special", tolerance=1e-15),
    Case(Log(), elementwise(math.log), (positive(3, 2),), (0,), 1e-15),
    Case(Log(), elementwise(math.log), (SPECIAL,), note=" special", tolerance=1e-15),
    Case(Sqrt(), elementwise(math.sqrt), (positive(3, 2),), (0,), 4e-16),
    Case(
        Sqrt(),
        elementwise(math.sqrt),
        (np.geomspace(1e-300, 1e300, 400),),
        note=" range",
        tolerance=4e-16,
    ),
    Case(Sqrt(), elementwise(math.sqrt), (SPECIAL,), note=" special", tolerance=4e-16),
    Case(Tanh(), elementwise(math.tanh), (normal(3, 2),), (0,), 2e-15),
    Case(
        TanhGradient(),
        lambda g, y: g - g * y**2,
        (normal(3, 2), normal(3, 2, seed=1)),
        (0, 1),
        1e-13,
    ),
    Case(
        SigmoidGradient(),
        lambda g, y: g * y - g * y**2,
        (normal(3, 2), normal(3, 2, seed=1)),
        (0, 1),
        1e-13,
    ),
    Case(Tanh(), elementwise(math.tanh), (TINY_TO_LARGE,), note=" range", tolerance=2e-15),
    Case(Tanh(), elementwise(math.tanh), (SPECIAL,), note=" special", tolerance=2e-15),
    Case(Expm1(), elementwise(math.expm1), (normal(3, 2),), (0,), 2e-15),
    Case(Expm1(), elementwise(math.expm1), (TINY_TO_LARGE,), note=" range", tolerance=2e-15),
    Case(Expm1(), elementwise(math.expm1), (SPECIAL,), note=" special", tolerance=2e-15),
    Case(Log1p(), elementwise(math.log1p), (positive(3, 2),), (0,), 2e-15),
    Case(
        Log1p(),
        elementwise(math.log1p),
        (np.geomspace(1e-18, 1e300, 300),),
        note=" range",
        tolerance=2e-15,
    ),
    Case(
        Log1p(),
        elementwise(math.log1p),
        (-np.geomspace(1e-18, 0.999, 200),),
        note=" negative",
        tolerance=2e-15,
    ),
    Case(
        Log1p(),
        special.log1p,
        (SPECIAL,),
        note=" special",
        tolerance=2e-15,
    ),
    Case(Rsqrt(), elementwise(lambda v: v**-0.5), (positive(3, 2),), (0,), 1e-15),
    Case(
        Rsqrt(),
        elementwise(lambda v: v**-0.5),
        (np.geomspace(1e-300, 1e300, 99),),
        note=" range",
        tolerance=1e-15,
    ),
    Case(Sigmoid(), elementwise(lambda v: 1 / (1 + math.exp(-v))), (normal(3, 2),), (0,), 1e-15),
    Case(Sigmoid(), special.expit, (SPECIAL,), note=" special", tolerance=1e-15),
]
