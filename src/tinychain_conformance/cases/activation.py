from __future__ import annotations

import math

import numpy as np
from scipy import special

from tinychain_compile.operators import (
    Elu,
    Gelu,
    GeluGradient,
    LeakyRelu,
    Relu,
    ReluGradient,
    Silu,
    Softplus,
)
from tinychain_conformance.case import SPECIAL, Case, normal

X = normal(3, 4)
G = normal(3, 4, seed=1)
FINITE = SPECIAL[np.isfinite(SPECIAL)]


def each(function):
    return np.vectorize(function, otypes=[float])


def gelu(v):
    return v * 0.5 * math.erfc(-v / math.sqrt(2))


def gelu_tanh(v):
    return v / (1 + math.exp(-2 * math.sqrt(2 / math.pi) * (v + 0.044715 * v**3)))


def softplus(v):
    return v if v > 40 else math.log1p(math.exp(v))


def elu(v):
    return v if v > 0 else 1.5 * math.expm1(v)


def gelu_slope(g, v):
    density = math.exp(-v * v / 2) / math.sqrt(2 * math.pi)
    return g * (0.5 * math.erfc(-v / math.sqrt(2)) + v * density)


def gelu_tanh_slope(g, v):
    """From ``v * sigmoid(2 u)``: the sigmoid, plus ``v`` times its slope."""
    rate = math.sqrt(2 / math.pi)
    s = 1 / (1 + math.exp(-2 * rate * (v + 0.044715 * v**3)))
    return g * (s + v * s * (1 - s) * 2 * rate * (1 + 3 * 0.044715 * v**2))


CASES = [
    Case(Relu(), each(lambda v: max(v, 0.0)), (X,), (0,)),
    Case(Relu(), each(lambda v: v if v > 0 or v != v else 0.0), (SPECIAL,), note=" special"),
    Case(LeakyRelu(0.1), each(lambda v: v if v > 0 else 0.1 * v), (X,), (0,), 1e-15),
    Case(LeakyRelu(0.1), each(lambda v: v if v > 0 else 0.1 * v), (SPECIAL,), note=" special"),
    Case(Elu(1.5), each(elu), (X,), (0,), 1e-14),
    Case(Elu(1.5), each(elu), (SPECIAL,), note=" special", tolerance=1e-14),
    Case(Gelu(), each(gelu), (X,), (0,), 1e-13),
    Case(Gelu(), each(gelu), (np.linspace(-4, 40, 99),), note=" range", tolerance=3e-12),
    Case(Gelu(True), each(gelu_tanh), (X,), (0,), 1e-13),
    Case(Silu(), lambda x: x * special.expit(x), (X,), (0,), 1e-14),
    Case(Silu(), lambda x: x * special.expit(x), (FINITE,), note=" finite", tolerance=1e-14),
    Case(Softplus(), each(softplus), (X,), (0,), 1e-14),
    Case(Softplus(), each(softplus), (SPECIAL,), note=" special", tolerance=1e-14),
    Case(ReluGradient(), each(lambda g, y: g if y > 0 else 0.0), (G, X), (0, 1)),
    Case(
        ReluGradient(), each(lambda g, y: g if y > 0 else 0.0), (SPECIAL[::-1], SPECIAL), note=" s"
    ),
    Case(GeluGradient(), each(gelu_slope), (G, X), (0, 1), 1e-12),
    Case(GeluGradient(True), each(gelu_tanh_slope), (G, X), (0, 1), 1e-12),
]
