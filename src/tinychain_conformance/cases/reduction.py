from __future__ import annotations

import math

import numpy as np

from tinychain_compile.operators import Mean, Norm, ReduceMax, ReduceMin, ReduceProd, ReduceSum
from tinychain_conformance.case import NAN, Case, normal

X = normal(2, 3, 4)


def over(axes, keepdims, function):
    def apply(x):
        kept = [axis for axis in range(x.ndim) if axis not in axes]
        rows = np.transpose(x, (*kept, *axes)).reshape(*(x.shape[k] for k in kept), -1)
        flat = np.array([function(row) for row in rows.reshape(-1, rows.shape[-1])])
        shape = [1 if a in axes else n for a, n in enumerate(x.shape)]
        return flat.reshape(shape if keepdims else [x.shape[k] for k in kept])

    return apply


ZEROS = np.array([[0.0, 0.0, 2.0, 0.5], [3.0, 0.0, -1.0, 1.5], [-2.0, 4.0, 0.25, -3.0]])

AXES = [((0,), False), ((1,), True), ((0, 2), False), ((0, 1, 2), True), ((0, 1, 2), False)]

CASES = [
    *(Case(ReduceSum(a, k), over(a, k, math.fsum), (X,), (0,), 1e-13) for a, k in AXES),
    *(Case(ReduceMax(a, k), over(a, k, max), (X,), (0,)) for a, k in AXES),
    *(
        Case(Mean(a, k), over(a, k, lambda r: math.fsum(r) / len(r)), (X,), (0,), 1e-13)
        for a, k in AXES
    ),
    Case(ReduceSum((0,)), lambda x: [4, 6], (np.array([[1, 2], [3, 4]], np.int32),), note=" i32"),
    Case(ReduceMax((1,)), lambda x: [NAN, 5.0], (np.array([[1.0, NAN], [5.0, 2.0]]),), note=" nan"),
    Case(ReduceSum((0,)), lambda x: [0.0, 0.0], (np.zeros((0, 2)),), note=" empty"),
    *(Case(ReduceMin(a, k), over(a, k, min), (X,), (0,)) for a, k in AXES),
    Case(ReduceMin((1,)), lambda x: [NAN, 2.0], (np.array([[1.0, NAN], [5.0, 2.0]]),), note=" nan"),
    Case(
        ReduceMin((0,)),
        lambda x: [-(2**63), 2],
        (np.array([[-(2**63), 2], [3, 4]]),),
        note=" i64",
    ),
    Case(ReduceMin((0,)), lambda x: [0, 7], (np.array([[0, 9], [3, 7]], np.uint8),), note=" u8"),
    *(Case(ReduceProd(a, k), over(a, k, math.prod), (X,), (0,), 1e-13) for a, k in AXES),
    Case(ReduceProd((0,)), over((0,), False, math.prod), (ZEROS,), (0,), 1e-13, " zeros"),
    Case(ReduceProd((0,)), lambda x: [1.0, 1.0], (np.zeros((0, 2)),), note=" empty"),
    Case(ReduceProd((0,)), lambda x: [3, 8], (np.array([[1, 2], [3, 4]]),), note=" i64"),
    *(
        Case(
            Norm(a, k),
            over(a, k, lambda r: math.sqrt(math.fsum(v * v for v in r))),
            (X,),
            (0,),
            1e-13,
        )
        for a, k in AXES
    ),
    Case(Norm((0,)), lambda x: [0.0, 5.0], (np.array([[0.0, 3.0], [0.0, 4.0]]),), note=" zero"),
]
