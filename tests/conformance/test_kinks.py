"""The derivative where there is none: the value this project states beside its rules, by hand.

A row for each statement of ``docs/derivatives.md``: the loss, where it is differentiated, and the
derivative there.
"""

from __future__ import annotations

import numpy as np
import pytest

from reference import ReferenceContainer, ReferenceTrainer
from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_compile import SGD
from tinychain_compile.functions import elu, leaky_relu, logsumexp, max_pool, relu, softplus, top_k
from tinychain_compile.vjp_rules import KINKS

INF = np.inf
W = np.array([1.0, 10.0, 100.0])

ROWS = {
    "1 / (1 + exp(-x)) at -800": (lambda x: (1 / (1 + np.exp(-x))).sum(), [-800.0, 0.0], [0, 0.25]),
    "where(x != 0, a / x, 0) at x = 0": (
        lambda x: np.where(x != 0, 3.0 / x, 0.0).sum(),
        [0.0, 2.0],
        [0, -0.75],
    ),
    "where(x > 0, log(x), 0) at 0": (
        lambda x: np.where(x > 0, np.log(x), 0.0).sum(),
        [0.0, -1.0, 2.0],
        [0, 0, 0.5],
    ),
    "a branch that is not chosen is singular: where(x < 1, x, sqrt(x)) at 0": (
        lambda x: np.where(x < 1, x, np.sqrt(x)).sum(),
        [0.0, -3.0, 4.0],
        [1, 1, 0.25],
    ),
    "max over ties": (lambda x: np.max(x), [4.0, 1.0, 4.0, 4.0], [1 / 3, 0, 1 / 3, 1 / 3]),
    "abs at 0": (lambda x: np.abs(x).sum(), [-2.0, 0.0, -0.0, 2.0], [-1, 0, 0, 1]),
    "x ** 0 at 0, by x": (lambda x: (x ** (x * 0.0)).sum(), [0.0, 3.0], [0, 0]),
    "0 ** y, by y": (lambda x: ((x * 0.0) ** x).sum(), [2.0], [0]),
    "sqrt at 0": (lambda x: np.sqrt(x).sum(), [0.0, 4.0], [INF, 0.25]),
    "sqrt(sum(x * x)) at the zero vector": (
        lambda x: np.sqrt(np.sum(x * x)),
        [0.0, 0.0],
        [np.nan, np.nan],
    ),
    "where(mask, atan2(y, x), 0) at (0, 0)": (
        lambda x: np.where(x > 0, np.arctan2(x, x), 0.0).sum(),
        [0.0, 1.0],
        [0, 0],
    ),
    "floor, ceil and round, everywhere": (
        lambda x: (x + np.floor(x) + np.ceil(x) + np.round(x)).sum(),
        [0.0, 0.5, 1.3],
        [1, 1, 1],
    ),
    "maximum(x, 0) at 0": (lambda x: np.maximum(x, 0.0).sum(), [-1.0, 0.0, 2.0], [0, 0.5, 1]),
    "minimum of equal numbers": (lambda x: np.minimum(x, 3 * x - 2).sum(), [1.0], [2.0]),
    "clip on its bounds": (
        lambda x: np.clip(x, 0.0, 1.0).sum(),
        [-1.0, 0.0, 0.5, 1.0, 2.0],
        [0, 1, 1, 1, 0],
    ),
    "prod with zeros": (lambda x: np.prod(x) + np.prod(x[1:]), [0.0, 2.0, 0.0, 3.0], [0, 0, 6, 0]),
    "np.linalg.norm at the zero vector": (
        lambda x: np.linalg.norm(x * 0.0) + np.linalg.norm(x),
        [3.0, 4.0],
        [0.6, 0.8],
    ),
    "std of equal numbers": (lambda x: np.std(x) + np.std(x, ddof=1), [2.0, 2.0, 2.0], [0, 0, 0]),
    "sort and top_k of equal numbers": (
        lambda x: (np.sort(x) * W).sum() + (top_k(x, 2)[0] * W[:2]).sum(),
        [5.0, 5.0, 1.0],
        [10 + 1, 100 + 10, 1],
    ),
    "max pooling over ties": (
        lambda x: (max_pool(x.reshape(1, 1, 4), 2, strides=1) * W).sum(),
        [2.0, 2.0, 2.0, 1.0],
        [1, 10, 100, 0],
    ),
    "relu at 0": (lambda x: relu(x).sum(), [-1.0, 0.0, -0.0, 2.0], [0, 0, 0, 1]),
    "leaky_relu at 0": (lambda x: leaky_relu(x, 0.25).sum(), [0.0, 2.0], [0.25, 1]),
    "elu at 0": (lambda x: elu(x, 1.5).sum(), [0.0, 2.0], [1.5, 1]),
    "softplus at 0": (lambda x: softplus(x).sum(), [0.0], [0.5]),
    "logsumexp where every element is minus infinity": (
        lambda x: np.where(x > 0, logsumexp(x), x).sum(),
        [-INF, -INF],
        [1, 1],
    ),
}
MORE = {
    "both sides of a tie": (lambda x: np.maximum(x, x * 1.0).sum(), [3.0], [1.0]),
    "where takes the chosen": (lambda x: np.where(x < 1.0, x, 2 * x).sum(), [0.0, 1.0], [1, 2]),
    "stable softplus written out": (
        lambda x: (np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))).sum(),
        [0.0, 800.0, -800.0],
        [0.5, 1, 0],
    ),
    "logaddexp at a tie": (lambda x: np.logaddexp(x, 0.0).sum(), [0.0, -900.0], [0.5, 0]),
    "crossed bounds": (lambda x: np.clip(x, 1.0, 0.0).sum(), [-1.0, 0.5, 2.0], [0, 0, 0]),
}


@pytest.mark.parametrize("backend", ["numpy", "reference"])
@pytest.mark.parametrize("name", [*ROWS, *MORE])
def test_the_stated_value_is_given(name, backend):
    loss, x, expected = (ROWS | MORE)[name]
    container, session = {
        "numpy": (NumpyContainer, NumpySession),
        "reference": (ReferenceContainer, ReferenceTrainer),
    }[backend]
    step = (
        container()
        .compiler()
        .compile_training_step(loss, inputs={"x": np.array(x)}, parameters=["x"], optimizer=SGD())
    )
    _, gradients = session(step, {"x": np.array(x)}).value_and_gradients({})
    np.testing.assert_allclose(gradients["x"], expected, rtol=1e-14, atol=1e-300)


def test_every_statement_beside_the_rules_has_a_row():
    assert {kink.case for kinks in KINKS.values() for kink in kinks} == set(ROWS)
