"""Loops compiled by numba compute what NumPy's calls compute."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from benchmarks.workloads import cnn, gpt, mlp
from tinychain_backends.numpy import NumpyContainer, NumpySession, fusing
from tinychain_backends.numpy.assembly import NumpyProgram
from tinychain_backends.numpy.calls import call_for
from tinychain_backends.numpy.fusing import Fused, fused
from tinychain_compile import SGD, AdamW, BindingError, TensorType
from tinychain_compile import operators as o
from tinychain_conformance.case import SPECIAL

pytestmark = pytest.mark.slow  # each loop is compiled

OPERATORS = [
    *(o.Add(), o.Sub(), o.Mul(), o.Div(), o.Neg(), o.Abs(), o.Exp(), o.Log(), o.Tanh(), o.Sqrt()),
    *(o.Rsqrt(), o.Sigmoid(), o.Maximum(), o.Minimum(), o.Annihilate(), o.MulNoNan(), o.Relu()),
    *(
        o.ReluGradient(),
        o.TanhGradient(),
        o.SigmoidGradient(),
        o.Gelu(),
        o.GeluGradient(),
        o.IntegerPow(2),
        o.IntegerPow(3),
    ),
]
ARITY = {o.Neg: 1, o.Abs: 1, o.Exp: 1, o.Log: 1, o.Tanh: 1, o.Sqrt: 1, o.Rsqrt: 1, o.Sigmoid: 1}
ARITY |= {o.Relu: 1, o.Gelu: 1, o.IntegerPow: 1}


def program_of(function, arrays, fast=True):
    types = {name: TensorType(a.dtype, a.shape) for name, a in arrays.items()}
    record = NumpyContainer().compiler().compile_function(function, inputs=types)
    program = NumpyProgram(record.program, "function", fast=fast)
    ids = record.input_value_ids
    values = {ids[name]: array for name, array in arrays.items()}
    results = program.run(values, {})
    return program, {name: results[i] for name, i in record.output_value_ids.items()}


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda op: op.name)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_operator_in_a_loop_is_what_it_is_in_numpy(operator, dtype):
    with np.errstate(all="ignore"):
        x = np.concatenate([SPECIAL, np.linspace(-3, 3, 9)]).astype(dtype)
    first, second = np.repeat(x, len(x)), np.tile(x, len(x))
    arrays = dict(zip("ab"[: ARITY.get(type(operator), 2)], (first, second), strict=False))

    def function(**tensors):
        a, *others = tensors.values()
        return {"y": a.emit(operator, *others).emit(o.Sub(), a)}

    program, results = program_of(function, arrays)
    assert "loop_" in program.source
    call = call_for(operator)
    with np.errstate(all="ignore"):
        expected = call.function(*arrays.values(), **call.keywords) - first
    tolerance = 2e-6 if dtype is np.float32 else 3e-14
    if isinstance(operator, (o.Gelu, o.GeluGradient)):
        tolerance *= 5  # one plus an error function near -1: digits cancel
    np.testing.assert_allclose(results["y"], expected, rtol=tolerance, atol=tolerance / 10)
    assert results["y"].dtype == dtype


def test_conditions_live_inside_a_loop():
    def function(a, b):
        return {"y": np.where((a < b) | ~(a <= 0.5) & (a == a), a * 2.0, b)}

    arrays = {"a": np.linspace(-1, 1, 50), "b": np.linspace(1, -1, 50)}
    program, results = program_of(function, arrays)
    _, expected = program_of(function, arrays, fast=False)
    assert "loop_" in program.source
    np.testing.assert_array_equal(results["y"], expected["y"])


def test_results_that_others_read_leave_the_loop_and_scalars_and_broadcasts_enter():
    def function(a, b, scale):
        hidden = np.tanh(a * 2.0 + b)
        scaled = hidden * scale + hidden
        return {"hidden": hidden, "total": np.sum(scaled), "scaled": scaled / 3.0}

    arrays = {"a": np.ones((20, 30)), "b": np.arange(30.0) / 30, "scale": np.asarray(0.3)}
    _, results = program_of(function, arrays)
    _, expected = program_of(function, arrays, fast=False)
    for name, array in expected.items():
        np.testing.assert_allclose(results[name], array, rtol=1e-14)


def test_runs_of_equal_text_share_one_loop_and_others_break_runs():
    def function(x):
        for _ in range(3):
            x = np.tanh(np.exp(x * x) - x) + np.sum(x)
        return {"y": x}

    fusing._compiled.cache_clear()
    program_of(function, {"x": np.ones((8, 9))})
    assert fusing._compiled.cache_info().misses <= 2


@pytest.mark.parametrize("optimizer", [AdamW(), SGD(momentum=0.9, weight_decay=0.1)], ids=repr)
def test_an_update_is_one_loop(optimizer):
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            lambda w: (w * w).sum(),
            inputs={"w": TensorType("f32", (50, 40))},
            parameters=["w"],
            optimizer=optimizer,
        )
    )
    update = step.parameters[0].update
    rows = fused(update.operations, update.selected_outputs)
    assert [type(row) for row in rows] == [Fused]


@pytest.mark.parametrize(
    ("workload", "tolerance"),
    [
        (mlp(dtype="f64", batch=8, sizes=(12, 24, 24, 5)), 1e-12),
        (cnn(dtype="f32", batch=3, size=12, channels=(3, 4)), 2e-4),
        (gpt(dtype="f64", batch=2, length=6, layers=1, width=8, heads=2, vocabulary=20), 1e-12),
    ],
    ids=["W1", "W2", "W3"],
)
def test_a_fast_session_trains_like_a_plain_one(workload, tolerance):
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            workload.loss,
            inputs=workload.inputs,
            parameters=workload.parameters,
            optimizer=workload.our_optimizer(),
        )
    )
    arrays = workload.arrays()
    start = {row.name: arrays.pop(row.name) for row in step.parameters}
    plain, fast = NumpySession(step, start), NumpySession(step, start, fast=True)
    for _ in range(3):
        expected = plain.step(arrays, learning_rate=0.01)["loss"]
        found = fast.step(arrays, learning_rate=0.01)["loss"]
        np.testing.assert_allclose(found, expected, rtol=tolerance)


def test_without_numba_the_error_names_the_extra(monkeypatch):
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            lambda w: (w * w).sum(), inputs={"w": np.ones(3)}, parameters=["w"], optimizer=SGD()
        )
    )
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(BindingError, match=r"tinychain-compile\[fast\]"):
        NumpySession(step, {"w": np.ones(3)}, fast=True)
