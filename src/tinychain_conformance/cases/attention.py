from __future__ import annotations

import math

import numpy as np

from tinychain_compile.operators import Attention, AttentionWeights
from tinychain_conformance.case import Case, normal

Q, K, V = normal(2, 3, 4), normal(2, 5, 4, seed=1), normal(2, 5, 6, seed=2)
MASK = np.random.default_rng(3).random((2, 3, 5)) < 0.6
BLIND = MASK.copy()
BLIND[1, 2] = False


def attend(scale, is_causal=False):
    """Return each query's mean of values, one weight after another."""

    def apply(q, k, v, mask=None):
        result = np.zeros((*q.shape[:-1], v.shape[-1]))
        for *b, t in np.ndindex(*q.shape[:-1]):
            weights = [
                math.exp(scale * float(np.dot(q[(*b, t)], k[(*b, s)])))
                if (mask is None or mask[(*b, t, s)]) and (not is_causal or s <= t)
                else 0.0
                for s in range(k.shape[-2])
            ]
            total = sum(weights) or 1.0
            for s, weight in enumerate(weights):
                result[(*b, t)] += weight / total * v[(*b, s)]
        return result

    return apply


def weigh(scale, is_causal=False):
    """Return the weights: what attention gives of values that are the rows of the identity."""

    def apply(q, k, mask=None):
        rows = np.broadcast_to(np.eye(k.shape[-2]), (*k.shape[:-1], k.shape[-2]))
        return attend(scale, is_causal)(q, k, rows, mask)

    return apply


CASES = [
    Case(AttentionWeights(0.5), weigh(0.5), (Q, K), (0, 1), 1e-13),
    Case(AttentionWeights(0.3, True), weigh(0.3, True), (Q, K), (0, 1), 1e-13),
    Case(AttentionWeights(0.5), weigh(0.5), (Q, K, BLIND), (0, 1), 1e-13, " blind"),
    Case(Attention(0.5), attend(0.5), (Q, K, V), (0, 1, 2), 1e-13),
    Case(Attention(0.3, True), attend(0.3, True), (Q, K, V), (0, 1, 2), 1e-13),
    Case(Attention(0.5), attend(0.5), (Q, K, V, MASK), (0, 1, 2), 1e-13, " mask"),
    Case(Attention(0.5), attend(0.5), (Q, K, V, BLIND), (0, 1, 2), 1e-13, " blind"),
    Case(Attention(0.5, True), attend(0.5, True), (Q, K, V, MASK), (0, 1, 2), 1e-13, " both"),
    Case(Attention(1.0), attend(1.0), (Q[0], K[0], V[0]), (0, 1, 2), 1e-13, " matrices"),
]
