"""Storage that is used again changes no bit, and never an array that somebody holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.workloads import cnn, gpt, mlp
from tests.support.random_graphs import SHAPES, STEPS, arrays_for, loss_of
from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_backends.numpy.assembly import NumpyProgram
from tinychain_backends.numpy.storage import Storage
from tinychain_compile import SGD, Adam, AdamW, NAdam, TensorType
from tinychain_compile.operators import Axpy

LARGE = (40, 30)
RNG = np.random.default_rng(0)


def function_of(loss, **arrays):
    types = {name: TensorType(a.dtype, a.shape) for name, a in arrays.items()}
    return NumpyContainer().compiler().compile_function(loss, inputs=types).program


def run_both(lowered, arrays, runs=3):
    """Run a program with and without storage, on one input after another; compare bit for bit."""
    plain = NumpyProgram(lowered, "plain")
    reusing = NumpyProgram(lowered, "reusing", reuses=True)
    pairs = []
    for count in range(runs):
        scaled = [np.asarray(a * (1.0 + 0.25 * count), a.dtype) for a in arrays]
        values = dict(zip(plain.input_ids, scaled, strict=True))
        pairs.append((plain.run(values, {}), reusing.run(values, {})))
    for expected, found in pairs:  # looked at when all have run: nothing may have been overwritten
        for value_id, array in expected.items():
            np.testing.assert_array_equal(found[value_id], array)
    return reusing


def test_a_chain_runs_in_place_in_one_array():
    def chain(x):
        return np.sum(np.exp(np.tanh(x * 2.0) + 1.0))

    lowered = function_of(chain, x=np.ones(LARGE))
    program = run_both(lowered, [RNG.normal(size=LARGE)])
    storage = Storage(lowered.operations, lowered.selected_outputs)
    assert len(storage.arrays) == 1
    assert program.source.count("out=store_0") == 4


def test_a_view_keeps_what_it_views():
    def viewed(x):
        y = x * 2.0
        view = y.reshape(30, 40)
        z = y + 1.0  # the last to read y by name, and yet the view is read later
        return np.sum(view * np.sum(z)), np.exp(x)[:, 1:], np.tanh(z)

    def as_mapping(x):
        total, part, other = viewed(x)
        return {"total": total, "part": part, "other": other}

    run_both(function_of(as_mapping, x=np.ones(LARGE)), [RNG.normal(size=LARGE)])


def test_storage_is_kept_for_as_long_as_a_view_is_read():
    """Asked of the plan itself: where an operation stands is the schedule's choice."""

    def viewed(x):
        y = np.tanh(x)
        view = y.reshape(30, 40)
        z = np.exp(y)
        return np.sum(z) + np.sum(view)

    lowered = function_of(viewed, x=np.ones(LARGE))
    rows = {row.sources[0].operator.name: row for row in lowered.operations}
    order = ["tanh", "reshape", "exp", "reduce_sum"]
    in_order = [rows[name] for name in order if name != "reduce_sum"]
    in_order += [row for row in lowered.operations if row not in in_order]
    storage = Storage(in_order, lowered.selected_outputs)
    first, second = (storage.place[rows[name].output_value_id] for name in ("tanh", "exp"))
    assert first != second  # exp reads tanh last by name, and the view is summed after it


def test_a_view_that_is_returned_is_of_a_new_array():
    def parts(x):
        y = np.tanh(x * 2.0)
        return {"total": np.sum(y), "part": y[:, 1:], "moved": y.T}

    run_both(function_of(parts, x=np.ones(LARGE)), [RNG.normal(size=LARGE)])


def test_an_operand_that_is_read_twice_is_not_overwritten_between():
    def twice(x, alpha):
        y = x * 3.0
        return (y.scalar(alpha).emit(Axpy(), y, y) * 2.0).sum()

    arrays = {"x": np.ones(LARGE), "alpha": np.ones(())}
    run_both(function_of(twice, **arrays), [RNG.normal(size=LARGE), np.asarray(0.5)])


def test_a_product_is_not_written_into_its_operands():
    def products(x):
        square = x * 1.5
        for _ in range(3):
            square = square @ square * 0.1
        return np.sum(square)

    run_both(function_of(products, x=np.ones((30, 30))), [RNG.normal(size=(30, 30))])


def test_an_array_is_used_by_one_value_after_another():
    def wide(x):
        parts = [np.exp(x * float(i)) for i in range(6)]
        return sum(np.sum(part * part) for part in parts)

    lowered = function_of(wide, x=np.ones(LARGE))
    run_both(lowered, [RNG.normal(size=LARGE)])
    storage = Storage(lowered.operations, lowered.selected_outputs)
    assert len(storage.arrays) < len(storage.place) / 3


def test_small_and_symbolic_values_have_none():
    def loss(x):
        return np.sum(np.tanh(x) * np.exp(x))

    small = function_of(loss, x=np.ones(3))
    assert Storage(small.operations, small.selected_outputs).arrays == []
    types = {"x": TensorType("f64", ("n", 300))}
    symbolic = NumpyContainer().compiler().compile_function(loss, inputs=types).program
    assert Storage(symbolic.operations, symbolic.selected_outputs).arrays == []


@settings(max_examples=25, deadline=None)
@given(STEPS, st.integers(0, 3))
def test_random_graphs_run_alike(steps, seed):
    arrays = arrays_for(seed)
    wide = {name: np.broadcast_to(a, (200, *SHAPES["a"])).copy() for name, a in arrays.items()}
    lowered = function_of(loss_of(steps), **wide)
    values = dict(zip(wide, wide.values(), strict=True))
    plain = NumpyProgram(lowered, "plain")
    names = {row.value_id for row in lowered.dependencies.required_inputs}
    assert set(plain.input_ids) == names
    bound = [values[name] for name in wide if f"v{list(wide).index(name)}" in names]
    run_both(lowered, bound, runs=2)


@pytest.mark.parametrize(
    "workload",
    [
        mlp(dtype="f64", batch=40, sizes=(12, 24, 24, 5)),
        cnn(dtype="f32", batch=3, size=12, channels=(3, 4)),
        gpt(dtype="f32", batch=2, length=12, layers=2, width=16, heads=2, vocabulary=20),
    ],
    ids=lambda w: w.name,
)
def test_sessions_train_alike_and_what_they_gave_stays(workload):
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            workload.loss,
            inputs=workload.inputs,
            parameters=workload.parameters,
            optimizer=AdamW(),
        )
    )
    arrays = workload.arrays()
    start = {row.name: arrays.pop(row.name) for row in step.parameters}
    first, second = NumpySession(step, start), NumpySession(step, start)
    given_out = []
    for count in range(4):
        outputs = first.step(arrays, learning_rate=0.01)
        given_out.append((outputs["loss"], dict(first.parameters)))
        for other in range(count + 1):  # the other session runs in between, on storage of its own
            second.evaluate(arrays) if other else second.step(arrays, learning_rate=0.01)
    again = NumpySession(step, start)
    for loss, parameters in given_out:
        assert again.step(arrays, learning_rate=0.01)["loss"] == loss
        for name, array in parameters.items():
            np.testing.assert_array_equal(again.parameters[name], array)


def test_gradients_that_were_given_stay():
    def loss(x, w):
        return np.sum(np.tanh(x @ w) ** 2)

    inputs = {"x": np.ones((40, 30)), "w": np.ones((30, 20))}
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(loss, inputs=inputs, parameters=["w"], optimizer=SGD())
    )
    session = NumpySession(step, {"w": RNG.normal(size=(30, 20))})
    x, y = RNG.normal(size=(2, 40, 30))
    _, gradients = session.value_and_gradients({"x": x})
    kept = gradients["w"].copy()
    session.value_and_gradients({"x": y})
    np.testing.assert_array_equal(gradients["w"], kept)


@pytest.mark.parametrize("optimizer", [AdamW(), Adam(), NAdam(weight_decay=0.1)])
def test_what_an_update_needs_in_between_is_made_once_and_is_nobodys_operand(optimizer):
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            lambda w: np.sum(w * w),
            inputs={"w": TensorType("f64", LARGE)},
            parameters=["w"],
            optimizer=optimizer,
        )
    )
    lowered = step.parameters[0].update
    run_both(lowered, [np.abs(RNG.normal(size=row.shape)) + 0.5 for row in required(lowered)])
    storage = Storage(lowered.operations, lowered.selected_outputs)
    assert storage.scratch
    for row in lowered.operations:
        value_id = row.output_value_id
        if value_id in storage.scratch:
            read = [storage.place.get(value.id) for value in row.sources[0].inputs]
            assert storage.scratch[value_id] not in [*read, storage.place.get(value_id)]


def required(lowered):
    return lowered.dependencies.required_inputs
