"""Gradients are keyed by value and reported in parameter order."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from tests.support.losses import REGRESSION_TYPES, arrays_for, regression
from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_compile import SGD, TensorType


def compile_for(parameters, loss=regression, types=REGRESSION_TYPES):
    return (
        NumpyContainer()
        .compiler()
        .compile_training_step(loss, inputs=types, parameters=parameters, optimizer=SGD())
    )


def test_outputs_follow_the_declared_order_whatever_it_is():
    arrays = arrays_for(REGRESSION_TYPES)
    seen = []
    for parameters in permutations(["w", "b", "x"]):
        step = compile_for(parameters)
        assert [row.name for row in step.parameters] == list(parameters)
        assert step.derivative.selected_outputs == tuple(
            row.gradient_value_id for row in step.parameters
        )
        session = NumpySession(step, {name: arrays[name] for name in parameters})
        seen.append(session.value_and_gradients({"y": arrays["y"]})[1])
    for gradients in seen[1:]:
        for name in ("w", "b", "x"):
            np.testing.assert_array_equal(gradients[name], seen[0][name])


def test_two_parameters_may_share_one_gradient_value():
    types = {"a": TensorType("f64", (3,)), "b": TensorType("f64", (3,))}
    step = compile_for(["a", "b"], lambda a, b: np.sum(a + b), types)
    first, second = step.parameters
    assert first.gradient_value_id == second.gradient_value_id
    program = step.source_derivative_program
    assert list(program.gradients) == [value for _, value in program.parameters]


def test_the_gradient_of_a_loss_that_is_a_parameter_is_the_seed():
    step = compile_for(["w"], lambda w: w, {"w": TensorType("f64", ())})
    session = NumpySession(step, {"w": np.array(3.0)})
    loss, gradients = session.value_and_gradients({})
    assert (float(loss), float(gradients["w"])) == (3.0, 1.0)
