"""A whole step as one graph: the same results as its three programs."""

from __future__ import annotations

import numpy as np
import pytest

from reference import ReferenceContainer
from reference.backend import reference_registry
from reference.backend import run as run_reference
from tests.backends.test_models_by_decomposition import SMALL
from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_backends.numpy.assembly import NumpyProgram
from tinychain_backends.numpy.handlers import numpy_registry
from tinychain_compile import SGD, TensorType, lower_graph, merge_step, print_graph, verify


def compiled(loss, inputs, parameters, container=NumpyContainer, optimizer=None):
    return (
        container()
        .compiler()
        .compile_training_step(
            loss, inputs=inputs, parameters=parameters, optimizer=optimizer or SGD()
        )
    )


def run_merged(graph, arrays, registry=numpy_registry):
    program = lower_graph(graph, handlers=registry())
    values = {value.id: arrays[name] for name, value in graph.inputs}
    if registry is reference_registry:
        results = run_reference(program, values)
    else:
        results = NumpyProgram(program, "step").run(values, {})
    return {name: results.get(v.id, values.get(v.id)) for name, v in graph.outputs}


@pytest.mark.parametrize("name", SMALL)
def test_loss_and_new_parameters_are_those_of_the_three_programs(name):
    workload = SMALL[name]()
    arrays = workload.arrays()
    step = compiled(workload.loss, workload.inputs, workload.parameters)
    graph = merge_step(step)
    verify(graph)
    names = [row.name for row in step.parameters]
    session = NumpySession(step, {n: arrays[n] for n in names})
    loss = session.step({n: a for n, a in arrays.items() if n not in names}, learning_rate=0.1)
    merged = run_merged(graph, {**arrays, "learning_rate": np.asarray(0.1)})
    assert list(merged) == ["loss", *names]
    np.testing.assert_array_equal(merged["loss"], loss["loss"])
    for n in names:
        np.testing.assert_array_equal(merged[n], session.parameters[n])


def test_what_was_decomposed_stays_so():
    workload = SMALL["W1"]()
    arrays = workload.arrays()
    step = compiled(workload.loss, workload.inputs, workload.parameters, ReferenceContainer)
    graph = merge_step(step)
    merged = run_merged(graph, {**arrays, "learning_rate": np.asarray(0.1)}, reference_registry)
    whole = compiled(workload.loss, workload.inputs, workload.parameters)
    expected = run_merged(merge_step(whole), {**arrays, "learning_rate": np.asarray(0.1)})
    for name, array in expected.items():
        np.testing.assert_allclose(merged[name], array, rtol=1e-11, atol=1e-13)


def test_auxiliary_outputs_buffers_and_captures():
    def loss(w, x, mean):
        new_mean = 0.5 * mean + 0.5 * x.mean()
        powers = np.exp(w)
        total = ((powers * x - new_mean) ** 2).mean()
        return total, {"mean": new_mean, "powers": powers}

    arrays = {"w": np.ones(3), "x": np.arange(3.0), "mean": np.asarray(4.0)}
    step = compiled(loss, arrays, ["w"])
    graph = merge_step(step)
    merged = run_merged(graph, {**arrays, "learning_rate": np.asarray(0.1)})
    assert list(merged) == ["loss", "mean", "powers", "w"]
    session = NumpySession(step, {"w": np.ones(3)}, buffers={"mean": 4.0})
    outputs = session.step({"x": np.arange(3.0)}, learning_rate=0.1)
    np.testing.assert_array_equal(merged["mean"], session.buffers["mean"])
    np.testing.assert_array_equal(merged["powers"], outputs["powers"])
    np.testing.assert_array_equal(merged["w"], session.parameters["w"])


def test_ids_are_unique_and_updates_are_clones_of_their_template():
    arrays = {"a": np.ones(3), "b": np.ones(3), "x": np.ones(3)}
    step = compiled(lambda a, b, x: (np.tanh(a * x) * b).sum(), arrays, ["a", "b"])
    graph = merge_step(step)
    ids = [op.id for op in graph.operations]
    assert len(set(ids)) == len(ids)
    template = step.parameters[0].lowered_update_graph
    for name in ("a", "b"):
        clones = [i for i in ids if i.endswith(f".{name}")]
        assert len(clones) == len(template.operations)
    (seed,) = step.seed_value_ids
    assert f"{seed}: f64[] = constant() {{value=1.0}}" in print_graph(graph)


def test_two_dtypes_share_a_scalar_through_a_cast():
    arrays = {"a": np.ones(3), "b": np.ones(3, np.float32)}
    step = compiled(lambda a, b: (a * a).sum() + (b * b).sum(), arrays, ["a", "b"])
    graph = merge_step(step)
    assert graph.input("learning_rate").type == TensorType("f64", ())
    merged = run_merged(graph, {**arrays, "learning_rate": np.asarray(0.25)})
    np.testing.assert_allclose(merged["a"], 0.5)
    np.testing.assert_allclose(merged["b"], 0.5)
    assert merged["b"].dtype == np.float32


def test_an_update_that_keeps_the_parameter():
    arrays = {"a": np.ones(3)}
    step = compiled(
        lambda a: (a * a).sum(), arrays, ["a"], optimizer=lambda parameter, gradient: parameter
    )
    graph = merge_step(step)
    assert run_merged(graph, arrays)["a"] is arrays["a"]
