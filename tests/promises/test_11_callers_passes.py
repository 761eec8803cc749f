"""Caller-supplied passes are checked one after another; without one the same object comes out."""

from __future__ import annotations

import pytest

from tests.support.losses import LOSSES, compiled
from tinychain_compile import (
    SGD,
    CompileOptions,
    Graph,
    TensorType,
    compile_training_step,
    print_graph,
    rewrite,
)
from tinychain_compile.artifacts import DerivativeProgram, TracedUpdate
from tinychain_compile.errors import PassContractError, UnsupportedOperatorError
from tinychain_compile.ir.graph import NamedValue, Operation
from tinychain_compile.operators import OPERATORS, Mul, Reshape
from tinychain_compile.testing import RecordingRegistry


def identity(artifact):
    return artifact


def square_by_product(graph):
    """Write ``x ** 2`` as a product, keeping everything else."""

    def rule_for(operation):
        if operation.operator.name == "integer_pow":
            return lambda op, x: x * x
        return None

    return rewrite(graph, rule_for)


def test_without_passes_the_very_same_objects_come_out():
    step = compile_training_step(
        lambda w: (w * w).sum(),
        inputs={"w": TensorType("f64", (3,))},
        parameters=["w"],
        optimizer=SGD(),
        handlers=RecordingRegistry(),
        options=CompileOptions(simplifications=()),
    )
    assert step.lowered_forward_graph is step.source_forward_graph
    assert step.lowered_derivative_program is step.source_derivative_program
    row = step.parameters[0]
    assert row.lowered_update_graph is row.source_update_graph


def test_passes_run_in_order_after_differentiation_and_are_labelled():
    order = []

    def first(graph):
        order.append("first")
        return graph

    def second(graph):
        order.append("second")
        return square_by_product(graph)

    step = compiled("regression", forward_expansions=[first, second])
    assert order == ["first", "second"]
    assert step.provenance.pass_labels["forward"] == ("first", "second")
    assert "integer_pow" in print_graph(step.source_forward_graph)
    assert "integer_pow" not in print_graph(step.lowered_forward_graph)
    assert step.loss_value_id == compiled("regression").loss_value_id


def test_derivative_and_update_passes_see_their_artifacts():
    seen = []

    def note(artifact):
        seen.append(type(artifact))
        return artifact

    compiled("network", derivative_expansions=[note], update_expansions=[note])
    assert seen[0] is DerivativeProgram
    assert set(seen[1:]) == {TracedUpdate}


def drop_output(graph):
    return Graph(graph.name, graph.inputs, graph.operations, graph.outputs[:-1])


def rename_output(graph):
    outputs = tuple(NamedValue("renamed", value) for _, value in graph.outputs)
    return Graph(graph.name, graph.inputs, graph.operations, outputs)


def drop_input(graph):
    return Graph(graph.name, graph.inputs[1:], graph.operations, graph.outputs)


def reorder(graph):
    return Graph(graph.name, graph.inputs, graph.operations[::-1], graph.outputs)


def unknown_operand(graph):
    """Replace the first operation by one that reads what it was."""
    first = graph.operations[0]
    other = Operation(Reshape(first.type.shape[::-1]), (first,), first.id)
    return Graph(graph.name, graph.inputs, (other, *graph.operations[1:]), graph.outputs)


def fails(graph):
    raise KeyError("inside the pass")


@pytest.mark.parametrize(
    "broken",
    [drop_output, rename_output, drop_input, reorder, unknown_operand, fails, lambda g: None],
)
def test_a_broken_pass_is_named_with_its_position(broken):
    with pytest.raises(PassContractError, match=r"forward pass 1 \(") as caught:
        compiled("network", forward_expansions=[identity, broken])
    if broken is fails:
        assert isinstance(caught.value.__cause__, KeyError)


def test_a_derivative_pass_may_not_change_seed_or_captures():
    def forget_capture(program):
        return program.with_graph(drop_input(program.graph))

    def other_seed(program):
        return DerivativeProgram(
            program.graph,
            program.forward,
            NamedValue("other", program.seed.value),
            program.parameters,
        )

    for broken in (forget_capture, other_seed):
        with pytest.raises(PassContractError, match="derivative pass 0"):
            compiled("network", derivative_expansions=[broken])


def test_a_pass_that_adds_an_unsupported_operator_meets_the_support_check():
    registry = RecordingRegistry(set(OPERATORS) - {Mul})
    loss, types, parameters = LOSSES["regression"]
    with pytest.raises(UnsupportedOperatorError, match="rewriting of integer_pow"):
        compile_training_step(
            loss,
            inputs=types,
            parameters=parameters,
            optimizer=lambda parameter, gradient: parameter - gradient,
            handlers=registry,
            forward_expansions=[square_by_product],
        )
    assert registry.contexts == []


def test_rewriting_twice_gives_ids_that_no_other_program_has():
    def product_by_sum(graph):
        def rule_for(operation):
            return (lambda op, a, b: a + b) if isinstance(operation.operator, Mul) else None

        return rewrite(graph, rule_for)

    def update_twice(update):
        return TracedUpdate(product_by_sum(update.graph))

    step = compiled(
        "network",
        forward_expansions=[square_by_product, product_by_sum],
        update_expansions=[update_twice],
    )
    graphs = [step.lowered_forward_graph, step.lowered_derivative_program.graph]
    graphs += list({row.lowered_update_graph: None for row in step.parameters})
    ids = [op.id for graph in graphs for op in graph.operations]
    assert len(set(ids)) == len(ids)
