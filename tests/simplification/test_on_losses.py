"""Simplified programs of random losses give the bits of the plain ones, in no more operations."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import ReferenceContainer
from tests.support.losses import compiled
from tests.support.random_graphs import STEPS, arrays_for, loss_of
from tinychain_backends.numpy import NumpyContainer
from tinychain_backends.numpy.calls import call_for
from tinychain_compile import SGD, CompileOptions, TensorType, compile_function, rewrite
from tinychain_compile.artifacts import SIMPLIFICATIONS
from tinychain_compile.errors import DeclarationError
from tinychain_compile.operators import MatMul, StopGradient, Transpose
from tinychain_compile.simplification import RULES
from tinychain_compile.simplification.simplifier import GraphSimplifier
from tinychain_compile.testing import RecordingRegistry


def run(graph, arrays):
    """Evaluate with contiguous values: NumPy sums in the order of memory, which views change."""
    values = {value: arrays[name] for name, value in graph.inputs}
    with np.errstate(all="ignore"):
        for operation in graph.operations:
            operands = [values[value] for value in operation.inputs]
            if isinstance(operation.operator, StopGradient):
                values[operation] = operands[0]
                continue
            call = call_for(operation.operator)
            result = call.function(*operands, **call.keywords)
            values[operation] = np.array(result, order="C")
    return {name: values[value] for name, value in graph.outputs}


def step_of(container, steps, names):
    types = {name: TensorType(a.dtype, a.shape) for name, a in arrays_for(0).items()}
    return container.compiler().compile_training_step(
        loss_of(steps),
        inputs=types,
        parameters=list(types),
        optimizer=SGD(),
        options=CompileOptions(on_disconnected="zero", simplifications=names),
    )


@settings(max_examples=60, deadline=None)
@given(STEPS, st.integers(0, 3))
def test_a_forward_graph_keeps_its_bits(steps, seed):
    plain = step_of(NumpyContainer(), steps, ())
    graph = plain.source_forward_graph
    simple = GraphSimplifier(RULES).simplify(graph, fresh_ids_after(graph), names=SIMPLIFICATIONS)
    arrays = arrays_for(seed)
    np.testing.assert_array_equal(run(simple, arrays)["loss"], run(graph, arrays)["loss"])
    assert len(simple.operations) <= len(graph.operations)


@settings(max_examples=40, deadline=None)
@given(STEPS, st.sampled_from(SIMPLIFICATIONS))
def test_each_alone_keeps_the_bits_of_a_derivative(steps, name):
    program = step_of(NumpyContainer(), steps, ()).source_derivative_program
    graph = program.graph
    ids = (f"w{i}" for i in range(10**6))
    simple = GraphSimplifier(RULES).simplify(graph, ids, names=[name])
    rng = np.random.default_rng(0)
    arrays = {
        key: rng.normal(size=value.type.shape).astype(value.type.dtype)
        for key, value in graph.inputs
    }
    expected, found = run(graph, arrays), run(simple, arrays)
    for key, array in expected.items():
        np.testing.assert_array_equal(found[key], array)


@settings(max_examples=25, deadline=None)
@given(STEPS)
def test_a_legalized_program_is_made_of_nothing_that_is_lacking_and_has_fewer_operations(steps):
    plain = step_of(ReferenceContainer(), steps, ())
    simple = step_of(ReferenceContainer(), steps, SIMPLIFICATIONS)
    for name in ("lowered_forward_graph",):
        assert len(getattr(simple, name).operations) <= len(getattr(plain, name).operations)
    size = [len(s.lowered_derivative_program.graph.operations) for s in (plain, simple)]
    assert size[1] <= size[0]


def fresh_ids_after(graph):
    return (f"s{i}" for i, _ in enumerate(range(10 * len(graph.operations) + 100)))


def test_a_product_takes_a_transpose_only_where_the_backend_can():
    def loss(x, w):
        return np.sum(x @ w.T)

    arrays = {"x": np.ones((2, 3)), "w": np.ones((4, 3))}
    for refuses, kinds in ((True, {Transpose}), (False, set())):

        class Registry(RecordingRegistry):
            def lookup(self, operator, refuses=refuses):
                handler = super().lookup(operator)
                if refuses and isinstance(operator, MatMul):
                    handler.supports = lambda operation: (
                        "it cannot transpose"
                        if operation.operator.transpose_a or operation.operator.transpose_b
                        else True
                    )
                return handler

        record = compile_function(lambda x, w: x @ w.T, inputs=arrays, handlers=Registry)
        found = {type(op.operator) for op in record.lowered_graph.operations}
        assert found == {MatMul, *kinds}
    assert callable(loss)


def test_callers_passes_come_after_and_see_the_simplified_graph():
    seen = []

    def note(graph):
        seen.append([op.operator.name for op in graph.operations])
        return rewrite(graph, lambda operation: None)

    compiled("reused", forward_expansions=[note])
    assert seen[0].count("mul") == 2  # h * h is there once


@pytest.mark.parametrize("names", ["identities", ["identites"], [3]])
def test_unknown_names_are_refused_with_the_nearest(names):
    if names == "identities":
        assert CompileOptions(simplifications=names).simplifications == ("identities",)
        return
    with pytest.raises(DeclarationError, match="simplifications"):
        CompileOptions(simplifications=names)


def test_times_are_on_the_record_and_in_the_log(caplog, capsys, monkeypatch):
    with caplog.at_level(logging.INFO, logger="tinychain_compile"):
        step = compiled("regression")
    assert set(step.timings) >= {"tracer", "vjp_engine", "simplifier", "lowerer", "record"}
    assert all(seconds >= 0 for seconds in step.timings.values())
    assert "compiled a training step" in caplog.text
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("TINYCHAIN_COMPILE_LOG", "1")
    record = compile_function(
        lambda x: x * 2.0, inputs={"x": np.ones(3)}, handlers=RecordingRegistry
    )
    assert "compiled a function: 3 operations" in capsys.readouterr().err
    assert "tracer" in record.timings
