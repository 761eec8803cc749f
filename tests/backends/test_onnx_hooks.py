"""Every fusion is found where it should be, keeps the result, and is left where it must be."""

from __future__ import annotations

import numpy as np
import pytest

from tinychain_backends.onnx.handlers import onnx_registry
from tinychain_backends.onnx.hooks import onnx_hook
from tinychain_backends.onnx.programs import OnnxProgram
from tinychain_compile import SGD, AdamW, check_fusion
from tinychain_compile.functions import conv, erf

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def run(program, values):
    return OnnxProgram(program, "program").run(values, {})


def prove(loss, inputs, optimizer=None, tolerance=2e-6):
    proof = check_fusion(
        onnx_hook(),
        loss,
        inputs=inputs,
        parameters=["w"],
        optimizer=optimizer or SGD(),
        optimizer_inputs={"learning_rate": 0.1},
        handlers=onnx_registry(),
        run=run,
        tolerance=tolerance,
    )
    assert proof.agrees, proof
    return [tuple(operator.name for operator in row.operators) for row in proof.claims]


def softmax(x):
    powers = np.exp(x - np.max(x, axis=1, keepdims=True))
    return powers / np.sum(powers, axis=1, keepdims=True)


def log_softmax(x):
    shifted = x - np.max(x, axis=1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))


def mean_of_squares(x):
    centred = x - np.mean(x, axis=1, keepdims=True)
    return centred / np.sqrt(np.mean(centred * centred, axis=1, keepdims=True) + 1e-3)


def mean_of_powers(x):
    centred = x - np.mean(x, axis=1, keepdims=True)
    return centred / np.sqrt(np.mean(centred**2, axis=1, keepdims=True) + 1e-3)


def by_variance(x):
    centred = x - np.mean(x, axis=1, keepdims=True)
    return centred / np.sqrt(np.var(x, axis=1, keepdims=True) + 1e-3)


def gelu(x):
    return 0.5 * x * (1.0 + erf(x / np.sqrt(2.0)))


def gelu_of_products(x):
    return x * (erf(x * 0.5**0.5) + 1.0) * 0.5


WRITTEN_OUT = {
    softmax: "exp",
    log_softmax: "log",
    mean_of_squares: "sqrt",
    mean_of_powers: "sqrt",
    by_variance: "sqrt",
    gelu: "erf",
    gelu_of_products: "erf",
}


@pytest.mark.parametrize("function", WRITTEN_OUT, ids=lambda f: f.__name__)
def test_what_is_written_out_becomes_one_operator(function):
    """Of data alone, since a derivative reads what is inside."""
    x, w = normal(5, 7), normal(7)
    claims = prove(lambda x, w: np.mean(function(x) * w), {"x": x, "w": w}, tolerance=1e-5)
    assert any(WRITTEN_OUT[function] in claim for claim in claims), claims


@pytest.mark.parametrize("function", WRITTEN_OUT, ids=lambda f: f.__name__)
def test_where_the_derivative_reads_what_is_inside_the_result_is_kept(function):
    x, w = normal(5, 7), normal(7)
    prove(lambda x, w: np.mean(function(x * w) ** 2), {"x": x, "w": w}, tolerance=1e-5)


def test_other_numbers_than_gelus_are_left():
    def loss(x, w):
        return np.mean(0.6 * x * (1.0 + erf(x / np.sqrt(2.0))) * w)

    claims = prove(loss, {"x": normal(5, 7), "w": normal(7)}, tolerance=1e-5)
    assert not any("erf" in claim for claim in claims)


@pytest.mark.parametrize(
    "addend", [normal(4), normal(1, 4), normal(5, 4), normal(5, 1), np.float32(2.0)], ids=np.shape
)
def test_a_product_takes_what_is_added(addend):
    arrays = {"x": normal(5, 3), "w": normal(3, 4), "b": addend}
    claims = prove(lambda x, w, b: np.mean(np.tanh(x @ w + b)), arrays)
    assert any(claim[0] == "matmul" and claim[-1] == "add" for claim in claims)


def test_a_stack_of_products_is_left():
    arrays = {"x": normal(2, 5, 3), "w": normal(2, 3, 4), "b": normal(4)}
    claims = prove(lambda x, w, b: np.mean(np.tanh(x @ w + b)), arrays)
    assert not any(claim[0] == "matmul" for claim in claims)


@pytest.mark.parametrize("bias", [normal(4, 1, 1), normal(1, 4, 1, 1)], ids=np.shape)
def test_a_convolution_takes_one_number_for_each_channel(bias):
    arrays = {"x": normal(2, 3, 6, 6), "w": normal(4, 3, 3, 3), "b": bias}
    claims = prove(lambda x, w, b: np.mean(np.tanh(conv(x, w) + b)), arrays)
    assert any("conv" in claim and "add" in claim for claim in claims)


def test_a_convolution_takes_a_vector_that_is_reshaped():
    arrays = {"x": normal(2, 3, 6, 6), "w": normal(4, 3, 3, 3), "b": normal(4)}
    claims = prove(lambda x, w, b: np.mean(np.tanh(conv(x, w) + b[:, None, None])), arrays)
    assert any("conv" in claim and "add" in claim for claim in claims)


def test_a_convolution_leaves_what_is_no_bias():
    arrays = {"x": normal(2, 3, 6, 6), "w": normal(4, 3, 3, 3), "b": normal(1, 4)}
    claims = prove(lambda x, w, b: np.mean(np.tanh(conv(x, w) + b)), arrays)
    assert not any("conv" in claim for claim in claims)


def test_decay_and_descent_are_one():
    arrays = {"x": normal(5, 3), "w": normal(3, 4)}
    claims = prove(lambda x, w: np.mean((x @ w) ** 2), arrays, AdamW())
    assert ("axpy", "axpy") in claims


def test_softmax_along_two_axes_is_left():
    def loss(x, w):
        powers = np.exp(x - np.max(x, axis=1, keepdims=True))
        return np.mean(powers / np.sum(powers, axis=0, keepdims=True) * w)

    claims = prove(loss, {"x": normal(5, 7), "w": normal(7)}, tolerance=1e-5)
    assert not any("exp" in claim for claim in claims)


@pytest.mark.parametrize("axis", [0, (0, 1)])
def test_normalization_over_the_first_axes_is_left_or_whole(axis):
    def loss(x, w):
        centred = x - np.mean(x, axis=axis, keepdims=True)
        return np.mean(centred / np.sqrt(np.var(x, axis=axis, keepdims=True) + 1e-3) * w)

    claims = prove(loss, {"x": normal(5, 7), "w": normal(7)}, tolerance=1e-5)
    assert any("sqrt" in claim for claim in claims) == (axis == (0, 1))


@pytest.mark.parametrize("function", [by_variance, gelu])
def test_f64_is_left_where_the_runtime_computes_in_f32(function):
    x, w = normal(5, 7).astype("f8"), normal(7).astype("f8")
    claims = prove(lambda x, w: np.mean(function(x) * w), {"x": x, "w": w}, tolerance=1e-12)
    assert not any(WRITTEN_OUT[function] in claim for claim in claims)


def test_an_epsilon_that_is_fed_is_left():
    def loss(x, epsilon, w):
        centred = x - np.mean(x, axis=1, keepdims=True)
        return np.mean(centred / np.sqrt(np.var(x, axis=1, keepdims=True) + epsilon) * w)

    arrays = {"x": normal(5, 7), "epsilon": np.float32(1e-3), "w": normal(7)}
    claims = prove(loss, arrays, tolerance=1e-5)
    assert not any("sqrt" in claim for claim in claims)


def test_a_number_that_was_read_before_is_known_too():
    """The second gelu reads the literals of the first."""

    def loss(x, w):
        return np.mean((gelu(x) + gelu(x * 2.0)) * w)

    claims = prove(loss, {"x": normal(5, 7), "w": normal(7)}, tolerance=1e-5)
    assert sum("erf" in claim for claim in claims) >= 1
