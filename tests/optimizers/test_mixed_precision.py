"""Short parameters: f32 values and state behind them, scaled losses, skipped steps, the warning."""

from __future__ import annotations

import warnings

import ml_dtypes
import numpy as np
import pytest

from tinychain_backends.numpy import NumpyContainer, NumpyEvaluator, NumpySession
from tinychain_compile import (
    SGD,
    Adam,
    AdamW,
    ClipByGlobalNorm,
    CompileOptions,
    MixedPrecision,
    PrecisionWarning,
    TensorType,
    merge_step,
)
from tinychain_compile.errors import BindingError, DeclarationError
from tinychain_compile.schedules import DynamicLossScale

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}
START = np.array([0.5, -1.0, 2.0])


def inner_product(w, g):
    return np.sum(w.astype(np.float32) * g)


def session_of(optimizer, dtype="bf16", options=None, **others):
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            inner_product,
            inputs={"w": TensorType(dtype, (3,)), "g": TensorType("f32", (3,))},
            parameters=["w"],
            optimizer=optimizer,
            options=options,
        )
    )
    start = START.astype(DTYPES.get(dtype, np.float32))
    return NumpySession(step, {"w": start}, **others)


def gradient(*values):
    return {"g": np.array(values, np.float32)}


ONE = gradient(1.0, 1.0, 1.0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_steps_too_small_for_the_parameter_add_up_in_f32(dtype):
    session = session_of(MixedPrecision(Adam(1e-4)), dtype)
    longer = session_of(Adam(1e-4), "f32")
    for _ in range(100):
        session.step(ONE)
        longer.step(ONE)
    np.testing.assert_array_equal(session.state.slots["w/master"], longer.parameters["w"])
    np.testing.assert_array_equal(
        session.parameters["w"], longer.parameters["w"].astype(DTYPES[dtype])
    )
    assert np.all(session.parameters["w"] != START.astype(DTYPES[dtype]))
    assert {array.dtype for array in session.state.slots.values()} == {np.dtype(np.float32)}


def test_without_f32_values_they_are_lost_and_a_warning_says_so_once():
    session = session_of(Adam(1e-3), "bf16")
    with pytest.warns(PrecisionWarning, match=r"'w'.*Adam.*bfloat16.*MixedPrecision") as caught:
        session.step(ONE)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(99):
            session.step(ONE)
    np.testing.assert_array_equal(session.parameters["w"][1:], START.astype("f4")[1:])


def test_a_rate_of_zero_is_no_loss_and_does_not_use_up_the_warning():
    session = session_of(Adam(), "bf16")
    session.step(ONE, learning_rate=0.0)
    with pytest.warns(PrecisionWarning):
        session.step(ONE, learning_rate=1e-3)


@pytest.mark.parametrize(
    ("optimizer", "dtype", "batch"),
    [
        (SGD(0.5), "bf16", ONE),
        (SGD(0.5), "bf16", gradient(0.0, 0.0, 0.0)),
        (SGD(1e-9), "f32", ONE),
        (MixedPrecision(SGD(1e-9)), "bf16", ONE),
    ],
)
def test_there_is_no_warning_where_nothing_is_lost(optimizer, dtype, batch):
    session_of(optimizer, dtype).step(batch)  # pytest turns warnings into errors


@pytest.mark.parametrize("inner", [SGD(0.1), SGD(0.1, momentum=0.9), AdamW(0.1)])
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
def test_the_scale_changes_nothing_but_range(inner, dtype):
    plain = session_of(MixedPrecision(inner), dtype)
    scaled = session_of(MixedPrecision(inner, loss_scale=256.0), dtype)
    for values in ((1.0, -0.5, 0.25), (0.5, 0.5, 2.0)):
        plain.step(gradient(*values))
        scaled.step(gradient(*values))
    np.testing.assert_array_equal(plain.parameters["w"], scaled.parameters["w"])
    for key, array in plain.state.slots.items():
        np.testing.assert_allclose(scaled.state.slots[key], array, rtol=1e-6)


def test_a_scaled_loss_saves_gradients_that_f16_would_lose():
    def tiny(w, g):
        return np.sum((w * g.astype("f2")).astype(np.float32)) * 1e-9

    types = {"w": TensorType("f16", (3,)), "g": TensorType("f32", (3,))}
    moved = []
    for scale in (1.0, 2.0**14):
        step = (
            NumpyContainer()
            .compiler()
            .compile_training_step(
                tiny,
                inputs=types,
                parameters=["w"],
                optimizer=MixedPrecision(SGD(1e9), loss_scale=scale),
            )
        )
        session = NumpySession(step, {"w": START.astype("f2")})
        session.step(ONE)
        moved.append(session.state.slots["w/master"] - START.astype("f4"))
    np.testing.assert_array_equal(moved[0], np.zeros(3))
    np.testing.assert_allclose(moved[1], -np.ones(3), rtol=0.05)


def test_a_transform_sees_true_units_in_f32():
    options = CompileOptions(gradient_transforms=[ClipByGlobalNorm(6.5)])
    session = session_of(MixedPrecision(SGD(1.0), loss_scale=64.0), "f16", options)
    outputs = session.step(gradient(3.0, 4.0, 12.0))
    assert outputs["grad_norm"].dtype == np.float32
    np.testing.assert_allclose([outputs["grad_norm"], outputs["clip_scale"]], [13.0, 0.5])
    np.testing.assert_allclose(
        session.state.slots["w/master"], START - np.array([1.5, 2.0, 6.0]), rtol=1e-6
    )


def test_a_dynamic_scale_skips_steps_that_are_not_finite_and_grows_again():
    policy = DynamicLossScale(initial=2.0**12, interval=2)
    session = session_of(MixedPrecision(Adam(0.1)), "f16", loss_scale=policy)
    seen = []
    for values in ((1.0, 1.0, 1.0), (1e3, 0.0, 0.0), (1.0, 1.0, 1.0), (1.0, 1.0, 1.0)):
        before = session.state
        outputs = session.step(gradient(*values))
        state = session.state
        seen.append((bool(outputs["gradients_finite"]), state.loss_scale.scale, state.steps))
        if not outputs["gradients_finite"]:
            np.testing.assert_array_equal(state.parameters["w"], before.parameters["w"])
            np.testing.assert_array_equal(state.slots["w/m"], before.slots["w/m"])
    assert seen == [
        (True, 2.0**12, 1),
        (False, 2.0**11, 1),
        (True, 2.0**11, 2),
        (True, 2.0**12, 3),
    ]


def test_micro_batches_may_have_different_scales_and_an_overflow_drops_them():
    options = CompileOptions(accumulate_gradients=True)
    policy = DynamicLossScale(initial=2.0**12)
    session = session_of(MixedPrecision(SGD(1.0)), "f16", options, loss_scale=policy)
    session.accumulate(gradient(1e3, 0.0, 0.0))
    outputs = session.step(ONE)
    assert not outputs["gradients_finite"]
    assert session.state.loss_scale.scale == 2.0**11
    assert not session.state.slots["w/accumulator"].any()
    session.accumulate(gradient(1.0, 3.0, 0.0))
    session.step(gradient(3.0, 1.0, 2.0))
    np.testing.assert_allclose(session.state.slots["w/master"], START - np.array([2.0, 2.0, 1.0]))


def test_the_merged_step_reads_the_scale_as_its_seed():
    session = session_of(MixedPrecision(SGD(0.5), loss_scale=8.0), "f16")
    merged = merge_step(session._record)
    given = {**gradient(1.0, 2.0, 1e4), **session.state.arrays}
    scalars = {"loss_scale": np.float32(8.0), "learning_rate": np.float32(0.5)}
    outputs = NumpyEvaluator().evaluate(merged, {**given, **scalars})
    assert not outputs["gradients_finite"]  # 8e4 is beyond f16
    given |= gradient(1.0, 2.0, 3.0)
    outputs = NumpyEvaluator().evaluate(merged, {**given, **scalars})
    assert outputs["gradients_finite"]
    np.testing.assert_array_equal(outputs["w/master"], START - np.array([0.5, 1.0, 1.5]))


def test_gradients_are_shown_without_the_scale():
    session = session_of(MixedPrecision(SGD(0.1), loss_scale=2.0**12), "f16")
    _, gradients = session.value_and_gradients(gradient(1e3, 1.0, 2.0))
    np.testing.assert_array_equal(gradients["w"], np.array([1e3, 1.0, 2.0], np.float16))


def test_a_scale_that_the_losss_dtype_cannot_hold_is_refused():
    def short(w, g):
        return np.sum(w * g.astype("f2"))

    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            short,
            inputs={"w": TensorType("f16", (3,)), "g": TensorType("f32", (3,))},
            parameters=["w"],
            optimizer=MixedPrecision(SGD(0.1), loss_scale=2.0**16),
        )
    )
    with pytest.raises(BindingError, match=r"loss_scale.*inf in float16"):
        NumpySession(step, {"w": START.astype("f2")}).step(ONE)


def test_a_policy_without_a_scale_to_change_is_refused():
    with pytest.raises(BindingError, match="MixedPrecision"):
        session_of(SGD(0.1), loss_scale=DynamicLossScale())
    with pytest.raises(BindingError, match=r"loss_scale.*the session has its own"):
        session_of(MixedPrecision(SGD(0.1)), loss_scale=DynamicLossScale()).step(
            ONE, loss_scale=2.0
        )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: MixedPrecision(MixedPrecision(SGD())),
        lambda: MixedPrecision(3),
        lambda: MixedPrecision(SGD(), loss_scale=0.0),
        lambda: DynamicLossScale(growth=1.0),
        lambda: DynamicLossScale(backoff=1.0),
        lambda: DynamicLossScale(interval=0),
        lambda: DynamicLossScale(initial=0.5),
    ],
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(DeclarationError):
        wrong()


def test_any_optimizer_can_be_wrapped():
    class Plain:
        required_optimizer_inputs = ("learning_rate",)

        def update(self, *, parameter, gradient, learning_rate):
            return parameter - learning_rate * gradient

    session = session_of(MixedPrecision(Plain()), "bf16")
    session.step(ONE, learning_rate=1e-6)
    np.testing.assert_allclose(session.state.slots["w/master"], START - 1e-6, rtol=1e-7)
    assert repr(MixedPrecision(SGD(0.1))) == "MixedPrecision(SGD(learning_rate=0.1))"
