from __future__ import annotations

import math

import numpy as np
from scipy import special

from tinychain_compile.operators import (
    LogSoftmax,
    LogSoftmaxGradient,
    LogSumExp,
    Softmax,
    SoftmaxCrossEntropy,
    SoftmaxCrossEntropyGradient,
    SoftmaxGradient,
)
from tinychain_conformance.case import INF, Case, normal
from tinychain_conformance.cases.reduction import AXES, over

LARGE = np.array([[1000.0, 1001.0, 999.0], [-1000.0, 0.0, -2000.0]])
MASKED = np.array([[-INF, 1.0, -INF], [-INF, -INF, -INF], [INF, 0.0, 1.0]])
LABELS = np.array([[2, 0, 3], [1, 1, 2]])


def log_softmax(axis):
    def rows(row):
        top = max(row)
        total = math.log(math.fsum(math.exp(v - top) for v in row))
        return np.array([v - top - total for v in row])

    return lambda x: np.apply_along_axis(rows, axis, x)


def cross_entropy(x, labels):
    logs = log_softmax(x.ndim - 1)(x)
    return np.reshape([-logs[(*i, labels[i])] for i in np.ndindex(labels.shape)], labels.shape)


def exp_rows(axis):
    return lambda x: np.exp(log_softmax(axis)(x))


def log_of_sum(row):
    top = max(row)
    return top + math.log(math.fsum(math.exp(v - top) for v in row))


def by_jacobian(axis, jacobian):
    """Return what pulls ``g`` back, row by row, through a matrix that depends on the output."""

    def apply(g, y):
        rows, outputs = np.moveaxis(g, axis, -1), np.moveaxis(y, axis, -1)
        result = np.zeros_like(rows)
        for place in np.ndindex(rows.shape[:-1]):
            result[place] = rows[place] @ jacobian(outputs[place])
        return np.moveaxis(result, -1, axis)

    return apply


def of_softmax(y):
    return np.diag(y) - np.outer(y, y)


def of_log_softmax(y):
    return np.eye(len(y)) - np.outer(np.ones(len(y)), np.exp(y))


def of_cross_entropy(g, scores, labels):
    result = np.zeros_like(scores)
    for place in np.ndindex(*labels.shape):
        powers = [math.exp(v - max(scores[place])) for v in scores[place]]
        for label, power in enumerate(powers):
            share = power / math.fsum(powers) - (label == labels[place])
            result[(*place, label)] = g[place] * share
    return result


G = normal(3, 4, seed=1)
CASES = [
    *(
        Case(SoftmaxGradient(a), by_jacobian(a, of_softmax), (G, normal(3, 4)), (0, 1))
        for a in (0, 1)
    ),
    *(
        Case(
            LogSoftmaxGradient(a), by_jacobian(a, of_log_softmax), (G, normal(3, 4)), (0, 1), 1e-13
        )
        for a in (0, 1)
    ),
    Case(
        SoftmaxCrossEntropyGradient(),
        of_cross_entropy,
        (normal(2, 3, seed=4), normal(2, 3, 4), LABELS),
        (0, 1),
        1e-13,
    ),
    Case(Softmax(1), exp_rows(1), (normal(3, 4),), (0,), 1e-14),
    Case(Softmax(0), exp_rows(0), (normal(3, 4, 2),), (0,), 1e-14),
    Case(Softmax(1), exp_rows(1), (LARGE,), note=" large", tolerance=1e-14),
    Case(LogSoftmax(1), log_softmax(1), (normal(3, 4),), (0,), 1e-14),
    Case(LogSoftmax(0), log_softmax(0), (normal(3, 4, 2),), (0,), 1e-14),
    Case(LogSoftmax(1), log_softmax(1), (LARGE,), note=" large", tolerance=1e-14),
    *(
        Case(LogSumExp(a, k), over(a, k, log_of_sum), (normal(2, 3, 4),), (0,), 1e-14)
        for a, k in AXES
    ),
    Case(LogSumExp((1,)), over((1,), False, log_of_sum), (LARGE,), note=" large"),
    Case(LogSumExp((1,)), lambda x: special.logsumexp(x, axis=1), (MASKED,), note=" infinite"),
    Case(SoftmaxCrossEntropy(), cross_entropy, (normal(2, 3, 4), LABELS), (0,), 1e-13),
    Case(SoftmaxCrossEntropy(), cross_entropy, (LARGE, np.array([0, 2])), note=" large"),
]
