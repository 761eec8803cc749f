"""Training through decomposition alone, at each tier and on the reference backend: equal to JAX."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from reference import ReferenceContainer, ReferenceTrainer
from tests.oracle.test_workloads import cnn, gpt, mlp
from tinychain_backends.numpy import NumpySession
from tinychain_backends.numpy.handlers import lower_call
from tinychain_compile import SGD, OperationHandlerRegistry, compile_training_step, flatten
from tinychain_compile.operators import LITERALS, TIERS, Cast

SMALL = {
    "W1": lambda: mlp("f64", 8),
    "W2": lambda: cnn("f64", 2, 8, (3, 4)),
    "W3": lambda: gpt("f64", 1, 8, 2, 16, 2, 20),
}


def registry_at(tier):
    registry = OperationHandlerRegistry()
    for operator in (*TIERS[tier], *LITERALS, Cast):
        registry.handler(operator)(lower_call)
    return registry


def expected_of(workload, arrays):
    parameters, rest = workload.structured(arrays)
    value, gradients = jax.jit(jax.value_and_grad(workload.jax_loss))(parameters, **rest)
    return value, flatten(jax.tree.map(np.asarray, gradients))


def check(workload, arrays, step, session):
    names = [row.name for row in step.parameters]
    batch = {n: array for n, array in arrays.items() if n not in names}
    loss, gradients = session(step, {n: arrays[n] for n in names}).value_and_gradients(batch)
    value, expected = expected_of(workload, arrays)
    np.testing.assert_allclose(loss, value, rtol=1e-12)
    for name, gradient in gradients.items():
        scale = np.max(np.abs(expected[name]))
        np.testing.assert_allclose(gradient, expected[name], rtol=1e-12, atol=1e-12 * scale)


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("name", SMALL)
def test_losses_and_gradients_equal_jaxs_at_each_tier(name, tier):
    workload = SMALL[name]()
    arrays = workload.arrays()
    step = compile_training_step(
        workload.loss,
        inputs=workload.inputs,
        parameters=workload.parameters,
        optimizer=SGD(),
        handlers=registry_at(tier),
    )
    assert step.support.is_complete
    check(workload, arrays, step, NumpySession)


@pytest.mark.parametrize("name", SMALL)
def test_the_reference_backend_equals_jax(name):
    workload = SMALL[name]()
    step = (
        ReferenceContainer()
        .compiler()
        .compile_training_step(
            workload.loss,
            inputs=workload.inputs,
            parameters=workload.parameters,
            optimizer=SGD(),
        )
    )
    check(workload, workload.arrays(), step, ReferenceTrainer)
