"""Random well-typed graphs verify after every stage, print alike, and have the right gradients."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import ReferenceContainer, ReferenceTrainer
from tests.support.random_graphs import SHAPES, SMOOTH_STEPS, STEPS, arrays_for, loss_of
from tinychain_backends.numpy import NumpyContainer, NumpyEvaluator, NumpySession
from tinychain_compile import SGD, TensorType, fingerprint, print_graph, verify
from tinychain_compile.testing import scoped_overrides

ROOT = Path(__file__).parents[2]
TYPES = {name: TensorType("f64", shape) for name, shape in SHAPES.items()}


def compiled(steps, container=None):
    compiler = (container or NumpyContainer()).compiler()
    return compiler.compile_training_step(
        loss_of(steps), inputs=TYPES, parameters=list(SHAPES), optimizer=SGD()
    )


def texts(step):
    graphs = [
        step.source_forward_graph,
        step.source_derivative_program.graph,
        step.lowered_forward_graph,
        step.lowered_derivative_program.graph,
    ]
    return [print_graph(graph) for graph in graphs]


@settings(max_examples=80)
@given(STEPS)
def test_graphs_verify_after_every_stage(steps):
    for container in (NumpyContainer(), ReferenceContainer()):
        step = compiled(steps, container)
        for graph in (
            step.source_forward_graph,
            step.source_derivative_program.graph,
            step.lowered_forward_graph,
            step.lowered_derivative_program.graph,
            *(row.lowered_update_graph for row in step.parameters),
        ):
            verify(graph)


@settings(max_examples=60)
@given(STEPS, st.integers(0, 10))
def test_loss_evaluator_program_and_reference_agree(steps, seed):
    arrays = arrays_for(seed)
    step = compiled(steps)
    eager = loss_of(steps)(**arrays)
    interpreted = NumpyEvaluator().evaluate(step.source_forward_graph, arrays)["loss"]
    loss, gradients = NumpySession(step, arrays).value_and_gradients({})
    reference = ReferenceTrainer(compiled(steps, ReferenceContainer()), arrays)
    other_loss, other_gradients = reference.value_and_gradients({})
    for value in (interpreted, loss, other_loss):
        np.testing.assert_allclose(value, eager, rtol=1e-13, atol=1e-15)
    for name in SHAPES:
        np.testing.assert_allclose(other_gradients[name], gradients[name], rtol=1e-11, atol=1e-13)


@settings(max_examples=60)
@given(SMOOTH_STEPS, st.integers(0, 10))
def test_gradients_equal_central_differences(steps, seed):
    arrays = arrays_for(seed)
    loss = loss_of(steps)
    _, gradients = NumpySession(compiled(steps), arrays).value_and_gradients({})
    rng = np.random.default_rng(seed + 1)
    for name in SHAPES:
        direction = rng.normal(size=SHAPES[name])
        values = []
        for step in (-1e-6, 1e-6):
            moved = {**arrays, name: arrays[name] + step * direction}
            values.append(float(loss(**moved)))
        expected = (values[1] - values[0]) / 2e-6
        np.testing.assert_allclose(
            float(np.sum(gradients[name] * direction)), expected, rtol=1e-6, atol=1e-8
        )


@settings(max_examples=40)
@given(STEPS)
def test_compiling_twice_prints_the_same(steps):
    first, second = compiled(steps), compiled(steps)
    assert texts(first) == texts(second)
    assert first.provenance.graph_id == second.provenance.graph_id


@settings(max_examples=40)
@given(STEPS, STEPS)
def test_fingerprints_are_equal_exactly_when_graphs_are(one, other):
    first, second = (compiled(steps).source_forward_graph for steps in (one, other))
    same_text = print_graph(first) == print_graph(second)
    assert (fingerprint(first) == fingerprint(second)) == same_text


def test_graphs_print_alike_under_different_hash_seeds():
    recipes = [[[k, k * 7 % 41, k * 3 % 41] for k in range(n, n + 8)] for n in range(20)]
    program = (
        "import json, sys\n"
        "from tests.properties.test_random_graphs import compiled, texts\n"
        "for steps in json.loads(sys.argv[1]):\n"
        "    print(texts(compiled(steps)))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program, json.dumps(recipes)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "77")
    }
    assert len(outputs) == 1


def test_the_property_has_teeth():
    from tinychain_compile.autodiff import ReverseModeEngine
    from tinychain_compile.operators import Tanh
    from tinychain_compile.vjp_rules import VJP_RULES, WITHOUT_DERIVATIVE

    wrong = {**VJP_RULES, Tanh: lambda op, g, y, x: (g * (1.0 - y),)}
    container = NumpyContainer()
    with scoped_overrides(container, vjp_engine=ReverseModeEngine(wrong, WITHOUT_DERIVATIVE)):
        compiler = container.compiler()
    arrays = arrays_for(0)
    step = compiler.compile_training_step(
        loss_of([(9, 0, 0)]), inputs=TYPES, parameters=list(SHAPES), optimizer=SGD()
    )
    _, got = NumpySession(step, arrays).value_and_gradients({})
    _, right = NumpySession(compiled([(9, 0, 0)]), arrays).value_and_gradients({})
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(got["a"], right["a"], rtol=1e-3)
