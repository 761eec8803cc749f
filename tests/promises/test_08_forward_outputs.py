"""Forward outputs are exactly the loss and the captures, without repeats."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.losses import LOSSES, compiled
from tinychain_compile import SGD, TensorType, compile_training_step
from tinychain_compile.operators import BASIS, LITERALS
from tinychain_compile.testing import RecordingRegistry


@pytest.mark.parametrize("handlers", [None, lambda: RecordingRegistry(BASIS + LITERALS)])
@pytest.mark.parametrize("name", LOSSES)
def test_outputs_are_the_loss_and_what_the_derivative_reads(name, handlers):
    step = compiled(name, handlers)
    captured = [row.value_id for row in step.derivative.dependencies.forward_captures]
    assert step.forward.selected_outputs == (step.loss_value_id, *captured)
    assert step.forward_capture_value_ids == tuple(captured)
    assert len(set(step.forward.selected_outputs)) == len(step.forward.selected_outputs)


def test_a_loss_that_the_derivative_reads_is_not_repeated():
    def loss(w):
        return np.exp(np.sum(w))

    step = compile_training_step(
        loss,
        inputs={"w": TensorType("f64", (3,))},
        parameters=["w"],
        optimizer=SGD(),
        handlers=RecordingRegistry(),
    )
    assert step.forward.selected_outputs == (step.loss_value_id,)
    captured = step.derivative.dependencies.forward_captures
    assert [row.value_id for row in captured] == [step.loss_value_id]


@pytest.mark.parametrize("name", LOSSES)
def test_no_capture_is_a_movement_or_a_literal(name):
    step = compiled(name)
    by_id = {op.id: op for op in step.source_forward_graph.operations}
    for value_id in step.forward_capture_value_ids:
        assert not by_id[value_id].operator.is_movement
        assert not by_id[value_id].operator.is_literal


def test_captures_stand_in_the_order_of_the_forward_graph():
    step = compiled("network")
    order = [op.id for op in step.source_forward_graph.operations]
    positions = [order.index(i) for i in step.forward_capture_value_ids]
    assert positions == sorted(positions)
