"""What is written for each operator, on the runtime; unknown sizes; operands that are repeated."""

from __future__ import annotations

import numpy as np
import pytest

from tinychain_backends.numpy import NumpyContainer, NumpyFunction, NumpySession
from tinychain_backends.onnx import OnnxContainer, OnnxFunction, OnnxSession, step_models
from tinychain_compile import SGD, CompileOptions, MixedPrecision, TensorType
from tinychain_compile.functions import conv
from tinychain_compile.operators import Iota
from tinychain_conformance.adapter import load_backend
from tinychain_conformance.checking import check_operator
from tinychain_conformance.report import Status
from tinychain_conformance.variants import operators_of_the_grid, uses_of

BACKEND = load_backend("tinychain_backends.onnx:OnnxContainer")
F32, I64 = np.dtype("f4"), np.dtype("i8")
RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.normal(size=shape).astype(np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("operator", operators_of_the_grid(), ids=lambda operator: operator.name)
def test_an_operator_is_right_whole_or_decomposed(operator):
    for dtype in (F32, I64):
        if uses_of(operator, dtype):
            row = check_operator(BACKEND, operator, dtype)
            assert row is not None
            assert row.status is not Status.WRONG, row


def functions(function, **types):
    runners = ((NumpyContainer, NumpyFunction), (OnnxContainer, OnnxFunction))
    return [
        run(made().compiler().compile_function(function, inputs=types)) for made, run in runners
    ]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.reshape(-1) * 2.0,
        lambda x: np.sum(x) / x.shape[0],
        lambda x: np.concatenate([x, x[1:]], axis=0),
        lambda x: np.broadcast_to(x[:, None], (x.shape[0], 3, 4)) * 1.0,
        lambda x: np.cumsum(np.ones_like(x), axis=0),
        lambda x: np.reshape(x, (x.shape[0] * 2, 2)),
        lambda x: x[::-1],
        lambda x: np.pad(x, ((1, 2), (0, 0))),
        lambda x: np.var(x, axis=0) + np.std(x, axis=1).sum(),
        lambda x: np.sort(x, axis=0) + np.where(x > 0, x, -x),
    ],
)
def test_sizes_that_are_known_when_running(function):
    ours, other = functions(function, x=TensorType("f32", ("n", 4)))
    for size in (3, 5):
        x = normal(size, 4)
        expected, found = (run({"x": x})["output"] for run in (ours, other))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_two_unknown_sizes_of_a_shape():
    types = {"x": TensorType("f32", ("n", "m", 2)), "y": TensorType("f32", ("m", "n"))}
    ours, other = functions(lambda x, y: x.sum(2).reshape(y.T.shape) + y.T, **types)
    arrays = {"x": normal(3, 5, 2), "y": normal(5, 3)}
    expected, found = (run(arrays)["output"] for run in (ours, other))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_a_derivative_reads_a_size_off_an_input_that_it_does_not_need():
    """The gradient of a sum over the batch needs its size, and no value of it."""

    def loss(x, w):
        return np.mean(x + w)

    types = {"x": TensorType("f32", ("n", 3)), "w": TensorType("f32", (3,))}
    step = (
        OnnxContainer()
        .compiler()
        .compile_training_step(loss, inputs=types, parameters=["w"], optimizer=SGD())
    )
    session = OnnxSession(step, {"w": np.zeros(3, np.float32)})
    for size in (4, 6):
        _, gradients = session.value_and_gradients({"x": normal(size, 3)})
        np.testing.assert_allclose(gradients["w"], np.full(3, 1 / 3, np.float32), rtol=1e-6)
        session.step({"x": normal(size, 3)}, learning_rate=0.1)
    assert "x" in [value.name for value in step_models(step).derivative.graph.input]


def test_a_weight_that_is_repeated_for_a_stack_is_read_as_it_is():
    def function(x, w, scale):
        return np.tanh(x @ w) * scale[:, None]

    types = {
        "x": TensorType("f32", (2, 5, 3)),
        "w": TensorType("f32", (3, 4)),
        "scale": TensorType("f32", (5,)),
    }
    ours, other = functions(function, **types)
    arrays = {name: normal(*type.shape) for name, type in types.items()}
    expected, found = (run(arrays)["output"] for run in (ours, other))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert "Expand" not in {node.op_type for node in other._program.model.graph.node}


def test_an_iota_that_is_large_is_counted_by_the_model():
    def function(x):
        return x + x.emit_literal(Iota((5000,), 0, np.dtype("f4")))

    ours, other = functions(function, x=TensorType("f32", (5000,)))
    x = normal(5000)
    np.testing.assert_array_equal(other({"x": x})["output"], ours({"x": x})["output"])
    sizes = [len(i.raw_data) for i in other._program.model.graph.initializer]
    assert max(sizes) < 5000


def test_a_window_that_a_transposed_convolution_cannot_say_is_decomposed():
    """Its rest is as large as its stride only where windows are left out: stride 1 has none."""

    def loss(x, w):
        return np.mean(conv(conv(x, w), w, strides=3) ** 2)

    types = {"x": TensorType("f32", (2, 1, 9)), "w": TensorType("f32", (1, 1, 2))}
    step = (
        OnnxContainer()
        .compiler()
        .compile_training_step(loss, inputs=types, parameters=["w"], optimizer=SGD())
    )
    arrays = {"x": normal(2, 1, 9), "w": normal(1, 1, 2)}
    _, gradients = OnnxSession(step, {"w": arrays["w"]}).value_and_gradients({"x": arrays["x"]})
    other = (
        NumpyContainer()
        .compiler()
        .compile_training_step(loss, inputs=types, parameters=["w"], optimizer=SGD())
    )
    _, expected = NumpySession(other, {"w": arrays["w"]}).value_and_gradients({"x": arrays["x"]})
    np.testing.assert_allclose(gradients["w"], expected["w"], rtol=1e-4, atol=1e-6)


def test_names_of_constants_make_way_for_inputs():
    types = {"constant": [TensorType("f32", (2,)), TensorType("f32", (2,))]}
    made = (
        OnnxContainer()
        .compiler()
        .compile_function(lambda constant: constant[0] + 1.0 + constant[1] * 3.0, inputs=types)
    )
    a, b = normal(2), normal(2)
    found = OnnxFunction(made)({"constant": [a, b]})["output"]
    np.testing.assert_allclose(found, a + 1 + b * 3, rtol=1e-6)


def test_a_short_parameter_without_a_longer_copy_is_watched_step_by_step():
    """Three programs run, since the warning needs the gradients."""
    types = {"x": TensorType("f16", (4,)), "w": TensorType("f16", (4,))}

    def step_of(optimizer):
        return (
            OnnxContainer()
            .compiler()
            .compile_training_step(
                lambda x, w: np.sum(x * w), inputs=types, parameters=["w"], optimizer=optimizer
            )
        )

    batch = {"x": np.ones(4, np.float16)}
    session = OnnxSession(step_of(SGD()), {"w": np.ones(4, np.float16)})
    with pytest.warns(UserWarning, match="MixedPrecision"):
        session.step(batch, learning_rate=1e-5)
    np.testing.assert_array_equal(session.parameters["w"], np.ones(4, np.float16))
    mixed = OnnxSession(step_of(MixedPrecision(SGD())), {"w": np.ones(4, np.float16)})
    mixed.step(batch, learning_rate=1e-5)
    assert mixed.state.slots


def test_the_models_of_a_step_that_accumulates_say_how_its_sums_start():
    types = {"x": TensorType("f32", (4,)), "w": TensorType("f32", (4,))}
    step = (
        OnnxContainer()
        .compiler()
        .compile_training_step(
            lambda x, w: np.sum(x * w),
            inputs=types,
            parameters=["w"],
            optimizer=SGD(),
            options=CompileOptions(accumulate_gradients=True),
        )
    )
    models = step_models(step)
    (key,) = [slot.key for slot in step.slots]
    assert f"new/{key}" in [value.name for value in models.derivative.graph.output]
    assert key in [value.name for value in models.derivative.graph.input]
