"""Nested inputs, auxiliary outputs and buffers, from declaration to session."""

from __future__ import annotations

import numpy as np
import pytest

from reference import ReferenceContainer
from tinychain_backends.numpy import NumpyContainer, NumpyFunction, NumpySession
from tinychain_compile import SGD, BindingError, TensorType, flatten, unflatten
from tinychain_compile.errors import DeclarationError, LossOutputError

RNG = np.random.default_rng(0)
MODEL = {
    "blocks": [{"w": RNG.normal(size=(3, 3)), "b": RNG.normal(size=3)} for _ in range(2)],
    "head": (RNG.normal(size=(3, 2)), RNG.normal(size=2)),
}
BATCH = {"x": RNG.normal(size=(4, 3)), "y": RNG.normal(size=(4, 2))}


def loss(model, x, y):
    for block in model["blocks"]:
        x = np.tanh(x @ block["w"] + block["b"])
    w, b = model["head"]
    error = x @ w + b - y
    return np.mean(error**2), {"error": {"largest": np.max(np.abs(error))}, "count": y.sum()}


def compiled(container=NumpyContainer, parameters=("model",)):
    return (
        container()
        .compiler()
        .compile_training_step(
            loss,
            inputs={"model": MODEL, **BATCH},
            parameters=list(parameters),
            optimizer=SGD(),
        )
    )


def test_leaves_have_dotted_names_and_a_prefix_stands_for_all_below_it():
    step = compiled()
    names = ["model.blocks.0.w", "model.blocks.0.b", "model.blocks.1.w", "model.blocks.1.b"]
    assert [row.name for row in step.parameters] == [*names, "model.head.0", "model.head.1"]
    assert list(step.input_value_ids) == [*(row.name for row in step.parameters), "x", "y"]
    some = compiled(parameters=["model.head", "model.blocks.1.w"])
    expected = ["model.head.0", "model.head.1", "model.blocks.1.w"]
    assert [row.name for row in some.parameters] == expected


def test_a_session_takes_structures_or_flat_names_and_the_loss_is_numpys():
    step = compiled()
    expected, auxiliary = loss(MODEL, **BATCH)
    for given in ({"model": MODEL}, flatten({"model": MODEL})):
        session = NumpySession(step, given)
        outputs = session.step(BATCH, learning_rate=0.1)
        np.testing.assert_allclose(outputs["loss"], expected, rtol=1e-14)
        np.testing.assert_allclose(outputs["error.largest"], auxiliary["error"]["largest"])
        np.testing.assert_allclose(outputs["count"], auxiliary["count"])
        assert list(outputs) == ["loss", "error.largest", "count"]
    after = session.evaluate(BATCH)["loss"]
    np.testing.assert_allclose(after, loss(unflatten(session.parameters)["model"], **BATCH)[0])
    assert after < expected


def test_auxiliary_outputs_follow_the_loss_and_are_no_captures():
    step = compiled()
    named = [step.loss_value_id, *step.auxiliary_value_ids.values()]
    assert list(step.forward.selected_outputs[:3]) == named
    assert step.forward.selected_outputs[3:] == step.forward_capture_value_ids
    assert list(step.auxiliary_value_ids) == ["error.largest", "count"]
    assert not step.buffers


def test_a_value_with_two_names_is_listed_once():
    def twice(w):
        powers = np.exp(w)
        total = powers.sum()
        return total, {"same": total, "again": total, "powers": powers}

    step = (
        ReferenceContainer()
        .compiler()
        .compile_training_step(twice, inputs={"w": np.zeros(3)}, parameters=["w"], optimizer=SGD())
    )
    ids = step.auxiliary_value_ids
    assert ids["same"] == ids["again"] == step.loss_value_id
    assert step.forward.selected_outputs == (step.loss_value_id, ids["powers"])
    assert step.forward_capture_value_ids == ()


def test_an_auxiliary_output_may_be_an_input_or_depend_on_no_parameter():
    def passing(w, x):
        return (w * x).sum(), {"x2": x, "w2": w, "twice": x * 2}

    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            passing,
            inputs={"w": np.ones(3), "x": np.ones(3)},
            parameters=["w"],
            optimizer=SGD(),
        )
    )
    x = np.arange(3.0)
    outputs = NumpySession(step, {"w": np.ones(3)}).step({"x": x}, learning_rate=1.0)
    np.testing.assert_array_equal(outputs["x2"], x)
    np.testing.assert_array_equal(outputs["w2"], np.ones(3))
    np.testing.assert_array_equal(outputs["twice"], 2 * x)


def averaging(w, x, mean):
    new_mean = 0.5 * mean + 0.5 * x.mean()
    return ((w * x - new_mean) ** 2).mean(), {"mean": new_mean, "shifted": new_mean + 1.0}


def buffered():
    return (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            averaging,
            inputs={"w": TensorType("f64", ()), "x": np.zeros(2), "mean": np.zeros(())},
            parameters=["w"],
            optimizer=SGD(),
        )
    )


def test_a_buffer_is_fed_and_kept_by_the_session():
    step = buffered()
    assert [b.name for b in step.buffers] == ["mean"]
    assert step.buffers[0].value_id == step.input_value_ids["mean"]
    session = NumpySession(step, {"w": 1.0}, buffers={"mean": 8.0})
    outputs = session.step({"x": np.array([1.0, 3.0])}, learning_rate=0.0)
    assert list(outputs) == ["loss", "shifted"]
    assert session.buffers["mean"] == 5.0
    session.step({"x": np.array([1.0, 3.0])}, learning_rate=0.0)
    assert session.buffers["mean"] == 3.5
    session.evaluate({"x": np.array([9.0, 9.0])})
    session.value_and_gradients({"x": np.array([9.0, 9.0])})
    assert session.buffers["mean"] == 3.5


def test_a_failed_step_changes_no_buffer():
    session = NumpySession(buffered(), {"w": 1.0}, buffers={"mean": 8.0})
    with pytest.raises(BindingError):
        session.step({"x": np.zeros(3)}, learning_rate=0.1)
    assert session.buffers["mean"] == 8.0
    with pytest.raises(BindingError, match="buffers"):
        NumpySession(buffered(), {"w": 1.0})
    with pytest.raises(BindingError, match="'mean'"):
        NumpySession(buffered(), {"w": 1.0}, buffers={"mean": np.zeros(2)})


def test_a_parameter_is_no_buffer():
    with pytest.raises(LossOutputError, match=r"'w'.*optimizer"):
        NumpyContainer().compiler().compile_training_step(
            lambda w: (w.sum(), {"w": w * 2}),
            inputs={"w": np.zeros(3)},
            parameters=["w"],
            optimizer=SGD(),
        )


def test_functions_take_and_give_structures():
    function = (
        NumpyContainer()
        .compiler()
        .compile_function(
            lambda m, x: {"out": {"y": x @ m["w"][0]}},
            inputs={"m": {"w": [np.ones((2, 3))]}, "x": np.ones((4, 2))},
        )
    )
    assert list(function.output_value_ids) == ["out.y"]
    result = NumpyFunction(function)({"m": {"w": [np.full((2, 3), 2.0)]}, "x": np.ones((4, 2))})
    np.testing.assert_array_equal(result["out.y"], np.full((4, 3), 4.0))


def test_flat_names_and_structures_are_each_others_inverse():
    tree = {"a": [{"w": 1}, {"w": 2}], "b": {"c": (3, 4)}, "d": 5}
    flat = flatten(tree)
    assert flat == {"a.0.w": 1, "a.1.w": 2, "b.c.0": 3, "b.c.1": 4, "d": 5}
    assert unflatten(flat) == {"a": [{"w": 1}, {"w": 2}], "b": {"c": [3, 4]}, "d": 5}
    with pytest.raises(DeclarationError, match="within others"):
        unflatten({"a": 1, "a.b": 2})
