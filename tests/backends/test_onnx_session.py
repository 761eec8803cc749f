"""A session on ONNX Runtime and one on NumPy go the same way, whatever a step is made of."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_backends.onnx import OnnxContainer, OnnxFunction, OnnxSession
from tinychain_backends.openvino import OpenVinoContainer, OpenVinoFunction, OpenVinoSession
from tinychain_compile import (
    FROZEN,
    LAMB,
    SGD,
    Adadelta,
    Adafactor,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    AMSGrad,
    ClipByGlobalNorm,
    CompileOptions,
    Lion,
    MixedPrecision,
    NAdam,
    RMSprop,
    TensorType,
)
from tinychain_compile.errors import BackendError, BindingError
from tinychain_compile.functions import batch_norm, dropout, running_statistics
from tinychain_compile.functions import softmax_cross_entropy as cross_entropy
from tinychain_compile.schedules import DynamicLossScale, cosine

F32 = np.float32
RNG = np.random.default_rng(0)


def normal(*shape, scale=1.0):
    return (RNG.normal(size=shape) * scale).astype(F32)


START = {"w1": normal(6, 9, scale=0.5), "b1": normal(9), "w2": normal(9, 4, scale=0.5)}
TYPES = {
    "x": TensorType("f32", ("batch", 6)),
    "labels": TensorType("i32", ("batch",)),
    **{name: TensorType(a.dtype, a.shape) for name, a in START.items()},
}
RUNTIMES = {
    "onnxruntime": (OnnxContainer, OnnxSession),
    "openvino": (OpenVinoContainer, OpenVinoSession),
}
each_runtime = pytest.mark.parametrize(
    "runtime", ["onnxruntime", pytest.param("openvino", marks=pytest.mark.slow)]
)


def classified(x, labels, w1, b1, w2):
    return np.mean(cross_entropy(np.tanh(x @ w1 + b1) @ w2, labels))


def batch_of(size, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=size, dtype=np.int32)
    return {"x": rng.normal(size=(size, 6)).astype(F32), "labels": labels}


def sessions(runtime, loss, types, start, optimizer, *, options=None, **session):
    made = []
    for container, kind in ((NumpyContainer, NumpySession), RUNTIMES[runtime]):
        step = (
            container()
            .compiler()
            .compile_training_step(
                loss, inputs=types, parameters=list(start), optimizer=optimizer, options=options
            )
        )
        made.append(kind(step, start, **session))
    return made


def assert_same_state(left, right, tolerance=2e-5):
    assert left.state.arrays.keys() == right.state.arrays.keys()
    assert (left.state.steps, left.state.micro_batches, left.state.loss_scale) == (
        right.state.steps,
        right.state.micro_batches,
        right.state.loss_scale,
    )
    for key, array in left.state.arrays.items():
        other = right.state.arrays[key]
        assert other.dtype == array.dtype
        assert not other.flags.writeable
        scale = max(1.0, float(np.max(np.abs(array.astype(np.float64)), initial=0)))
        np.testing.assert_allclose(other, array, rtol=tolerance, atol=tolerance * scale)


@each_runtime
@pytest.mark.parametrize(
    "optimizer",
    [
        SGD(),
        SGD(momentum=0.9, nesterov=True),
        SGD(momentum=0.9, weight_decay=0.1),
        Adam(),
        AdamW(),
        AMSGrad(),
        NAdam(),
        Adamax(),
        Adagrad(),
        Adadelta(),
        RMSprop(),
        Lion(),
        LAMB(),
        Adafactor(),
        {"w*": AdamW(weight_decay=0.1), "b1": SGD()},
    ],
    ids=str,
)
def test_every_optimizer_goes_the_same_way_with_a_scheduled_rate(runtime, optimizer):
    ours, other = sessions(
        runtime,
        classified,
        TYPES,
        START,
        optimizer,
        optimizer_inputs={"learning_rate": cosine(0.01, 8)},
    )
    for number in range(6):
        batch = batch_of(5 + number % 2, seed=number)
        np.testing.assert_allclose(
            other.step(batch)["loss"], ours.step(batch)["loss"], rtol=2e-5, atol=1e-6
        )
    assert_same_state(ours, other)


def normalized(x, labels, w1, scale, bias, w2, running):
    hidden = x @ w1
    mean, variance = running_statistics(hidden, running["mean"], running["variance"])
    scores = np.maximum(batch_norm(hidden, scale, bias), 0.0) @ w2
    outputs = {"running": {"mean": mean, "variance": variance}, "best": np.max(scores, 1)}
    return np.mean(cross_entropy(scores, labels)), outputs


@each_runtime
def test_buffers_and_auxiliary_outputs(runtime):
    start = {"w1": START["w1"], "scale": np.ones(9, F32), "bias": np.zeros(9, F32)}
    start["w2"] = START["w2"]
    running = {"running": {"mean": np.zeros(9, F32), "variance": np.ones(9, F32)}}
    types = {"x": TYPES["x"], "labels": TYPES["labels"], **start, **running}
    ours, other = sessions(runtime, normalized, types, start, SGD(), buffers=running)
    for number in range(3):
        batch = batch_of(7, seed=number)
        expected, found = (s.step(batch, learning_rate=0.1) for s in (ours, other))
        assert found.keys() == expected.keys() == {"loss", "best"}
        np.testing.assert_allclose(found["best"], expected["best"], rtol=1e-4)
    assert_same_state(ours, other)
    np.testing.assert_allclose(other.buffers["running.mean"], ours.buffers["running.mean"], 1e-5)
    evaluated = [s.evaluate(batch_of(7))["loss"] for s in (ours, other)]
    np.testing.assert_allclose(*evaluated, rtol=1e-5)


@each_runtime
def test_transforms_publish_and_frozen_parameters_stay(runtime):
    options = CompileOptions(gradient_transforms=[ClipByGlobalNorm(0.1)])
    ours, other = sessions(
        runtime, classified, TYPES, START, {"b1": FROZEN, "w*": Adam()}, options=options
    )
    for number in range(3):
        batch = batch_of(5, seed=number)
        expected, found = (s.step(batch, learning_rate=0.01) for s in (ours, other))
        assert found.keys() == expected.keys()
        for name in found:
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-5)
    assert_same_state(ours, other)
    np.testing.assert_array_equal(other.parameters["b1"], START["b1"])


@each_runtime
def test_gradients_accumulate(runtime):
    options = CompileOptions(accumulate_gradients=True)
    ours, other = sessions(runtime, classified, TYPES, START, Adam(), options=options)
    for number in range(2):
        for session in (ours, other):
            session.accumulate(batch_of(4, seed=3 * number))
            session.accumulate(batch_of(6, seed=3 * number + 1))
        assert_same_state(ours, other)
        for session in (ours, other):
            session.step(batch_of(5, seed=3 * number + 2), learning_rate=0.01)
        assert_same_state(ours, other)


def squared(x, y, w):
    return np.mean(((x @ w).astype("f32") - y) ** 2)


def test_a_dynamic_loss_scale_drops_a_step_that_overflows():
    start = {"w": normal(3, 1).astype(np.float16)}
    types = {
        "x": TensorType("f16", (4, 3)),
        "y": TensorType("f32", (4, 1)),
        "w": TensorType("f16", (3, 1)),
    }
    scale = DynamicLossScale(initial=2.0**15, interval=3)
    ours, other = sessions(
        "onnxruntime", squared, types, start, MixedPrecision(SGD()), loss_scale=scale
    )
    finite = []
    for number in range(6):
        factor = 200.0 if number == 2 else 1.0
        batch = {"x": (normal(4, 3) * factor).astype(np.float16), "y": normal(4, 1)}
        expected, found = (s.step(batch, learning_rate=0.01) for s in (ours, other))
        assert bool(found["gradients_finite"]) == bool(expected["gradients_finite"])
        finite.append(bool(found["gradients_finite"]))
        assert_same_state(ours, other, tolerance=2e-3)
    assert not all(finite)
    assert any(finite)


def dropped(x, labels, key, w1, b1, w2):
    return np.mean(cross_entropy(dropout(x @ w1 + b1, key, 0.5) @ w2, labels))


def test_random_bits_are_the_same_bits():
    types = {**TYPES, "key": TensorType("u32", (2,))}
    ours, other = sessions("onnxruntime", dropped, types, START, SGD())
    for number in range(3):
        batch = {**batch_of(5, number), "key": np.array([7, number], np.uint32)}
        losses = [s.step(batch, learning_rate=0.1)["loss"] for s in (ours, other)]
        np.testing.assert_allclose(*losses, rtol=1e-5)


@each_runtime
def test_a_run_moves_to_another_backend_in_the_middle_and_back(runtime, tmp_path):
    ours, other = sessions(runtime, classified, TYPES, START, AdamW())
    batches = [batch_of(5, seed) for seed in range(9)]
    alone, _ = sessions(runtime, classified, TYPES, START, AdamW())
    expected = [float(alone.step(b, learning_rate=0.01)["loss"]) for b in batches]
    found = [float(ours.step(b, learning_rate=0.01)["loss"]) for b in batches[:3]]
    ours.save(tmp_path / "one.safetensors")
    other.restore(tmp_path / "one.safetensors")
    found += [float(other.step(b, learning_rate=0.01)["loss"]) for b in batches[3:6]]
    other.save(tmp_path / "two.safetensors")
    ours.restore(tmp_path / "two.safetensors")
    found += [float(ours.step(b, learning_rate=0.01)["loss"]) for b in batches[6:]]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert_same_state(alone, ours)


@each_runtime
def test_a_gradient_is_what_numpy_gives(runtime):
    ours, other = sessions(runtime, classified, TYPES, START, Adam())
    for session in (ours, other):
        session.step(batch_of(5), learning_rate=0.01)
    (loss, gradients), (found, others) = (s.value_and_gradients(batch_of(3)) for s in (ours, other))
    np.testing.assert_allclose(found, loss, rtol=1e-5)
    for name, gradient in gradients.items():
        np.testing.assert_allclose(others[name], gradient, rtol=1e-4, atol=1e-6)
    assert_same_state(ours, other)


def test_a_state_that_was_read_is_not_changed_by_later_steps():
    _, session = sessions("onnxruntime", classified, TYPES, START, Adam())
    session.step(batch_of(5), learning_rate=0.1)
    held = session.parameters["w1"]
    copy = held.copy()
    for number in range(4):
        session.step(batch_of(5, number), learning_rate=0.1)
    np.testing.assert_array_equal(held, copy)
    assert not np.array_equal(session.parameters["w1"], copy)


@each_runtime
@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda b: {"x": b["x"]}, "no 'labels'"),
        (lambda b: {**b, "more": b["x"]}, "an extra 'more'"),
        (lambda b: {**b, "x": b["x"].astype(np.float64)}, "float64"),
        (lambda b: {**b, "x": b["x"][:, :5]}, "[5, 5]"),
        (lambda b: {**b, "labels": b["labels"][:4]}, "[4]"),
    ],
)
def test_a_wrong_batch_is_refused_before_running_and_changes_nothing(runtime, change, part):
    _, session = sessions(runtime, classified, TYPES, START, Adam())
    session.step(batch_of(5), learning_rate=0.1)
    before = session.state
    with pytest.raises(BindingError) as caught:
        session.step(change(batch_of(5)), learning_rate=0.1)
    assert part in str(caught.value)
    with pytest.raises(BindingError):
        session.step(batch_of(5), learning_rate=-1.0)
    for key, array in session.state.arrays.items():
        np.testing.assert_array_equal(array, before.arrays[key])
    assert session.state.steps == 1


def test_a_state_file_of_another_step_is_refused_and_changes_nothing(tmp_path):
    _, session = sessions("onnxruntime", classified, TYPES, START, Adam())
    _, other = sessions("onnxruntime", classified, TYPES, START, SGD())
    session.step(batch_of(5), learning_rate=0.1)
    other.save(tmp_path / "other.safetensors")
    before = session.state
    with pytest.raises(BindingError, match="no 'w1/m'"):
        session.restore(tmp_path / "other.safetensors")
    assert session.state.arrays.keys() == before.arrays.keys()
    np.testing.assert_array_equal(session.parameters["w1"], before.parameters["w1"])


@each_runtime
def test_what_the_runtime_says_while_running_comes_with_the_operation_and_its_line(runtime):
    _, session = sessions(runtime, classified, TYPES, START, SGD())
    wrong = batch_of(5)
    wrong["labels"] = wrong["labels"] + 99
    with pytest.raises(BackendError) as caught:
        session.step(wrong, learning_rate=0.1)
    assert re.search("softmax_cross_entropy(_gradient)?/", str(caught.value))
    assert "test_onnx_session.py" in str(caught.value)
    assert session.state.steps == 0


@pytest.mark.parametrize(
    ("container", "runner"),
    [(OnnxContainer, OnnxFunction), (OpenVinoContainer, OpenVinoFunction)],
)
def test_a_function_runs_with_named_outputs(container, runner):
    def scores(x, w1):
        return {"scores": x @ w1, "twice": (x @ w1) * 2.0, "same": x}

    types = {"x": TYPES["x"], "w1": TYPES["w1"]}
    function = runner(container().compiler().compile_function(scores, inputs=types))
    x = normal(3, 6)
    outputs = function({"x": x, "w1": START["w1"]})
    np.testing.assert_allclose(outputs["scores"], x @ START["w1"], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(outputs["twice"], 2 * outputs["scores"], rtol=1e-6)
    np.testing.assert_array_equal(outputs["same"], x)


def test_bfloat16_is_refused_with_the_reason_and_the_lines():
    types = {name: TensorType("bf16", t.shape) for name, t in TYPES.items() if name != "labels"}
    with pytest.raises(Exception, match="was not measured to compute") as caught:
        OnnxContainer().compiler().compile_training_step(
            lambda x, w1, b1: np.mean(np.tanh(x @ w1 + b1)),
            inputs={n: types[n] for n in ("x", "w1", "b1")},
            parameters=["w1"],
            optimizer=SGD(),
        )
    assert "np.tanh(x @ w1 + b1)" in str(caught.value)


def test_steps_copy_no_state_until_it_is_read(monkeypatch):
    _, session = sessions("onnxruntime", classified, TYPES, START, Adam())
    session.step(batch_of(5), learning_rate=0.1)
    merged = session._merged
    copies = []
    monkeypatch.setattr(merged, "arrays", lambda real=merged.arrays: copies.append(1) or real())
    for number in range(3):
        session.step(batch_of(5, number), learning_rate=0.1)
    assert not copies
    assert session.state.steps == 4
    assert session.parameters["w1"].shape == (6, 9)
    assert copies == [1]


def test_a_loss_of_parameters_alone_needs_no_batch():
    start = {"w": normal(3)}
    ours, other = sessions("onnxruntime", lambda w: np.sum(w * w), start, start, Adam())
    for _ in range(3):
        losses = [s.step({}, learning_rate=0.1)["loss"] for s in (ours, other)]
        np.testing.assert_allclose(*losses, rtol=1e-6)
    assert_same_state(ours, other)
