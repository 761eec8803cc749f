from __future__ import annotations

from tinychain_compile.operators import BroadcastTo, Reshape, Transpose
from tinychain_conformance.case import Case, normal

X = normal(2, 3)

CASES = [
    Case(
        Reshape((3, 2)),
        lambda x: [[x[0, 0], x[0, 1]], [x[0, 2], x[1, 0]], [x[1, 1], x[1, 2]]],
        (X,),
        (0,),
    ),
    Case(Reshape((1, 6, 1)), lambda x: [[[v] for row in x for v in row]], (X,), (0,)),
    Case(Transpose((1, 0)), lambda x: [[row[j] for row in x] for j in range(3)], (X,), (0,)),
    Case(
        Transpose((2, 0, 1)),
        lambda x: [[[x[i, j, k] for j in range(3)] for i in range(2)] for k in range(4)],
        (normal(2, 3, 4),),
        (0,),
    ),
    Case(BroadcastTo((4, 2, 3)), lambda x: [x.tolist()] * 4, (X,), (0,)),
    Case(BroadcastTo((2, 3)), lambda x: [[v] * 3 for v in x[:, 0]], (normal(2, 1),), (0,)),
    Case(BroadcastTo((2, 5, 3)), lambda x: [[x[0, 0].tolist()] * 5] * 2, (normal(1, 1, 3),), (0,)),
    Case(BroadcastTo((3,)), lambda x: [float(x)] * 3, (normal(),), (0,)),
    Case(BroadcastTo((1, 3)), lambda x: [x.tolist()], (normal(3),), (0,)),
]
