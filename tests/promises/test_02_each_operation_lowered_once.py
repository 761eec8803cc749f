"""Each reachable operation is lowered exactly once in each program."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.support.losses import LOSSES, compiled
from tinychain_compile import SGD, TensorType, compile_training_step
from tinychain_compile.testing import RecordingRegistry


@pytest.mark.parametrize("name", LOSSES)
def test_a_recording_registry_sees_each_operation_of_each_program_once(name):
    registries = []

    def registry():
        registries.append(RecordingRegistry())
        return registries[-1]

    step = compiled(name, registry)
    graphs = [step.lowered_forward_graph, step.lowered_derivative_program.graph]
    graphs += list({p.lowered_update_graph: None for p in step.parameters})
    assert len(registries) == len(graphs)
    for graph, recorded in zip(graphs, registries, strict=True):
        seen = Counter(context.node_id for context in recorded.contexts)
        assert seen == Counter(operation.node_id for operation in graph.operations)
        assert set(seen.values()) == {1}


def test_an_operation_that_nothing_needs_is_not_lowered():
    def loss(x, w):
        np.exp(x * 3.0)
        return np.sum(x * w)

    registry = RecordingRegistry()
    types = {"x": TensorType("f64", (3,)), "w": TensorType("f64", (3,))}
    compile_training_step(loss, inputs=types, parameters=["w"], optimizer=SGD(), handlers=registry)
    assert "exp" not in {context.operator.name for context in registry.contexts}
