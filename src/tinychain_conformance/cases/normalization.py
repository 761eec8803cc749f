from __future__ import annotations

import math

import numpy as np

from tinychain_compile.operators import (
    BatchNorm,
    LayerNorm,
    RmsNorm,
    Standardize,
    StandardizeGradient,
)
from tinychain_conformance.case import Case, normal, positive


def normalize(row, epsilon):
    mean = sum(row) / len(row)
    variance = sum((v - mean) ** 2 for v in row) / len(row)
    return [(v - mean) * (variance + epsilon) ** -0.5 for v in row]


def layer_norm(x, scale, bias):
    rows = x.reshape(-1, scale.size)
    normal_rows = np.array([normalize(list(row), 0.01) for row in rows])
    return (normal_rows * scale.ravel() + bias.ravel()).reshape(x.shape)


def rms_norm(x, scale):
    rows = x.reshape(-1, scale.size)
    result = [[v * (sum(u * u for u in r) / len(r) + 0.01) ** -0.5 for v in r] for r in rows]
    return (np.array(result) * scale.ravel()).reshape(x.shape)


def batch_norm(axis):
    def apply(x, scale, bias):
        moved = np.moveaxis(x, axis, 0)
        channels = [
            np.array(normalize(list(c.ravel()), 0.01)).reshape(c.shape) * s + b
            for c, s, b in zip(moved, scale, bias, strict=True)
        ]
        return np.moveaxis(np.array(channels), 0, axis)

    return apply


def standardize(axes):
    """Return every slice along the axes, normalized by itself."""

    def apply(x):
        others = [axis for axis in range(x.ndim) if axis not in axes]
        moved = np.transpose(x, (*others, *axes))
        rows = moved.reshape(-1, math.prod(x.shape[axis] for axis in axes))
        unit = np.array([normalize(list(row), 0.01) for row in rows]).reshape(moved.shape)
        return np.transpose(unit, np.argsort((*others, *axes)))

    return apply


def standardize_gradient(g, x):
    """Row by row through the matrix ``(1 - 1 / n - u u' / n) / spread``."""
    result = np.zeros_like(x)
    for row, (pulled, values) in enumerate(zip(g, x, strict=True)):
        n, unit = len(values), np.array(normalize(list(values), 0.01))
        spread = math.sqrt(sum((v - sum(values) / n) ** 2 for v in values) / n + 0.01)
        matrix = (np.eye(n) - 1 / n - np.outer(unit, unit) / n) / spread
        result[row] = pulled @ matrix
    return result


CASES = [
    Case(Standardize((1,), 0.01), standardize((1,)), (normal(3, 5),), (0,), 1e-13),
    Case(Standardize((0, 2), 0.01), standardize((0, 2)), (normal(4, 3, 2),), (0,), 1e-13),
    Case(
        StandardizeGradient((1,), 0.01),
        standardize_gradient,
        (normal(3, 5, seed=1), normal(3, 5)),
        (0, 1),
        1e-12,
    ),
    Case(LayerNorm(0.01), layer_norm, (normal(3, 5), positive(5), normal(5)), (0, 1, 2), 1e-13),
    Case(
        LayerNorm(0.01),
        layer_norm,
        (normal(2, 3, 4), positive(3, 4), normal(3, 4)),
        (0, 1, 2),
        1e-13,
        " two axes",
    ),
    Case(RmsNorm(0.01), rms_norm, (normal(3, 5), positive(5)), (0, 1), 1e-13),
    Case(RmsNorm(0.01), rms_norm, (normal(2, 3, 4), positive(3, 4)), (0, 1), 1e-13, " two axes"),
    *(
        Case(
            BatchNorm(axis, 0.01),
            batch_norm(axis),
            (normal(4, 3, 2), positive(size), normal(size)),
            (0, 1, 2),
            1e-13,
        )
        for axis, size in ((1, 3), (2, 2))
    ),
]
