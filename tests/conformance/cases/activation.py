from __future__ import annotations

import math

import numpy as np
from scipy import special

from tests.conformance.case import SPECIAL, Case, normal
from tinychain_compile.operators import Elu, Gelu, LeakyRelu, Relu, Silu, Softplus

X = normal(3, 4)
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
]
