from __future__ import annotations

import itertools
import operator

import numpy as np

from tinychain_compile.operators import CumProd, CumSum
from tinychain_conformance.case import Case, normal

X = normal(2, 5, 3)
ZEROS = np.array([[1.5, 0.0, 2.0, -1.0, 0.0, 3.0], [0.5, 2.0, 0.0, 1.0, 4.0, -2.0]])


def running(axis, reverse, function):
    def row(values):
        values = values[::-1] if reverse else values
        result = list(itertools.accumulate(values, function))
        return result[::-1] if reverse else result

    return lambda x: np.apply_along_axis(row, axis, x)


CASES = [
    *(
        Case(kind(axis, reverse), running(axis, reverse, function), (X,), (0,), 1e-13)
        for kind, function in ((CumSum, operator.add), (CumProd, operator.mul))
        for axis in (0, 1, 2)
        for reverse in (False, True)
    ),
    Case(CumProd(1), running(1, False, operator.mul), (ZEROS,), (0,), 1e-13, " zeros"),
    Case(CumProd(1, True), running(1, True, operator.mul), (ZEROS,), (0,), 1e-13, " zeros"),
    Case(CumSum(0), lambda x: [1, 3, 6], (np.array([1, 2, 3]),), note=" i64"),
    Case(CumSum(1), lambda x: np.zeros((2, 0)), (np.zeros((2, 0)),), note=" empty"),
    Case(CumProd(0), lambda x: np.zeros((0, 2)), (np.zeros((0, 2)),), note=" empty"),
]
