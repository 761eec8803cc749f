"""Both backends train: against a closed form, and against numbers made by JAX."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from reference import ReferenceContainer, ReferenceTrainer
from tests.support.losses import NETWORK_TYPES, network
from tinychain_backends.numpy import NumpyContainer, NumpyFunction, NumpySession
from tinychain_compile import SGD, TensorType
from tinychain_compile.errors import UnsupportedOperatorError
from tinychain_compile.functions import stop_gradient

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "network_by_jax.json").read_text())
BACKENDS = {
    "numpy": (NumpyContainer, NumpySession),
    "reference": (ReferenceContainer, ReferenceTrainer),
}
each_backend = pytest.mark.parametrize("backend", BACKENDS)


def trainer(backend, loss, types, start):
    container, session = BACKENDS[backend]
    step = (
        container()
        .compiler()
        .compile_training_step(loss, inputs=types, parameters=list(start), optimizer=SGD())
    )
    return session(step, start)


def loss_of(result):
    return float(result["loss"] if isinstance(result, dict) else result)


@each_backend
def test_regression_equals_the_closed_form_iterate_of_gradient_descent(backend):
    """For the loss |Xw - y|^2 / n: w_k = w* + (I - 2 r X'X / n)^k (w_0 - w*)."""
    rng = np.random.default_rng(2)
    n, d, steps, rate = 20, 3, 40, 0.07
    x, y, w = rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=d)
    types = {name: TensorType("f64", a.shape) for name, a in {"x": x, "y": y, "w": w}.items()}
    training = trainer(backend, lambda x, y, w: np.mean((x @ w - y) ** 2), types, {"w": w})
    for _ in range(steps):
        training.step({"x": x, "y": y}, learning_rate=rate)
    best = np.linalg.lstsq(x, y)[0]
    shrink = np.linalg.matrix_power(np.eye(d) - 2 * rate / n * x.T @ x, steps)
    np.testing.assert_allclose(training.parameters["w"], best + shrink @ (w - best), rtol=1e-12)


@each_backend
def test_a_network_ends_where_jax_ends(backend):
    start = {name: np.array(values) for name, values in GOLDEN["start"].items()}
    data = {"x": np.array(GOLDEN["data"]["x"]), "labels": np.array(GOLDEN["data"]["labels"])}
    training = trainer(backend, network, NETWORK_TYPES, start)
    losses = [loss_of(training.step(data, learning_rate=GOLDEN["rate"])) for _ in GOLDEN["losses"]]
    np.testing.assert_allclose(losses, GOLDEN["losses"], rtol=0, atol=1e-12)
    for name, values in GOLDEN["end"].items():
        np.testing.assert_allclose(training.parameters[name], values, rtol=0, atol=1e-12)


def test_the_reference_backends_error_for_what_it_lacks_is_the_compilers_with_the_line():
    from tinychain_compile.decompositions import DECOMPOSITIONS
    from tinychain_compile.operators import Tanh
    from tinychain_compile.passes.legalization import DecomposingLegalizer
    from tinychain_compile.testing import scoped_overrides

    known = {k: v for k, v in DECOMPOSITIONS.items() if k is not Tanh}
    container = ReferenceContainer()
    with (
        scoped_overrides(container, legalizer=DecomposingLegalizer(known)),
        pytest.raises(UnsupportedOperatorError, match="tanh") as caught,
    ):
        container.compiler().compile_training_step(
            network, inputs=NETWORK_TYPES, parameters=["w1"], optimizer=SGD()
        )
    assert "np.tanh(x @ w1 + b1)" in str(caught.value)


def test_the_reference_backend_has_the_twelve_the_literals_and_cast():
    from reference.backend import FUNCTIONS
    from tinychain_compile.operators import BASIS, LITERALS, Cast, DimensionSize

    assert set(FUNCTIONS) == set(BASIS) | set(LITERALS) - {DimensionSize} | {Cast}


@each_backend
def test_a_loss_that_is_stopped_has_zero_gradients_and_keeps_its_id(backend):
    training = trainer(
        backend,
        lambda x, w: stop_gradient(np.sum(x * w)),
        {"x": TensorType("f64", (3,)), "w": TensorType("f64", (3,))},
        {"w": np.array([1.0, 2.0, 3.0])},
    )
    loss, gradients = training.value_and_gradients({"x": np.ones(3)})
    assert float(loss) == 6.0
    np.testing.assert_array_equal(gradients["w"], np.zeros(3))


def test_a_stopped_input_may_be_an_output_twice():
    record = (
        NumpyContainer()
        .compiler()
        .compile_function(
            lambda x: {
                "first": stop_gradient(x),
                "second": stop_gradient(stop_gradient(x)),
                "x": x,
            },
            inputs={"x": np.zeros((2, 3))},
        )
    )
    x = np.arange(6.0).reshape(2, 3)
    outputs = NumpyFunction(record)({"x": x})
    for name in ("first", "second", "x"):
        np.testing.assert_array_equal(outputs[name], x)
    assert len(set(record.output_value_ids.values())) == 3
