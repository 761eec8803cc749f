from __future__ import annotations

import math

import numpy as np

from tinychain_compile.operators import ArgMax, ArgMin, ArgSort, Sort, TopK
from tinychain_conformance.case import INF, NAN, Case, normal

X = normal(3, 5, 2)
TIES = np.array([[2, 7, 2, 7, 1], [3, 3, 3, 0, 3]])
SPECIAL = np.array([[1.0, INF, NAN, -INF, 0.0, NAN], [3.0, -0.0, 0.0, 5.0, 5.0, -2.0]])


def key(value):
    return (math.isnan(value), value if not math.isnan(value) else 0.0)


def order(row, descending):
    places = sorted(range(len(row)), key=lambda i: key(row[i]))
    if descending:
        places = sorted(range(len(row)), key=lambda i: (key(row[i]), -i), reverse=True)
    return places


def along(axis, function):
    return lambda x: np.apply_along_axis(function, axis, x)


def first(row, best):
    missing = [i for i, v in enumerate(row) if math.isnan(v)]
    return missing[0] if missing else list(row).index(best(row))


def sorted_by(descending):
    return lambda row: [row[i] for i in order(row, descending)]


OPERANDS = [(X, 1, ""), (X, 0, ""), (TIES, 1, " ties"), (SPECIAL, 1, " special")]

CASES = [
    *(Case(ArgMax(a), along(a, lambda r: first(r, max)), (x,), note=n) for x, a, n in OPERANDS),
    *(Case(ArgMin(a), along(a, lambda r: first(r, min)), (x,), note=n) for x, a, n in OPERANDS),
    *(
        Case(ArgSort(a, down), along(a, lambda r, down=down: order(r, down)), (x,), note=n)
        for x, a, n in OPERANDS
        for down in (False, True)
    ),
    *(
        Case(Sort(a, down), along(a, sorted_by(down)), (x,), (0,) if x is X else (), note=n)
        for x, a, n in OPERANDS
        for down in (False, True)
    ),
    *(
        Case(
            TopK(a, 2),
            along(a, lambda r: sorted_by(True)(r)[:2]),
            (x,),
            (0,) if x is X else (),
            note=n,
        )
        for x, a, n in OPERANDS
    ),
]
