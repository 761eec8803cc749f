"""Groups by patterns of names, hyperparameters for each, frozen parameters, shared updates."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.losses import NETWORK_TYPES, arrays_for, network
from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_compile import (
    FROZEN,
    SGD,
    Adam,
    AdamW,
    ClipByGlobalNorm,
    CompileOptions,
    MixedPrecision,
    merge_step,
)
from tinychain_compile.errors import BindingError, DeclarationError

NAMES = ["w1", "b1", "w2", "b2"]
ARRAYS = arrays_for(NETWORK_TYPES)
BATCH = {name: array for name, array in ARRAYS.items() if name not in NAMES}
START = {name: ARRAYS[name] for name in NAMES}


def compiled(optimizer, **options):
    return (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            network,
            inputs=NETWORK_TYPES,
            parameters=NAMES,
            optimizer=optimizer,
            options=CompileOptions(**options),
        )
    )


def gradients():
    return NumpySession(compiled(SGD(1.0)), START).value_and_gradients(BATCH)[1]


def test_each_group_has_its_optimizer_and_its_rates():
    step = compiled({"w*": SGD(), "b*": SGD(0.5)})
    assert [row.name for row in step.runtime_inputs] == ["w*/learning_rate", "b*/learning_rate"]
    session = NumpySession(step, START)
    session.step(BATCH, learning_rate={"w*": 0.25})
    for name, gradient in gradients().items():
        rate = 0.25 if name[0] == "w" else 0.5
        np.testing.assert_allclose(session.parameters[name], START[name] - rate * gradient)


def test_one_rate_serves_all_groups_and_a_full_name_serves_one():
    step = compiled({"w*": SGD(), "b*": SGD()})
    for given in (
        {"learning_rate": 0.5},
        {"w*/learning_rate": 0.5, "b*/learning_rate": 0.5},
        {"learning_rate": lambda count: 0.5 + count},
    ):
        session = NumpySession(step, START)
        session.step(BATCH, **given)
        for name, gradient in gradients().items():
            np.testing.assert_allclose(session.parameters[name], START[name] - 0.5 * gradient)


def test_groups_of_one_kind_share_their_updates():
    types = {"a": ARRAYS["b1"], "b": ARRAYS["b1"], "c": ARRAYS["b1"]}
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            lambda a, b, c: np.sum(a * b * c),
            inputs=types,
            parameters=list(types),
            optimizer={"a": AdamW(0.1), "b": AdamW(0.2, weight_decay=0.0), "c": Adam(0.1)},
        )
    )
    assert step.shared_updates == (("a", "b"), ("c",))
    assert step.parameter("a").runtime_inputs["weight_decay"] == "a/weight_decay"
    assert step.parameter("b").runtime_inputs["step"] == "step"
    assert step.provenance.optimizer_label == "AdamW, Adam"
    names = {row.program for row in step.support.rows if row.program.startswith("update")}
    assert names == {f"update of {step.parameter('a').source_update_graph.inputs[0].value.type}"
                     f" by {kind}" for kind in ("AdamW", "Adam")}  # fmt: skip


def test_groups_that_freeze_other_values_do_not_share():
    types = {"a": np.zeros(2), "b": np.zeros(2)}
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            lambda a, b: np.sum(a) + np.sum(b),
            inputs=types,
            parameters=list(types),
            optimizer={name: SGD(rate, frozen=["learning_rate"]) for name, rate in RATES.items()},
        )
    )
    assert step.shared_updates == (("a",), ("b",))
    session = NumpySession(step, types)
    session.step({})
    for name, rate in RATES.items():
        np.testing.assert_array_equal(session.parameters[name], [-rate, -rate])


RATES = {"a": 0.5, "b": 0.25}


def test_names_of_which_one_contains_another_are_apart():
    types = {name: np.full(1, value) for name, value in {"w": 1.0, "w1": 3.0, "w_1": 0.5}.items()}
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            lambda w, w1, w_1: np.sum(w * w) + np.sum(w1) + np.sum(w_1),
            inputs=types,
            parameters=list(types),
            optimizer={"w": SGD(1.0, momentum=0.5), "w1": SGD(2.0), "w_1": SGD(4.0)},
        )
    )
    session = NumpySession(step, types)
    session.step({})
    assert {name: array[0] for name, array in session.parameters.items()} == {
        "w": -1.0,
        "w1": 1.0,
        "w_1": -3.5,
    }
    assert list(session.state.slots) == ["w/m"]


def test_frozen_parameters_are_held_and_stay():
    step = compiled({"w1": FROZEN, "b1": FROZEN, "?2": SGD(0.5)})
    assert step.frozen_parameters == ("w1", "b1")
    assert [row.name for row in step.parameters] == ["w2", "b2"]
    session = NumpySession(step, START)
    assert set(session.parameters) == set(NAMES)
    session.step(BATCH)
    np.testing.assert_array_equal(session.parameters["w1"], START["w1"])
    np.testing.assert_allclose(session.parameters["w2"], START["w2"] - 0.5 * gradients()["w2"])
    _, only = session.value_and_gradients(BATCH)
    assert set(only) == {"w2", "b2"}


def test_frozen_parameters_are_not_differentiated_and_not_in_the_norm():
    partly, wholly = compiled({"?1": FROZEN, "?2": SGD(0.5)}), compiled(SGD(0.5))
    counts = [len(step.source_derivative_program.graph.operations) for step in (partly, wholly)]
    assert counts[0] < counts[1]
    clipped = compiled({"?1": FROZEN, "?2": SGD(0.5)}, gradient_transforms=[ClipByGlobalNorm(1e9)])
    square = sum(np.sum(gradients()[name] ** 2) for name in ("w2", "b2"))
    outputs = NumpySession(clipped, START).step(BATCH)
    np.testing.assert_allclose(outputs["grad_norm"], np.sqrt(square))


def test_the_merged_step_reads_each_groups_rate():
    names = [name for name, _ in merge_step(compiled({"w*": Adam(), "b*": Adam()})).inputs]
    assert {"w*/learning_rate", "b*/learning_rate", "step"} <= set(names)
    assert names.count("step") == 1


@pytest.mark.parametrize(
    ("optimizer", "parts"),
    [
        ({"w*": SGD()}, ["'b1' matched by no pattern", "'b2' matched by no pattern"]),
        ({"*": SGD(), "w1": SGD()}, ["'w1' matched by '*' and 'w1'"]),
        ({"*": SGD(), "v*": SGD()}, ["'v*' matching no parameter"]),
        ({"w": SGD(), "[wb]?": SGD()}, ["'w' matching no parameter"]),
        ({"*": FROZEN}, ["at least one parameter"]),
        ({"*": 3}, ["update()", "3"]),
        ({}, ["'w1' matched by no pattern"]),
        ({1: SGD()}, ["pattern", "1"]),
        ({"w*": MixedPrecision(SGD()), "b*": SGD()}, ["SGD", "'b*'", "MixedPrecision"]),
        (
            {"w*": MixedPrecision(SGD()), "b*": MixedPrecision(SGD(), loss_scale=8.0)},
            ["'loss_scale'", "8.0"],
        ),
    ],
)
def test_patterns_that_do_not_fit_are_refused(optimizer, parts):
    with pytest.raises(DeclarationError) as raised:
        compiled(optimizer)
    for part in parts:
        assert part in str(raised.value)


def test_optimizer_inputs_are_each_optimizers_own():
    with pytest.raises(DeclarationError, match="optimizer_inputs"):
        NumpyContainer().compiler().compile_training_step(
            network,
            inputs=NETWORK_TYPES,
            parameters=NAMES,
            optimizer={"*": SGD()},
            optimizer_inputs=["learning_rate"],
        )


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"learning_rate": {"v*": 0.5}}, "extra 'v*'"),
        ({"learning_rate": {"w*": 0.5}}, "no 'b*/learning_rate'"),
        ({"rate": 0.5}, "extra 'rate'"),
        ({"learning_rate": {"w*": -0.5, "b*": 0.5}}, "'w*/learning_rate'"),
    ],
)
def test_rates_that_fit_no_group_are_refused(given, part):
    session = NumpySession(compiled({"w*": SGD(), "b*": SGD()}), START)
    with pytest.raises(BindingError) as raised:
        session.step(BATCH, **given)
    assert part in str(raised.value)
