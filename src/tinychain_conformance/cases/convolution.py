from __future__ import annotations

import numpy as np

from tinychain_compile.operators import Conv, ConvInputGradient, ConvKernelGradient
from tinychain_conformance.case import Case, normal


def correlate(op):
    """Return every output as the sum it is defined by."""

    def apply(x, kernel):
        pads = ((0, 0), (0, 0), *op.padding)
        x = np.pad(x, pads)
        outputs, inner, *window = kernel.shape
        counts = [
            (n - (k - 1) * d - 1) // s + 1
            for n, k, d, s in zip(x.shape[2:], window, op.dilations, op.strides, strict=True)
        ]
        result = np.zeros((x.shape[0], outputs, *counts))
        share = outputs // op.groups
        for n, o, *at in np.ndindex(*result.shape):
            for c, *k in np.ndindex(inner, *window):
                place = [
                    i * s + j * d
                    for i, s, j, d in zip(at, op.strides, k, op.dilations, strict=True)
                ]
                channel = o // share * inner + c
                result[(n, o, *at)] += x[(n, channel, *place)] * kernel[(o, c, *k)]
        return result

    return apply


def pulled(op, shape, role):
    """Return what every output gives back to the image, or to the kernel, as it is defined."""

    def apply(g, other):
        x, kernel = (np.zeros(shape), other) if role == "image" else (other, np.zeros(shape))
        share, inner = kernel.shape[0] // op.groups, kernel.shape[1]
        result = np.zeros(shape)
        for n, o, *at in np.ndindex(*g.shape):
            for c, *k in np.ndindex(inner, *kernel.shape[2:]):
                channel = o // share * inner + c
                rows = zip(at, op.strides, k, op.dilations, op.padding, strict=True)
                place = [i * s + j * d - low for i, s, j, d, (low, _) in rows]
                if not all(0 <= p < size for p, size in zip(place, x.shape[2:], strict=True)):
                    continue
                pixel, weight = (n, channel, *place), (o, c, *k)
                if role == "image":
                    result[pixel] += g[(n, o, *at)] * kernel[weight]
                else:
                    result[weight] += g[(n, o, *at)] * x[pixel]
        return result

    return apply


def gradient_cases(op, x, k):
    g = normal(*correlate(op)(np.zeros(x), np.zeros(k)).shape, seed=2)
    rest = (op.strides, op.padding, op.dilations, op.groups)
    to_image, to_kernel = ConvInputGradient(x[2:], *rest), ConvKernelGradient(k[2:], *rest)
    yield Case(to_image, pulled(op, x, "image"), (g, normal(*k, seed=1)), (0, 1), 1e-12)
    yield Case(to_kernel, pulled(op, k, "kernel"), (g, normal(*x)), (0, 1), 1e-12)


CONVOLUTIONS = [
    (Conv((1,), ((0, 0),), (1,)), (2, 3, 7), (4, 3, 3)),
    (Conv((2,), ((1, 2),), (1,)), (2, 3, 7), (4, 3, 3)),
    (Conv((3,), ((0, 1),), (2,)), (2, 3, 9), (4, 3, 2)),
    (Conv((1, 1), ((1, 1), (0, 0)), (1, 1)), (2, 3, 4, 5), (2, 3, 3, 2)),
    (Conv((2, 1), ((1, 0), (2, 1)), (1, 2)), (2, 3, 5, 6), (4, 3, 2, 3)),
    (Conv((2, 2), ((0, 0), (0, 0)), (1, 1)), (1, 2, 6, 7), (3, 2, 2, 2)),
    (Conv((1, 2), ((0, 0), (1, 1)), (1, 1), 2), (2, 4, 4, 5), (6, 2, 2, 3)),
    (Conv((2, 1), ((1, 1), (0, 0)), (1, 1), 3), (2, 3, 4, 3), (3, 1, 3, 2)),
    (Conv((1, 1), ((4, 4), (0, 3)), (1, 1)), (1, 1, 2, 2), (1, 1, 2, 2)),
    (Conv((1, 2, 1), ((0, 1), (0, 0), (1, 0)), (1, 1, 2)), (1, 2, 3, 4, 5), (2, 2, 2, 2, 2)),
]

CASES = [
    *(
        Case(op, correlate(op), (normal(*x), normal(*k, seed=1)), (0, 1), 1e-12)
        for op, x, k in CONVOLUTIONS
    ),
    *(case for row in CONVOLUTIONS for case in gradient_cases(*row)),
]
