"""A chain of 20,000 operations compiles without touching the recursion limit."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from reference import ReferenceContainer, ReferenceTrainer
from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_compile import SGD, TensorType, print_graph
from tinychain_compile.testing import RecordingRegistry


def chain(length):
    def loss(x, w):
        for _ in range(length // 2):
            x = np.tanh(x * w)
        return np.sum(x)

    return loss


TYPES = {"x": TensorType("f64", (2,)), "w": TensorType("f64", (2,))}


@pytest.fixture
def low_recursion_limit():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200)
    yield
    sys.setrecursionlimit(limit)


def compile_chain(container, length):
    return container.compiler().compile_training_step(
        chain(length), inputs=TYPES, parameters=["w"], optimizer=SGD()
    )


def test_a_long_chain_compiles_at_every_stage_and_runs(low_recursion_limit):
    step = compile_chain(NumpyContainer(), 20_000)
    assert len(step.source_forward_graph.operations) == 20_001
    text = print_graph(step.lowered_derivative_program.graph)
    assert text.count("\n") > 60_000
    session = NumpySession(step, {"w": np.array([0.5, 1.5])})
    loss, gradients = session.value_and_gradients({"x": np.array([0.1, 0.2])})
    assert np.isfinite(loss)
    assert np.all(np.isfinite(gradients["w"]))


def test_a_long_chain_legalizes_to_the_basis(low_recursion_limit):
    step = compile_chain(ReferenceContainer(), 2_000)
    trainer = ReferenceTrainer(step, {"w": np.array([0.5, 1.5])})
    loss, _ = trainer.value_and_gradients({"x": np.array([0.1, 0.2])})
    assert np.isfinite(loss)


def test_a_long_chain_compiles_to_any_handlers(low_recursion_limit):
    container = NumpyContainer()
    registry = RecordingRegistry()
    with container.handler_registry.override(registry):
        step = compile_chain(container, 20_000)
    graphs = (step.lowered_forward_graph, step.lowered_derivative_program.graph)
    lowered = sum(len(graph.operations) for graph in graphs) + 1  # and the update
    assert len(registry.contexts) == lowered > 60_000


def test_a_wide_sum_of_many_terms_compiles(low_recursion_limit):
    def loss(x, w):
        return np.sum(sum((x * w for _ in range(3_000)), start=0.0 * x))

    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(loss, inputs=TYPES, parameters=["w"], optimizer=SGD())
    )
    session = NumpySession(step, {"w": np.ones(2)})
    _, gradients = session.value_and_gradients({"x": np.array([1.0, 2.0])})
    np.testing.assert_allclose(gradients["w"], [3_000.0, 6_000.0])
