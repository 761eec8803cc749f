"""The benchmarks' workloads, whole: loss and every gradient equal JAX's in f64."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from workloads import chain, cnn, gpt, mlp  # type: ignore[import-not-found]

from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_compile import SGD, flatten

WORKLOADS = {
    "W1": lambda: mlp("f64"),
    "W2": lambda: cnn("f64"),
    "W3 small": lambda: gpt("f64", 2, 16, 2, 32, 4, 50),
    "W3": lambda: gpt("f64"),
    "chain": lambda: chain(300),
}


@pytest.mark.parametrize(
    "name", [pytest.param("W3", marks=pytest.mark.slow), *(set(WORKLOADS) - {"W3"})]
)
def test_loss_and_gradients_equal_jaxs(name):
    workload = WORKLOADS[name]()
    arrays = workload.arrays()
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            workload.loss,
            inputs=workload.inputs,
            parameters=workload.parameters,
            optimizer=SGD(),
        )
    )
    names = [row.name for row in step.parameters]
    session = NumpySession(step, {n: arrays[n] for n in names})
    batch = {n: array for n, array in arrays.items() if n not in names}
    loss, gradients = session.value_and_gradients(batch)
    parameters, rest = workload.structured(arrays)
    value, expected = jax.jit(jax.value_and_grad(workload.jax_loss))(parameters, **rest)
    expected = flatten(jax.tree.map(np.asarray, expected))
    tolerance = 1e-10 if loss.dtype == np.float64 else 1e-4
    np.testing.assert_allclose(loss, value, rtol=tolerance)
    assert set(gradients) == set(expected)
    for n, gradient in gradients.items():
        scale = np.max(np.abs(expected[n]))
        np.testing.assert_allclose(gradient, expected[n], rtol=tolerance, atol=tolerance * scale)
