"""Lowering a graph or a derivative program by itself."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.losses import compiled
from tinychain_compile import (
    Provenance,
    lower_derivative_program,
    lower_graph,
)
from tinychain_compile.errors import (
    InvalidOutputError,
    MissingDependencyError,
    SeedShapeError,
    UnsupportedOperatorError,
)
from tinychain_compile.operators import BASIS, LITERALS
from tinychain_compile.testing import RecordingRegistry


def test_a_graph_lowers_as_it_is_to_its_outputs():
    graph = compiled("network").source_forward_graph
    program = lower_graph(graph, handlers=RecordingRegistry())
    assert program.selected_outputs == (graph.output("loss").id,)
    assert {op.source_node_ids[0] for op in program.operations} == {
        o.node_id for o in graph.operations
    }
    assert program.output_values == (program.operations[-1].value,)


def test_chosen_outputs_lower_what_they_need():
    graph = compiled("network").source_forward_graph
    first = graph.operations[0].id
    program = lower_graph(graph, handlers=RecordingRegistry, outputs=[first])
    assert [op.output_value_id for op in program.operations] == [first]
    with pytest.raises(InvalidOutputError, match="v999"):
        lower_graph(graph, handlers=RecordingRegistry(), outputs=["v999"])


def test_an_input_may_be_an_output():
    graph = compiled("network").source_forward_graph
    x = graph.input("x").id
    program = lower_graph(
        graph, handlers=RecordingRegistry(), outputs=[x], bind_input=lambda row: f"<{row.value_id}>"
    )
    assert program.output_values == (f"<{x}>",)
    assert program.operations == ()


def test_nothing_is_decomposed_on_the_way():
    graph = compiled("network").source_forward_graph
    with pytest.raises(UnsupportedOperatorError, match="tanh"):
        lower_graph(graph, handlers=RecordingRegistry(BASIS + LITERALS))


def test_a_derivative_program_lowers_against_its_forward_graph():
    step = compiled("network")
    program = step.source_derivative_program
    lowered = lower_derivative_program(
        program,
        forward_graph=step.source_forward_graph,
        seed_value_ids=step.seed_value_ids,
        handlers=RecordingRegistry(),
    )
    assert lowered.selected_outputs == tuple(v.id for v in program.gradients.values())
    provenances = {row.provenance for row in lowered.dependencies.dependencies}
    assert provenances == set(Provenance)
    one = lowered.selected_outputs[0]
    alone = lower_derivative_program(
        program,
        forward_graph=step.source_forward_graph,
        seed_value_ids=step.seed_value_ids,
        handlers=RecordingRegistry(),
        outputs=[one],
    )
    assert alone.selected_outputs == (one,)
    assert len(alone.operations) <= len(lowered.operations)


def test_a_wrong_seed_or_forward_graph_is_refused():
    step, other = compiled("network"), compiled("reused")
    program = step.source_derivative_program
    with pytest.raises(SeedShapeError, match="seed"):
        lower_derivative_program(
            program,
            forward_graph=step.source_forward_graph,
            seed_value_ids=("v0",),
            handlers=RecordingRegistry(),
        )
    with pytest.raises(MissingDependencyError, match="nobody supplies"):
        lower_derivative_program(
            program,
            forward_graph=other.source_forward_graph,
            seed_value_ids=step.seed_value_ids,
            handlers=RecordingRegistry(),
        )


def test_a_handler_sees_the_operation_in_full():
    registry = RecordingRegistry()
    step = compiled("network", registry, bind_input=lambda row: f"<{row.value_id}>")
    context = next(c for c in registry.contexts if c.operator.name == "matmul")
    operation = next(
        o for o in step.lowered_forward_graph.operations if o.node_id == context.node_id
    )
    assert context.op_params == {"transpose_a": False, "transpose_b": False}
    assert context.input_value_ids == tuple(v.id for v in operation.inputs)
    assert context.inputs == tuple(f"<{v.id}>" for v in operation.inputs)
    assert context.input_typespecs == tuple(v.type for v in operation.inputs)
    assert context.input_provenance == (Provenance.DECLARED_INPUT,) * 2
    assert context.output_value_id == operation.id
    assert context.output_typespec == operation.type
    assert context.source.text == "x @ w1"
    with pytest.raises(TypeError):
        context.op_params["transpose_a"] = True
    registry = RecordingRegistry()
    compiled("reused", registry)
    twice = next(c for c in registry.contexts if len(set(c.input_value_ids)) < len(c.inputs))
    assert twice.inputs[0] is twice.inputs[1]


def test_the_default_binding_is_the_dependency_row():
    step = compiled("network")
    for row in step.forward.dependencies.required_inputs:
        assert step.forward.values[row.value_id] is row
    assert np.all([row.dtype is not None for row in step.forward.dependencies.dependencies])
