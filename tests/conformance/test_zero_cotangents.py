"""A zero cotangent annihilates a factor that is infinite or NaN, in every guarded operator."""

from __future__ import annotations

import numpy as np
import pytest

from reference import ReferenceContainer, ReferenceTrainer
from tests.support.derivatives import traced
from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_compile import SGD, CompileOptions
from tinychain_compile.operators import Annihilate, MulNoNan
from tinychain_compile.vjp_rules import GUARDS
from tinychain_conformance.cases import CASES

INF, NAN = np.inf, np.nan
SINGULAR = np.array([0.0, -0.0, -1.0, 1.0, INF, -INF, NAN, 1e300, -1e300, 2.0])
OPERATORS = {type(case.operator): case.operator for case in CASES if type(case.operator) in GUARDS}


@pytest.mark.parametrize("backend", ["numpy", "reference"])
@pytest.mark.parametrize("kind", GUARDS, ids=[kind.__name__ for kind in GUARDS])
def test_a_masked_branch_cannot_spoil_the_gradient(kind, backend):
    operator = OPERATORS[kind]
    count = 2 if kind.__name__ in ("Mul", "MulNoNan", "Div", "Pow", "Atan2") else 1
    x = np.repeat(SINGULAR, len(SINGULAR)) if count == 2 else SINGULAR
    z = np.tile(SINGULAR, len(SINGULAR)) if count == 2 else SINGULAR

    def loss(x, z):
        y = x.emit(operator, *((z,) if count == 2 else ()))
        return np.where(np.zeros(x.shape, bool), y, x * 2.0 + z * 3.0).sum()

    container, session = {
        "numpy": (NumpyContainer, NumpySession),
        "reference": (ReferenceContainer, ReferenceTrainer),
    }[backend]
    step = (
        container()
        .compiler()
        .compile_training_step(
            loss, inputs={"x": x, "z": z}, parameters=["x", "z"], optimizer=SGD()
        )
    )
    _, gradients = session(step, {"x": x, "z": z}).value_and_gradients({})
    np.testing.assert_array_equal(gradients["x"], np.full(x.shape, 2.0))
    np.testing.assert_array_equal(gradients["z"], np.full(x.shape, 3.0))


def gradient(loss, x, **options):
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            loss,
            inputs={"x": np.asarray(x)},
            parameters=["x"],
            optimizer=SGD(),
            options=CompileOptions(**options),
        )
    )
    return NumpySession(step, {"x": np.asarray(x)}).value_and_gradients({})[1]["x"]


KIN = {
    "missing labels": (lambda x: np.where(np.isnan(T), 0.0, (x - T) ** 2).sum(), [0, 2, 0, 4]),
    "missing data": (lambda x: np.where(np.isfinite(T), x * T, 0.0).sum(), [0, 0, 0, -1]),
    "entropy": (lambda x: np.where(x > 0, -x * np.log(x), 0.0).sum(), None),
    "xlogx by a product": (lambda x: ((x > 0) * x * np.log(np.where(x > 0, x, 1.0))).sum(), None),
    "normalized": (
        lambda x: np.where(np.sum(x[:1]) == 0, 0.0, x / np.sum(x[:1])).sum(),
        [0, 0, 0, 0],
    ),
    "power": (lambda x: np.where(x > 0, x**-1.5, 0.0).sum(), None),
    "huber of large": (
        lambda x: np.where(np.abs(x) < 1, x**4, np.abs(x)).sum(),
        [0, 1, 1, 1],
    ),
    "rsqrt": (lambda x: np.where(x > 0, x**-0.5, 0.0).sum(), None),
    "double masked": (lambda x: np.where(x > 0, np.where(x > 0, np.log(x), 1.0), 0.0).sum(), None),
}
T = np.array([NAN, 0.0, NAN, -1.0])
POINTS = np.array([0.0, 1.0, 0.0, 1.0])


@pytest.mark.parametrize("name", KIN)
def test_kin_of_the_masked_branch_are_finite(name):
    loss, expected = KIN[name]
    found = gradient(loss, POINTS)
    assert np.isfinite(found).all()
    if expected is not None and name != "huber of large":
        np.testing.assert_allclose(found, expected)


def test_what_is_truly_singular_stays_visible():
    assert gradient(lambda x: np.log(x).sum(), [0.0])[0] == INF
    assert gradient(lambda x: (1 / x).sum(), [0.0])[0] == -INF
    assert np.isnan(gradient(lambda x: np.log(x).sum() * NAN, [1.0])[0])
    assert np.isnan(gradient(lambda x: (x * NAN).sum(), [1.0])[0])


def test_without_the_guard_there_is_nan_as_elsewhere():
    def loss(x):
        return np.where(x > 0, np.log(x), 0.0).sum()

    assert np.isnan(gradient(loss, [0.0], nan_guard=False)[0])
    assert gradient(loss, [0.0])[0] == 0.0


def guards_in(loss, *, nan_guard=True):
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            loss,
            inputs={"x": np.ones((2, 3)), "i": np.ones((2, 3), np.int64)},
            parameters=["x"],
            optimizer=SGD(),
            options=CompileOptions(nan_guard=nan_guard),
        )
    )
    operations = step.source_derivative_program.graph.operations
    return sum(isinstance(op.operator, (Annihilate, MulNoNan)) for op in operations)


@pytest.mark.parametrize(
    ("loss", "count"),
    [
        (lambda x, i: np.mean(np.square(x)) + i.sum() * 0.0, 0),
        (lambda x, i: (np.tanh(x) * i).sum(), 1),
        (lambda x, i: (np.tanh(x) * 2.0 / 3.0).sum(), 0),
        (lambda x, i: np.where(i > 0, x * 2.0 * i, -x / 4.0).sum(), 0),
        (lambda x, i: np.where(i > 0, x * x, x).sum(), 2),
        (lambda x, i: np.where(i > 0, x / (x + 1.0), x).sum(), 2),
        (lambda x, i: np.where(i > 0, x * np.array([1.0, INF, 2.0]), x).sum() + i.sum() * 0.0, 1),
    ],
)
def test_operands_that_are_provably_safe_skip_it(loss, count):
    assert guards_in(loss) == count
    assert guards_in(loss, nan_guard=False) == 0


def test_the_cotangent_of_the_seed_alone_is_not_guarded():
    graph, _ = traced(lambda x: np.exp(x).sum(), {"x": POINTS})
    assert graph
    assert guards_in(lambda x, i: np.exp(x).sum() + i.sum() * 0.0) == 0
    assert guards_in(lambda x, i: np.exp(-x / 2.0).mean() + i.sum() * 0.0) == 0
