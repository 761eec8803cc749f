"""The stateful contract: slots, shared updates, runtime inputs, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import tinychain_compile
from reference import ReferenceContainer, ReferenceTrainer
from tests.optimizers.running import batch_of, compiled_for_gradients, train
from tests.optimizers.scenarios import RATE, SETTINGS, gradients, start
from tinychain_backends.numpy import NumpyContainer, NumpyEvaluator, NumpySession
from tinychain_compile import (
    LAMB,
    SGD,
    Adafactor,
    Adagrad,
    Adam,
    AdamW,
    CompileOptions,
    CopyOfParameter,
    Fill,
    NAdam,
    RMSprop,
    Slot,
    TensorType,
    merge_step,
    trace_parameter_update,
)
from tinychain_compile.errors import (
    BindingError,
    DeclarationError,
    DisconnectedParameterError,
    UpdateOutputError,
    UpdateSignatureError,
)


class Averaged:
    """Keeps a running mean of the parameter, which starts as the parameter."""

    required_optimizer_inputs = ("learning_rate",)

    def slots(self, parameter):
        return [
            Slot("mean", TensorType("f32", parameter.shape), CopyOfParameter()),
            Slot("count", TensorType("f32", ()), Fill(2.0)),
        ]

    def update(self, *, parameter, gradient, mean, count, learning_rate):
        new = parameter - learning_rate * gradient
        return new, {
            "mean": mean + (new.astype("f4") - mean) / (count + 1.0),
            "count": count + 1.0,
        }


def test_slots_have_name_type_and_initial_value_before_step_1():
    step = compiled_for_gradients(Averaged())
    rows = step.parameter("w").slots
    assert [(row.name, row.key, str(row.type), row.initial) for row in rows] == [
        ("mean", "w/mean", "f32[2, 3]", CopyOfParameter()),
        ("count", "w/count", "f32[]", Fill(2.0)),
    ]
    assert [slot.key for slot in step.slots] == ["w/mean", "w/count", "b/mean", "b/count"]
    session = NumpySession(step, start())
    np.testing.assert_array_equal(session.state.slots["w/mean"], start()["w"].astype(np.float32))
    assert session.state.slots["w/count"] == 2.0


def test_every_slot_is_updated_each_step():
    session = NumpySession(compiled_for_gradients(Averaged()), start())
    row = gradients("ordinary")[0]
    session.step(batch_of(row), learning_rate=0.5)
    new = start()["w"] - 0.5 * row["w"]
    np.testing.assert_allclose(session.parameters["w"], new)
    old = start()["w"].astype(np.float32)
    np.testing.assert_allclose(
        session.state.slots["w/mean"], old + (new.astype("f4") - old) / 3.0, rtol=1e-6
    )
    assert session.state.slots["w/count"] == 3.0


def test_parameters_of_one_type_share_one_traced_and_lowered_update():
    calls = []

    class Counting(Averaged):
        def update(self, **roles):
            calls.append(roles["parameter"].shape)
            return super().update(**roles)

    types = {name: TensorType("f64", (3,)) for name in "abc"} | {"m": TensorType("f64", (3, 3))}
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            lambda a, b, c, m: np.sum((a + b * c) @ m) + np.sum(a * a),
            inputs=types,
            parameters=list(types),
            optimizer=Counting(),
        )
    )
    assert calls == [(3,), (3, 3)]
    assert step.shared_updates == (("a", "b", "c"), ("m",))
    assert step.parameter("a").slots != step.parameter("b").slots  # their keys differ
    assert step.parameter("a").update is step.parameter("c").update


def test_hyperparameters_change_without_another_trace():
    traces = []

    class Counting(Adam):
        def rule(self, parameter, gradient, slots, given):
            traces.append(parameter.shape)
            return super().rule(parameter, gradient, slots, given)

    session = NumpySession(compiled_for_gradients(Counting()), start())
    for count, row in enumerate(gradients("ordinary")[:5]):
        session.step(batch_of(row), learning_rate=0.1 / (count + 1), beta1=0.5 + count / 20)
    assert traces == [(2, 3), (3,)]
    slower = NumpySession(compiled_for_gradients(Adam()), start())
    slower.step(batch_of(gradients("ordinary")[0]), learning_rate=0.1)
    assert np.any(slower.parameters["w"] != session.parameters["w"])


def test_the_count_of_steps_is_neither_frozen_nor_off_by_one():
    session = NumpySession(compiled_for_gradients(Adam(1.0, epsilon=1e-12)), start())
    row = gradients("ordinary")[0]
    session.step(batch_of(row))  # corrected with step 1, Adam's first step has the length of rate
    np.testing.assert_allclose(
        session.parameters["w"], start()["w"] - np.sign(row["w"]), rtol=1e-10
    )
    session.step(batch_of(row))  # the same gradient again: the same length, if step is 2
    np.testing.assert_allclose(
        session.parameters["w"], start()["w"] - 2.0 * np.sign(row["w"]), rtol=1e-9
    )
    assert session.state.steps == 2
    with pytest.raises(BindingError, match=r"step.*the session has its own"):
        session.step(batch_of(row), step=7)


def test_what_is_frozen_is_in_the_program_and_gives_the_same_steps():
    frozen = AdamW(RATE, frozen=("beta1", "beta2", "epsilon", "weight_decay"))
    step = compiled_for_gradients(frozen)
    assert [row.name for row in step.runtime_inputs] == ["step", "learning_rate"]
    for ours, theirs in zip(train(frozen, "rare"), train(AdamW(RATE), "rare"), strict=True):
        np.testing.assert_allclose(ours["w"], theirs["w"], rtol=1e-13)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
def test_arithmetic_and_state_are_f32_for_short_parameters_and_f32_stays(dtype):
    step = compiled_for_gradients(NAdam(), dtype=dtype)
    assert {str(slot.type.dtype) for slot in step.slots} == {"float32"}
    update = step.parameter("w").source_update_graph
    dtypes = {str(op.type.dtype) for op in update.operations}
    assert "float64" not in dtypes
    assert update.output("parameter").type == TensorType(dtype, (2, 3))
    scalars = [v.type for name, v in update.inputs if name in step.parameter("w").runtime_inputs]
    assert set(scalars) == {TensorType("f32", ())}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_twelve_operators_train_with_every_optimizer(name):
    kind, arguments = SETTINGS[name].ours
    optimizer = getattr(tinychain_compile, kind)(RATE, **arguments)
    trainer = ReferenceTrainer(compiled_for_gradients(optimizer, ReferenceContainer), start())
    for ours, row in zip(train(optimizer, "ordinary"), gradients("ordinary")[:12], strict=False):
        trainer.step(batch_of(row))
        for parameter, array in ours.items():
            np.testing.assert_allclose(trainer.parameters[parameter], array, rtol=1e-10)


@pytest.mark.parametrize(
    ("parameter", "g", "moved"),
    [(0.0, 2.0, -0.5), (3.0, 0.0, 0.0), (3.0, 2.0, -1.5)],
    ids=["no length", "no direction", "both"],
)
def test_lamb_moves_by_the_parameters_length_where_there_is_one(parameter, g, moved):
    shape = {"w": np.array([parameter])}
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            lambda w: np.sum(w * g),
            inputs=shape,
            parameters=["w"],
            optimizer=LAMB(0.5, epsilon=1e-12),
        )
    )
    session = NumpySession(step, shape)
    session.step({})
    np.testing.assert_allclose(session.parameters["w"], parameter + moved, rtol=1e-9)


@pytest.mark.parametrize("optimizer", [Adam(RATE), NAdam(RATE), Adafactor(RATE), SGD(RATE)])
def test_the_merged_step_does_what_the_session_does(optimizer):
    step = compiled_for_gradients(optimizer)
    session = NumpySession(step, start())
    merged = merge_step(step)
    for count, row in enumerate(gradients("ordinary")[:4], start=1):
        given = {**batch_of(row), **session.parameters, **session.state.slots}
        scalars = {r.name: r.default for r in step.runtime_inputs} | {"step": count}
        given |= {
            name: np.asarray(scalars[name], value.type.dtype)
            for name, value in merged.inputs
            if name in scalars
        }
        outputs = NumpyEvaluator().evaluate(merged, given)
        session.step(batch_of(row))
        for key, array in session.state.arrays.items():
            np.testing.assert_allclose(outputs[key], array, rtol=1e-12)


def test_an_input_called_like_a_runtime_input_is_no_clash():
    def loss(w, step, learning_rate):
        return np.sum(w * w) * step + learning_rate

    scalar = TensorType("f64", ())
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            loss,
            inputs={"w": TensorType("f64", (2,)), "step": scalar, "learning_rate": scalar},
            parameters=["w"],
            optimizer=Adam(),
        )
    )
    session = NumpySession(step, {"w": np.ones(2)})
    session.step({"step": np.array(3.0), "learning_rate": np.array(0.0)}, learning_rate=0.5)
    np.testing.assert_allclose(session.parameters["w"], [0.5, 0.5])
    names = [name for name, _ in merge_step(step).inputs]
    assert "$step" in names
    assert "step" in names


def test_an_update_is_traced_by_itself_with_its_slots():
    w = TensorType("f64", (4,))
    scalar = TensorType("f64", ())
    optimizer = SGD(momentum=0.9)
    traced = trace_parameter_update(
        optimizer.update,
        parameter=w,
        gradient=w,
        optimizer_inputs=dict.fromkeys(optimizer.required_optimizer_inputs, scalar),
        slots=optimizer.slots(w),
    )
    assert [name for name, _ in traced.graph.outputs] == ["parameter", "m"]


def test_a_tied_parameter_is_updated_once():
    types = {"w": TensorType("f64", (2,))}
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            lambda w: np.sum(w * 2.0) + np.sum(w * 3.0),
            inputs=types,
            parameters=["w"],
            optimizer=SGD(1.0, momentum=0.5),
        )
    )
    session = NumpySession(step, {"w": np.zeros(2)})
    session.step({})
    np.testing.assert_array_equal(session.parameters["w"], [-5.0, -5.0])
    np.testing.assert_array_equal(session.state.slots["w/m"], [5.0, 5.0])


def test_an_unused_parameter_is_an_error_or_decays_as_with_a_gradient_of_zero():
    types = {"w": np.ones(2), "unused": np.ones(2)}

    def compile_it(**options):
        return (
            NumpyContainer()
            .compiler()
            .compile_training_step(
                lambda w, unused: np.sum(w),
                inputs=types,
                parameters=list(types),
                optimizer=AdamW(0.5, weight_decay=0.5),
                options=CompileOptions(**options),
            )
        )

    with pytest.raises(DisconnectedParameterError, match="unused"):
        compile_it()
    session = NumpySession(compile_it(on_disconnected="zero"), types)
    session.step({})
    np.testing.assert_array_equal(session.parameters["unused"], [0.75, 0.75])


# Bad input.


class Named:
    """An optimizer whose slots are given."""

    required_optimizer_inputs = ("learning_rate",)

    def __init__(self, *slots, result=None):
        self._slots = slots
        self._result = result

    def slots(self, parameter):
        return self._slots

    def update(self, *, parameter, gradient, learning_rate, **state):
        if self._result is not None:
            return self._result(parameter, state)
        return parameter, state


F3 = TensorType("f64", (3,))
M = Slot("m", F3)


@pytest.mark.parametrize(
    ("optimizer", "error", "parts"),
    [
        (Named(Slot("not a name", F3)), DeclarationError, ["'not a name'", "identifier"]),
        (Named(Slot("a/b", F3)), DeclarationError, ["'a/b'"]),
        (Named(M, M), DeclarationError, ["'m'", "no other slot"]),
        (Named(Slot("gradient", F3)), DeclarationError, ["'gradient'"]),
        (Named(Slot("learning_rate", F3)), DeclarationError, ["'learning_rate'"]),
        (Named(Slot("accumulator", F3)), DeclarationError, ["'accumulator'"]),
        (Named("m"), DeclarationError, ["Slot(name, type, initial)", "'m'"]),
        (
            Named(Slot("m", TensorType("f64", (9,)), CopyOfParameter())),
            DeclarationError,
            ["'m'", "[3]", "f64[9]"],
        ),
        (Named(M, result=lambda p, s: p), UpdateOutputError, ["m", "mapping"]),
        (Named(M, result=lambda p, s: (p, {})), UpdateOutputError, ["m", "none"]),
        (Named(M, result=lambda p, s: (p, s | {"z": p})), UpdateOutputError, ["m", "z"]),
        (
            Named(M, result=lambda p, s: (p, {"m": s["m"].sum()})),
            UpdateOutputError,
            ["slot 'm'", "f64[3]", "f64[]", "test_contract.py"],
        ),
        (
            Named(M, result=lambda p, s: (p, {"m": s["m"].astype("f4")})),
            UpdateOutputError,
            ["slot 'm'", "f32[3]"],
        ),
        (
            Named(M, result=lambda p, s: (p.astype("f4"), s)),
            UpdateOutputError,
            ["the new parameter", "f64[3]", "f32[3]"],
        ),
        (Named(M, result=lambda p, s: (p, {"m": 1.0})), UpdateOutputError, ["slot 'm'", "1.0"]),
    ],
)
def test_what_breaks_the_contract_is_refused(optimizer, error, parts):
    with pytest.raises(error) as raised:
        compile_one(optimizer)
    for part in parts:
        assert part in str(raised.value)


def compile_one(optimizer):
    return (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            lambda w: np.sum(w * w), inputs={"w": F3}, parameters=["w"], optimizer=optimizer
        )
    )


def test_an_update_that_cannot_take_its_slots_is_refused():
    class Forgetful(Averaged):
        def update(self, *, parameter, gradient, learning_rate):
            return parameter

    with pytest.raises(UpdateSignatureError, match="mean"):
        compile_one(Forgetful())


def test_runtime_inputs_must_be_what_they_are_called():
    class Wrong(Averaged):
        runtime_inputs = ("learning_rate",)

    with pytest.raises(DeclarationError, match=r"Wrong.*RuntimeInput"):
        compile_one(Wrong())


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda: Adam(-0.1), ["learning_rate", "from 0", "-0.1"]),
        (lambda: Adam(float("nan")), ["learning_rate", "nan"]),
        (lambda: Adam("0.1"), ["learning_rate", "'0.1'"]),
        (lambda: Adam(beta1=1.0), ["beta1", "below 1", "1.0"]),
        (lambda: Adam(beta2=-0.1), ["beta2", "-0.1"]),
        (lambda: Adam(epsilon=0.0, frozen=("epsilon",)), ["epsilon", "above 0", "0.0"]),
        (lambda: SGD(momentum=1.5), ["momentum", "1.5"]),
        (lambda: SGD(nesterov=True), ["momentum"]),
        (lambda: SGD(momentum=0.9, nesterov=True, dampening=0.1), ["nesterov or dampening"]),
        (lambda: Adagrad(initial_total=-1.0), ["initial_total", "-1.0"]),
        (lambda: RMSprop(weight_decay=float("inf")), ["weight_decay", "inf"]),
        (lambda: Adafactor(clip=0.0), ["clip", "above 0"]),
        (lambda: Adam(frozen=("learning_rate",)), ["'learning_rate'", "without a value"]),
        (lambda: Adam(frozen=("beta3",)), ["'beta3'", "beta1", "no such"]),
        (lambda: Adam(frozen=("step",)), ["'step'"]),
    ],
)
def test_hyperparameters_out_of_range_are_refused_by_the_constructor(make, parts):
    with pytest.raises(DeclarationError) as raised:
        make()
    for part in parts:
        assert part in str(raised.value)


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ({"learning_rate": -0.1}, ["learning_rate", "from 0", "-0.1"]),
        ({"learning_rate": 0.1, "beta1": 1.0}, ["beta1", "below 1"]),
        ({"learning_rate": 0.1, "epsilon": 0.0}, ["epsilon", "above 0"]),
        ({"learning_rate": 0.1, "epsilon": 1e-60}, ["epsilon", "0.0 in float32"]),
        ({"learning_rate": 0.1, "beta2": 1.0 - 1e-12}, ["beta2", "1.0 in float32"]),
        ({"learning_rate": 1e300}, ["learning_rate", "inf in float32"]),
        ({"learning_rate": np.ones(2)}, ["learning_rate"]),
        ({"learning_rate": "0.1"}, ["learning_rate", "'0.1'"]),
        ({"learning_rate": lambda count: -1.0}, ["learning_rate", "-1.0"]),
        ({}, ["no 'learning_rate'"]),
        ({"learning_rate": 0.1, "momentum": 0.9}, ["extra 'momentum'", "beta1"]),
    ],
)
def test_the_session_refuses_them_before_it_runs_and_changes_nothing(given, parts):
    step = compiled_for_gradients(Adam(), dtype="f32")
    begin = {name: array.astype(np.float32) for name, array in start().items()}
    session = NumpySession(step, begin)
    row = {name: g.astype(np.float32) for name, g in gradients("ordinary")[0].items()}
    before = session.state
    with pytest.raises(BindingError) as raised:
        session.step(batch_of(row), **given)
    for part in parts:
        assert part in str(raised.value)
    assert session.state is before


def test_an_optimizer_prints_its_settings():
    assert repr(Adam(0.1, frozen=("beta1",))) == (
        "Adam(learning_rate=0.1, beta2=0.999, epsilon=1e-08, beta1=0.9)"
    )
