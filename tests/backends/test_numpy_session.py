"""The NumPy session: binding by name, values, updates, and refusals that change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.losses import NETWORK_TYPES, REGRESSION_TYPES, arrays_for, network, regression
from tinychain_backends.numpy import (
    NumpyContainer,
    NumpyEvaluator,
    NumpyFunction,
    NumpyProgram,
    NumpySession,
)
from tinychain_backends.sessions.session import programs_of
from tinychain_compile import (
    SGD,
    BindingError,
    Evaluator,
    RuntimeInput,
    TensorType,
    rewrite,
)
from tinychain_compile.functions import relu

PARAMETERS = ["w", "b"]


def compile_regression(**others):
    return (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            regression, inputs=REGRESSION_TYPES, parameters=PARAMETERS, optimizer=SGD(), **others
        )
    )


@pytest.fixture
def batch():
    arrays = arrays_for(REGRESSION_TYPES)
    return {name: arrays[name] for name in ("x", "y")}


@pytest.fixture
def start():
    arrays = arrays_for(REGRESSION_TYPES)
    return {name: arrays[name] for name in PARAMETERS}


@pytest.fixture
def session(start):
    return NumpySession(compile_regression(), start)


def test_evaluate_value_and_gradients_and_step_agree(session, batch, start):
    loss = regression(**batch, **start)
    assert session.evaluate(batch) == {"loss": pytest.approx(loss, rel=1e-14)}
    value, gradients = session.value_and_gradients(batch)
    assert list(gradients) == PARAMETERS
    np.testing.assert_allclose(value, loss, rtol=1e-14)
    outputs = session.step(batch, learning_rate=0.25)
    np.testing.assert_allclose(outputs["loss"], loss, rtol=1e-14)
    for name in PARAMETERS:
        np.testing.assert_allclose(
            session.parameters[name], start[name] - 0.25 * gradients[name], rtol=1e-15
        )


def test_the_session_holds_copies_and_shows_parameters_read_only(session, batch, start):
    before = session.parameters
    kept = {name: array.copy() for name, array in before.items()}
    start["w"][:] = 99.0
    session.step(batch, learning_rate=0.1)
    for name in PARAMETERS:
        np.testing.assert_array_equal(before[name], kept[name])
    with pytest.raises(TypeError):
        session.parameters["w"] = start["w"]
    for shown in (before, session.parameters):
        with pytest.raises(ValueError, match="read-only"):
            shown["w"][0] = 1.0


def test_a_rate_of_zero_changes_nothing_and_the_rate_is_read_each_step(session, batch, start):
    session.step(batch, learning_rate=0.0)
    np.testing.assert_array_equal(session.parameters["w"], start["w"])
    session.step(batch, learning_rate=0.5)
    assert np.all(session.parameters["w"] != start["w"])


def test_defaults_are_filled_in_and_ranges_checked(batch, start):
    rate = RuntimeInput("learning_rate", default=0.1, valid_range=(0.0, 1.0))
    record = compile_regression(optimizer_inputs={"learning_rate": rate})
    by_default, given = NumpySession(record, start), NumpySession(record, start)
    by_default.step(batch)
    given.step(batch, learning_rate=0.1)
    np.testing.assert_array_equal(by_default.parameters["w"], given.parameters["w"])
    for wrong in (-0.1, 1.1, float("nan"), [0.1, 0.2]):
        with pytest.raises(BindingError, match="learning_rate"):
            given.step(batch, learning_rate=wrong)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"x": None}, ["'x'"]),
        ({"z": np.zeros(3)}, ["extra 'z'"]),
        ({"w": np.zeros(3)}, ["extra 'w'"]),
        ({"x": np.zeros((7, 4))}, ["'x'", "[7, 3]", "[7, 4]"]),
        ({"x": np.zeros((7, 3), np.float32)}, ["'x'", "float64", "float32"]),
        ({"y": np.zeros((7, 1))}, ["'y'", "[7, 1]"]),
    ],
)
def test_a_wrong_batch_is_refused_and_nothing_changes(session, batch, start, change, parts):
    batch = {name: array for name, array in {**batch, **change}.items() if array is not None}
    for call in (
        lambda: session.step(batch, learning_rate=0.1),
        lambda: session.evaluate(batch),
        lambda: session.value_and_gradients(batch),
    ):
        with pytest.raises(BindingError) as caught:
            call()
        for part in parts:
            assert part in str(caught.value)
    np.testing.assert_array_equal(session.parameters["w"], start["w"])


@pytest.mark.parametrize("inputs", [{}, {"rate": 0.1}, {"learning_rate": 0.1, "momentum": 0.9}])
def test_wrong_optimizer_inputs_are_refused_and_nothing_changes(session, batch, start, inputs):
    with pytest.raises(BindingError, match="optimizer inputs"):
        session.step(batch, **inputs)
    np.testing.assert_array_equal(session.parameters["w"], start["w"])


@pytest.mark.parametrize(
    "change",
    [{"b": None}, {"v": np.zeros(3)}, {"w": np.zeros(4)}, {"w": np.zeros(3, np.float32)}],
)
def test_wrong_parameters_are_refused(start, change):
    given = {name: array for name, array in {**start, **change}.items() if array is not None}
    with pytest.raises(BindingError):
        NumpySession(compile_regression(), given)


def test_one_compiled_step_trains_with_several_batch_sizes():
    types = {
        **NETWORK_TYPES,
        "x": TensorType("f64", ("batch", 4)),
        "labels": TensorType("i64", ("batch",)),
    }
    arrays = arrays_for(NETWORK_TYPES)
    names = ["w1", "b1", "w2", "b2"]
    start = {name: arrays[name] for name in names}
    compiler = NumpyContainer().compiler()
    step = compiler.compile_training_step(network, inputs=types, parameters=names, optimizer=SGD())
    assert step.symbol_sources == {"batch": ("x", 0)}
    session = NumpySession(step, start)
    for size in (1, 6, 13):
        fixed = {
            **NETWORK_TYPES,
            "x": TensorType("f64", (size, 4)),
            "labels": TensorType("i64", (size,)),
        }
        data = arrays_for({name: fixed[name] for name in ("x", "labels")}, seed=size)
        other = NumpySession(
            compiler.compile_training_step(
                network, inputs=fixed, parameters=names, optimizer=SGD()
            ),
            start,
        )
        loss, gradients = session.value_and_gradients(data)
        expected_loss, expected = other.value_and_gradients(data)
        np.testing.assert_allclose(loss, expected_loss, rtol=1e-14)
        for name in names:
            np.testing.assert_allclose(gradients[name], expected[name], rtol=1e-13, atol=1e-15)
    with pytest.raises(BindingError, match="labels"):
        session.evaluate({"x": np.zeros((3, 4)), "labels": np.zeros(4, np.int64)})


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
def test_parameters_of_each_floating_dtype_keep_it(dtype):
    types = {"x": TensorType(dtype, (4, 3)), "w": TensorType(dtype, (3,))}
    arrays = arrays_for(types)
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            lambda x, w: np.mean(relu(x @ w)), inputs=types, parameters=["w"], optimizer=SGD()
        )
    )
    session = NumpySession(step, {"w": arrays["w"]})
    session.step({"x": arrays["x"]}, learning_rate=0.5)
    assert session.parameters["w"].dtype == types["w"].dtype
    assert np.any(session.parameters["w"] != arrays["w"])


def test_a_program_is_straight_line_python_with_the_users_lines():
    step = compile_regression()
    source = NumpyProgram(step.forward, "forward").source
    assert source.startswith("def forward(")
    assert "x @ w" in source
    assert "for " not in source


def test_a_compiled_function_runs_with_named_outputs():
    def function(x, w):
        scores = x @ w
        return {"scores": scores, "best": np.max(scores)}

    types = {"x": TensorType("f64", ("rows", 3)), "w": TensorType("f64", (3,))}
    record = NumpyContainer().compiler().compile_function(function, inputs=types)
    run = NumpyFunction(record)
    for rows in (2, 5):
        arrays = arrays_for({**types, "x": TensorType("f64", (rows, 3))})
        outputs = run(arrays)
        assert list(outputs) == ["scores", "best"]
        np.testing.assert_allclose(outputs["scores"], arrays["x"] @ arrays["w"], rtol=1e-14)
        np.testing.assert_allclose(outputs["best"], outputs["scores"].max())
    with pytest.raises(BindingError, match="no 'w'"):
        run({"x": np.zeros((2, 3))})


def test_a_function_of_one_tensor_calls_it_output_and_may_return_an_input():
    compiler = NumpyContainer().compiler()
    record = compiler.compile_function(lambda x: x, inputs={"x": np.zeros(3)})
    np.testing.assert_array_equal(NumpyFunction(record)({"x": np.arange(3.0)})["output"], [0, 1, 2])


def test_the_evaluator_fits_its_protocol_and_checks_its_inputs():
    evaluator: Evaluator = NumpyEvaluator()
    graph = compile_regression().source_forward_graph
    arrays = arrays_for(REGRESSION_TYPES)
    assert evaluator.evaluate(graph, arrays)["loss"].shape == ()
    with pytest.raises(BindingError, match="no 'b'"):
        evaluator.evaluate(graph, {k: v for k, v in arrays.items() if k != "b"})
    with pytest.raises(BindingError, match="'x'"):
        evaluator.evaluate(graph, {**arrays, "x": np.zeros((7, 2))})


def test_the_evaluator_resolves_symbols():
    types = {"x": TensorType("f64", ("n", 3)), "w": TensorType("f64", (3,))}
    record = (
        NumpyContainer()
        .compiler()
        .compile_function(lambda x, w: np.broadcast_to(w, x.shape) + np.mean(x), inputs=types)
    )
    arrays = {"x": np.arange(6.0).reshape(2, 3), "w": np.arange(3.0)}
    result = NumpyEvaluator().evaluate(record.source_graph, arrays)["output"]
    np.testing.assert_array_equal(result, [[2.5, 3.5, 4.5]] * 2)


def test_functions_of_one_name_stay_apart_in_a_program():
    def sum(x):  # noqa: A001
        return np.sum(np.max(x, axis=0) * np.mean(x)) + np.sum(x)

    record = NumpyContainer().compiler().compile_function(sum, inputs={"x": np.zeros((2, 3))})
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(NumpyFunction(record)({"x": x})["output"], sum(x))


def test_names_in_a_program_never_clash():
    """Symbols named like functions, ids and arguments; ids that a pass made up."""

    def doubled(graph):
        def rule_for(operation):
            return (lambda op, x: x * x) if operation.operator.name == "integer_pow" else None

        return rewrite(graph, rule_for, (f"np_square {n}" for n in range(9)))

    types = {
        "x": TensorType("f64", ("v1", "np_square")),
        "w": TensorType("f64", ("np_square",)),
        "sizes": TensorType("f64", ("sizes",)),
    }

    def function(x, w, sizes):
        spread = np.broadcast_to(np.sum(sizes**2), x.shape)
        return x.reshape(-1) + (spread + w).reshape(-1)

    record = (
        NumpyContainer().compiler().compile_function(function, inputs=types, expansions=[doubled])
    )
    arrays = {"x": np.ones((2, 3)), "w": np.arange(3.0), "sizes": np.arange(4.0)}
    np.testing.assert_allclose(NumpyFunction(record)(arrays)["output"], function(**arrays))


def test_results_are_arrays_of_their_own():
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            lambda w: np.sum(w), inputs={"w": np.zeros(3)}, parameters=["w"], optimizer=SGD()
        )
    )
    _, gradients = NumpySession(step, {"w": np.zeros(3)}).value_and_gradients({})
    gradients["w"][0] = 5.0
    x = np.zeros(3)
    record = NumpyContainer().compiler().compile_function(lambda x: x, inputs={"x": x})
    NumpyFunction(record)({"x": x})["output"][0] = 7.0
    np.testing.assert_array_equal(x, 0.0)


def test_too_few_axes_for_a_symbol_are_refused():
    record = (
        NumpyContainer()
        .compiler()
        .compile_function(lambda x: x, inputs={"x": TensorType("f64", (3, "n"))})
    )
    with pytest.raises(BindingError, match="axis 1"):
        NumpyFunction(record)({"x": np.zeros(3)})


def test_a_parameter_may_have_a_symbolic_size():
    types = {"x": TensorType("f64", ("n",)), "w": TensorType("f64", ("n",))}
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            lambda x, w: np.mean(x * w), inputs=types, parameters=["w"], optimizer=SGD()
        )
    )
    session = NumpySession(step, {"w": np.ones(4)})
    session.step({"x": np.arange(4.0)}, learning_rate=4.0)
    np.testing.assert_allclose(session.parameters["w"], 1.0 - np.arange(4.0))
    with pytest.raises(BindingError):
        session.step({"x": np.arange(5.0)}, learning_rate=4.0)


def test_an_update_that_returns_an_operand_does_not_freeze_the_callers_array():
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            lambda w: w,
            inputs={"w": np.zeros(())},
            parameters=["w"],
            optimizer=lambda parameter, gradient: gradient,
        )
    )
    session = NumpySession(step, {"w": np.array(3.0)})
    _, gradients = session.value_and_gradients({})
    session.step({})
    assert gradients["w"].flags.writeable
    assert float(session.parameters["w"]) == 1.0


def test_a_program_is_made_once_for_all_parameters_that_share_it():
    types = {f"w{i}": TensorType("f64", (2, 1 + i % 2)) for i in range(6)}
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            lambda **w: sum(np.sum(x * x) for x in w.values()),
            inputs=types,
            parameters=list(types),
            optimizer=SGD(),
        )
    )
    made = []

    def make(lowered, name):
        made.append(name)
        return NumpyProgram(lowered, name)

    programs = programs_of(step, make)
    assert sorted(made) == ["derivative", "forward", "update", "update"]
    assert programs.updates["w0"] is programs.updates["w2"] is not programs.updates["w1"]
