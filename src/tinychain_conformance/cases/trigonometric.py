from __future__ import annotations

import math

import numpy as np

from tinychain_compile.operators import Atan2, Cos, Sin
from tinychain_conformance.case import INF, NAN, Case, normal

ANGLES = np.concatenate([np.linspace(-30, 30, 401), np.geomspace(1e-18, 1e5, 200)])
POINTS = np.array([0.0, 1e-300, -1e-20, 0.3, -1.0, 1.0, 2.5, -1e200, INF, -INF, NAN])
Y, X = (grid.ravel() for grid in np.meshgrid(POINTS, POINTS))


def each(function):
    return np.vectorize(lambda *v: function(*v), otypes=[float])


CASES = [
    Case(Sin(), each(math.sin), (normal(3, 2),), (0,), 1e-15),
    Case(Cos(), each(math.cos), (normal(3, 2),), (0,), 1e-15),
    Case(Sin(), each(math.sin), (ANGLES,), note=" range", tolerance=2e-13),
    Case(Cos(), each(math.cos), (ANGLES,), note=" range", tolerance=2e-13),
    Case(Sin(), lambda x: [NAN, NAN, NAN], (np.array([INF, -INF, NAN]),), note=" special"),
    Case(Atan2(), each(math.atan2), (normal(3, 2), normal(3, 2, seed=1)), (0, 1), 1e-15),
    Case(Atan2(), each(math.atan2), (Y, X), note=" special", tolerance=1e-15),
]
